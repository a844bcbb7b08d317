/**
 * Room 12, store/commit: is the key still as expected? Then it is numbered, applied and handed
 * to the journal, in one synchronous step, so that revisions and watch order need no lock.
 *
 *   check ─ number ─ apply ─ append ─▶ … ─▶ durable ─▶ publish ─▶ answer the writers
 *
 * Invariants: records reach the journal in the order of their revisions, and are answered in
 * that order; a commit is answered only after the journal said durable; a lost race against a
 * write that is not durable yet is answered once that write's fate is known, so nobody is
 * shown what may still vanish.
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
  /** The last revision that was given out, which may be above the last that was published. */
  lastRevision: number
  hasLease: (id: string) => boolean
  /** Called in the step that publishes, with the records that became durable. */
  onPublished: (records: readonly JournalRecord[], versions: readonly Version[]) => void
}

export class Writer {
  readonly #versions: Versions
  readonly #journal: Journal
  readonly #hasLease: (id: string) => boolean
  readonly #onPublished: WriterOptions['onPublished']
  #pending: Pending[] = []
  #lastRevision: number
  #settled: Deferred<void> | undefined

  constructor({ versions, journal, lastRevision, hasLease, onPublished }: WriterOptions) {
    this.#versions = versions
    this.#journal = journal
    this.#lastRevision = lastRevision
    this.#hasLease = hasLease
    this.#onPublished = onPublished
  }

  /** Writes if everything is as expected. @throws StoreError when the journal takes no such write now. */
  commit(writes: readonly Write[], checks: readonly Check[]): Promise<CommitResult> {
    const refusal = this.#journal.refusal(writes.some(({ value }) => value) ? 'put' : 'delete')
    if (refusal) return Promise.reject(refusal)
    const conflict =
      this.#versions.conflict(writes) ?? (checks.length > 0 ? this.#versions.conflict(checks) : undefined)
    if (conflict) return this.#lost(conflict, () => this.commit(writes, checks))
    const orphan = writes.find(({ lease }) => lease !== undefined && !this.#hasLease(lease))
    if (orphan)
      return Promise.reject(
        new StoreError('NoLease', `lease ${orphan.lease} is gone; grant a new one before writing ${orphan.key}`),
      )

    const revision = ++this.#lastRevision
    const versions = writes.map((write) => this.#versions.apply(write, revision))
    return this.#append({ type: 'commit', revision, versions })
  }

  /** Ends a lease and deletes its keys, whatever they hold, in one commit. */
  revoke(lease: string, keys: readonly string[]): Promise<CommitResult> {
    const refusal = this.#journal.refusal('delete')
    if (refusal) return Promise.reject(refusal)
    const owned = keys.filter((key) => this.#versions.newest(key)?.lease === lease)
    const revision = owned.length > 0 ? ++this.#lastRevision : this.#lastRevision
    const versions = owned.map((key) => this.#versions.apply({ key }, revision))
    return this.#append({ type: 'revoke', lease, revision, versions })
  }

  /** Has something remembered that is not about keys. */
  async note(record: Extract<JournalRecord, { type: 'grant' | 'compact' }>): Promise<void> {
    const refusal = this.#journal.refusal(record.type === 'grant' ? 'put' : 'delete')
    if (refusal) throw refusal
    await this.#append(record)
  }

  /** The oldest `count` records are durable: they become visible, then their writers are answered. */
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
    this.#settle()
  }

  /** Nothing that is pending was written: it is undone, newest first, and its writers are told. */
  refuse(error: StoreError): void {
    const undone = this.#pending
    this.#pending = []
    for (const { record } of [...undone].reverse()) {
      if ('versions' in record) for (const version of [...record.versions].reverse()) this.#versions.undo(version)
    }
    for (const { reject } of undone) reject(error)
    this.#settle()
  }

  /** Nobody knows what became of the pending writes, and nothing more is written. They stay invisible. */
  fail(error: StoreError): void {
    const lost = this.#pending
    this.#pending = []
    for (const { reject } of lost) reject(error)
    this.#settle()
  }

  #append(record: JournalRecord): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, resolve, reject })
      this.#journal.append(record)
    })
  }

  async #lost(
    { key, version }: { key: string; version: Version | undefined },
    again: () => Promise<CommitResult>,
  ): Promise<CommitResult> {
    if (version && version.revision > this.#versions.published) {
      this.#settled ??= deferred()
      await this.#settled.promise
      return again()
    }
    const current: Entry | undefined = this.#versions.get(key, this.#versions.published)
    return { ok: false, key, current }
  }

  #settle(): void {
    const settled = this.#settled
    this.#settled = undefined
    settled?.resolve()
  }
}

/*
 * The seam between the versions in memory and whatever makes them durable.
 *
 * A journal takes records in order and later tells, in the same order, how they fared. Memory
 * answers at once; the file engine answers after one sync for all records of a turn.
 */

/** What a store wants to remember. */
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

/** How the store hears of the fate of its records; always called in the order of appending. */
export interface JournalSink {
  /** The oldest `count` records that were not answered yet are durable. */
  durable(count: number): void
  /** None of the records that were not answered yet was or will be written; others may be. */
  refused(error: StoreError): void
  /** Nothing can be written any more; records without an answer may or may not have been stored. */
  failed(error: StoreError): void
  /** The leases and what they have left, for whoever writes a snapshot or stops. */
  leases(): readonly LeaseState[]
}

export interface Journal {
  /** Says who hears of the fate of records, once, before the first append. */
  bind(sink: JournalSink): void
  append(record: JournalRecord): void
  /** A reason not to append such a record, known before trying. */
  refusal(kind: 'put' | 'delete'): StoreError | undefined
  failure(): StoreFailure | undefined
  /** Waits for the answers of everything appended, then lets go of everything. */
  close(): Promise<void>
}

/** What memory remembers with: nothing more than it has. */
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
