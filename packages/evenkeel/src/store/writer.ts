/**
 * Room 12 (`docs/walk.md`): the commit path of the local engines. If every key is at its expected revision, the commit gets a
 * revision, is applied and appended to the journal, in one synchronous step: revisions and watch
 * order need no lock.
 *
 *   check ─ number ─ apply ─ append ─▶ … ─▶ durable ─▶ publish ─▶ answer the writers
 *
 * The {@link Journal} is the seam between the versions in memory and durable storage. It takes
 * records in order and reports their outcome in the same order. Memory reports success at once; the
 * file engine reports it after one sync for all records of a turn.
 *
 * Invariants: records reach the journal in revision order and are answered in that order; a commit
 * is answered only after the journal reported it durable; a conflict with a write that is not
 * durable yet is answered once the outcome of that write is known, because a reader must never see
 * a write that can still be lost.
 */
import { assert, deferred, type Deferred } from '#base'
import type { LeaseState } from './leases.ts'
import { StoreError, type Check, type CommitResult, type Entry, type StoreFailure, type Write } from './store.ts'
import type { Version } from './version.ts'
import type { Versions } from './versions.ts'

interface Pending {
  readonly record: JournalRecord
  readonly resolve: (result: CommitResult) => void
  readonly reject: (error: unknown) => void
}

interface WriterOptions {
  versions: Versions
  journal: Journal
  /** The last assigned revision, which may be above the last published one. */
  lastRevision: number
  hasLease: (id: string) => boolean
  /** Called in the same step as the publication, with the records that became durable. */
  onPublished: (records: readonly JournalRecord[], versions: readonly Version[]) => void
}

export class Writer {
  readonly #versions: Versions
  readonly #journal: Journal
  readonly #hasLease: (id: string) => boolean
  readonly #onPublished: WriterOptions['onPublished']
  #pending: Pending[] = []
  #lastRevision: number
  /** Resolves when the outcome of pending records is known. */
  #outcome: Deferred<void> | undefined

  constructor({ versions, journal, lastRevision, hasLease, onPublished }: WriterOptions) {
    this.#versions = versions
    this.#journal = journal
    this.#lastRevision = lastRevision
    this.#hasLease = hasLease
    this.#onPublished = onPublished
  }

  /** Commits if every key is at its expected revision. @throws StoreError when the journal refuses the write. */
  commit(writes: readonly Write[], checks: readonly Check[]): Promise<CommitResult> {
    const refusal = this.#journal.refusal(writes.some(({ value }) => value) ? 'put' : 'delete')
    if (refusal) return Promise.reject(refusal)
    const conflict =
      this.#versions.conflict(writes) ?? (checks.length > 0 ? this.#versions.conflict(checks) : undefined)
    if (conflict) return this.#conflict(conflict, () => this.commit(writes, checks))
    const orphan = writes.find(({ lease }) => lease !== undefined && !this.#hasLease(lease))
    if (orphan)
      return Promise.reject(
        new StoreError(
          'NoLease',
          `cannot write ${orphan.key}: lease ${orphan.lease} does not exist; grant a new lease`,
        ),
      )

    const revision = ++this.#lastRevision
    const versions = writes.map((write) => this.#versions.apply(write, revision))
    return this.#append({ type: 'commit', revision, versions })
  }

  /** Ends a lease and deletes its keys, whatever their revision, in one commit. */
  revoke(lease: string, keys: readonly string[]): Promise<CommitResult> {
    const refusal = this.#journal.refusal('delete')
    if (refusal) return Promise.reject(refusal)
    const owned = keys.filter((key) => this.#versions.newest(key)?.lease === lease)
    const revision = owned.length > 0 ? ++this.#lastRevision : this.#lastRevision
    const versions = owned.map((key) => this.#versions.apply({ key }, revision))
    return this.#append({ type: 'revoke', lease, revision, versions })
  }

  /** Appends a record that writes no keys. */
  async record(record: Extract<JournalRecord, { type: 'grant' | 'compact' }>): Promise<void> {
    const refusal = this.#journal.refusal(record.type === 'grant' ? 'put' : 'delete')
    if (refusal) throw refusal
    await this.#append(record)
  }

  /** The oldest `count` records are durable: publishes them, then answers their writers. */
  durable(count: number): void {
    const done = this.#pending.splice(0, count)
    assert(done.length === count, 'the journal answers only what was appended')
    const records = done.map(({ record }) => record)
    const versions = records.flatMap((record) => ('versions' in record ? record.versions : []))
    const revision = versions.at(-1)?.revision ?? this.#versions.published
    this.#versions.publish(versions, revision)
    for (const { record, resolve } of done)
      resolve({ ok: true, revision: 'revision' in record ? record.revision : revision })
    this.#onPublished(records, versions)
    this.#announceOutcome()
  }

  /** No pending record was written: undoes them, newest first, and rejects their writers. */
  refuse(error: StoreError): void {
    const undone = this.#pending
    this.#pending = []
    for (const { record } of [...undone].reverse()) {
      if ('versions' in record) for (const version of [...record.versions].reverse()) this.#versions.undo(version)
    }
    for (const { reject } of undone) reject(error)
    this.#announceOutcome()
  }

  /** The outcome of the pending records is unknown, and no more are written. They stay invisible. */
  fail(error: StoreError): void {
    const lost = this.#pending
    this.#pending = []
    for (const { reject } of lost) reject(error)
    this.#announceOutcome()
  }

  #append(record: JournalRecord): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, resolve, reject })
      this.#journal.append(record)
    })
  }

  /** Answers a conflict, or retries the commit once a conflicting pending write has its outcome. */
  async #conflict(
    { key, version }: { key: string; version: Version | undefined },
    retry: () => Promise<CommitResult>,
  ): Promise<CommitResult> {
    if (version && version.revision > this.#versions.published) {
      this.#outcome ??= deferred()
      await this.#outcome.promise
      return retry()
    }
    const current: Entry | undefined = this.#versions.get(key, this.#versions.published)
    return { ok: false, key, current }
  }

  #announceOutcome(): void {
    const outcome = this.#outcome
    this.#outcome = undefined
    outcome?.resolve()
  }
}

/** One record of the journal. */
export type JournalRecord =
  | { readonly type: 'commit'; readonly revision: number; readonly versions: readonly Version[] }
  | { readonly type: 'grant'; readonly lease: string; readonly ttlMs: number }
  | {
      readonly type: 'revoke'
      readonly lease: string
      readonly revision: number
      readonly versions: readonly Version[]
    }
  | { readonly type: 'compact'; readonly revision: number }

/** Receives the outcome of records, in the order they were appended. */
export interface JournalSink {
  /** The oldest `count` unanswered records are durable. */
  durable(count: number): void
  /** None of the unanswered records was or will be written; later ones may be. */
  refused(error: StoreError): void
  /** No more records can be written; the unanswered ones may or may not have been stored. */
  failed(error: StoreError): void
  /** The leases and their remaining time, for a snapshot or a clean shutdown. */
  leases(): readonly LeaseState[]
}

/** Makes records durable. */
export interface Journal {
  /** Sets the receiver of outcomes, once, before the first append. */
  bind(sink: JournalSink): void
  append(record: JournalRecord): void
  /** The reason why such a record cannot be appended now; undefined when it can. */
  refusal(kind: 'put' | 'delete'): StoreError | undefined
  failure(): StoreFailure | undefined
  /** Waits for the outcome of all appended records, then closes the files. */
  close(): Promise<void>
}

/** The journal of the memory engine: every record is durable at once. */
export class NoJournal implements Journal {
  #sink: JournalSink | undefined

  bind(sink: JournalSink): void {
    this.#sink = sink
  }

  append(): void {
    this.#sink?.durable(1)
  }

  refusal(): undefined {
    return undefined
  }

  failure(): undefined {
    return undefined
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
