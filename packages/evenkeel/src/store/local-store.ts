/**
 * The local store: versions in memory, made durable by a journal. The `memory` and `file` engines
 * differ only in their journal.
 *
 * Invariants: reads see published revisions only; a long read yields to other work and still sees
 * one revision; a commit is sent to watches in the step that publishes it, after its writer was
 * answered.
 */
import {
  abortable,
  nextTurn,
  randomInt,
  silentLogger,
  SystemRandom,
  type AbortOptions,
  type Clock,
  type Logger,
  type Random,
} from '#base'
import { Retention, type RetentionOptions } from './history.ts'
import { Leases, type LeaseState } from './leases.ts'
import {
  ContentHash,
  StoreError,
  type CommitOptions,
  type CommitResult,
  type Entry,
  type GetResult,
  type HashResult,
  type Lease,
  type RangeOptions,
  type RangeResult,
  type ReadOptions,
  type Store,
  type StoreFailure,
  type UnavailableRevision,
  type Watch,
  type WatchOptions,
  type Write,
} from './store.ts'
import { checkKey, checkLimit, checkPrefix, checkRevision, checkTtl, checkWrites } from './validation.ts'
import { entryOf, type Version } from './version.ts'
import { Versions } from './versions.ts'
import { LocalWatch, WatchHub } from './watch.ts'
import { Writer, type Journal, type JournalRecord, type JournalSink } from './writer.ts'

export interface LocalStoreOptions {
  clock: Clock
  journal: Journal
  /** The versions that the journal recovered. */
  versions?: Versions
  /** The last assigned revision, which may be above the last published one. */
  lastRevision?: number
  /** The leases that the journal recovered. */
  leases?: readonly LeaseState[]
  retention?: RetentionOptions | undefined
  random?: Random | undefined
  log?: Logger | undefined
}

const none: readonly never[] = []

/** How many keys a scan visits before it yields. */
const scanStep = 8192

/** The delay before the end of a lease is retried after a failed write. */
const retryMs = 1_000

export class LocalStore implements Store, JournalSink {
  readonly #clock: Clock
  readonly #journal: Journal
  readonly #versions: Versions
  readonly #hub = new WatchHub()
  readonly #writer: Writer
  readonly #leases: Leases
  readonly #retention: Retention
  readonly #random: Random
  readonly #log: Logger
  #closed: Promise<void> | undefined

  constructor({
    clock,
    journal,
    versions = new Versions(),
    lastRevision = versions.published,
    leases = [],
    retention,
    random = new SystemRandom(),
    log = silentLogger,
  }: LocalStoreOptions) {
    this.#clock = clock
    this.#journal = journal
    this.#versions = versions
    this.#writer = new Writer({
      versions,
      journal,
      lastRevision,
      hasLease: (id) => this.#leases.has(id),
      onPublished: (records, changed) => {
        this.#published(records, changed)
      },
    })
    this.#retention = new Retention(versions, { ...retention, clock })
    this.#random = random
    this.#log = log
    this.#leases = new Leases({
      clock,
      onExpire: (id) => {
        this.#end(id).catch(() => undefined)
      },
    })
    this.#resumeLeases(leases)
    journal.bind(this)
  }

  head({ signal }: AbortOptions = {}): Promise<number> {
    return this.#whileOpen(signal, () => this.#versions.published)
  }

  compacted({ signal }: AbortOptions = {}): Promise<number> {
    return this.#whileOpen(signal, () => this.#versions.compacted)
  }

  commit(write: Write, options?: CommitOptions): Promise<CommitResult> {
    return this.commitAll([write], options)
  }

  /** Neither an async function nor a caller of `#whileOpen`: on this hot path every promise costs. */
  commitAll(writes: readonly Write[], { checks = none, signal }: CommitOptions = {}): Promise<CommitResult> {
    try {
      this.#checkOpen(signal)
      checkWrites(writes, checks)
      return abortable(this.#writer.commit(writes, checks), { signal })
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  get(key: string, { revision, signal }: ReadOptions = {}): Promise<GetResult> {
    return this.#whileOpen<GetResult>(signal, () => {
      checkKey(key)
      const at = this.#resolveRevision(revision)
      return typeof at === 'number' ? { ok: true, revision: at, entry: this.#versions.get(key, at) } : at
    })
  }

  range(prefix: string, { revision, after, limit = Infinity, signal }: RangeOptions = {}): Promise<RangeResult> {
    return this.#whileOpen<RangeResult>(signal, () => {
      checkPrefix(prefix)
      checkLimit(limit)
      const entries: Entry[] = []
      let remaining = 0
      const from = after === undefined ? '' : `${after}\u0000`
      const scanned = this.#scan(prefix, { revision, from, signal }, (version) => {
        if (entries.length < limit) entries.push(entryOf(version))
        else remaining++
      })
      const answer = (at: number | UnavailableRevision): RangeResult =>
        typeof at === 'number' ? { ok: true, revision: at, entries, remaining } : at
      return scanned instanceof Promise ? scanned.then(answer) : answer(scanned)
    })
  }

  watch(prefix: string, options: WatchOptions): Watch {
    checkPrefix(prefix)
    checkRevision(options.after)
    const watch = new LocalWatch(prefix, { versions: this.#versions, hub: this.#hub }, options)
    if (this.#closed) watch.close()
    return watch
  }

  compact(revision: number, { signal }: AbortOptions = {}): Promise<{ ok: true } | UnavailableRevision> {
    return this.#whileOpen(signal, async () => {
      checkRevision(revision)
      if (revision > this.#versions.published) return { ok: false, reason: 'ahead', revision: this.#versions.published }
      if (revision <= this.#versions.compacted) return { ok: true }
      this.#versions.compact(revision)
      await this.#writer.record({ type: 'compact', revision })
      while (this.#versions.clean(scanStep)) await nextTurn(this.#clock)
      return { ok: true }
    })
  }

  grant(ttlMs: number, { signal }: AbortOptions = {}): Promise<Lease> {
    return this.#whileOpen(signal, async () => {
      checkTtl(ttlMs)
      const id = String(1 + randomInt(this.#random, 2 ** 20) * 2 ** 32 + randomInt(this.#random, 2 ** 32))
      await abortable(this.#writer.record({ type: 'grant', lease: id, ttlMs }), { signal })
      return { id, ttlMs }
    })
  }

  renew(lease: string, { signal }: AbortOptions = {}): Promise<boolean> {
    return this.#whileOpen(signal, () => this.#leases.renew(lease))
  }

  revoke(lease: string, { signal }: AbortOptions = {}): Promise<boolean> {
    return this.#whileOpen(signal, () => abortable(this.#end(lease), { signal }))
  }

  hash(prefix: string, { revision, signal }: ReadOptions = {}): Promise<HashResult> {
    return this.#whileOpen(signal, async () => {
      checkPrefix(prefix)
      const hash = new ContentHash()
      const at = await this.#scan(prefix, { revision, from: '', signal }, (version) => {
        hash.add(entryOf(version))
      })
      return typeof at === 'number' ? { ok: true, revision: at, hash: hash.digest() } : at
    })
  }

  failure(): StoreFailure | undefined {
    return this.#journal.failure()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  durable(count: number): void {
    this.#writer.durable(count)
  }

  refused(error: StoreError): void {
    this.#writer.refuse(error)
  }

  failed(error: StoreError): void {
    this.#writer.fail(error)
    this.#hub.endAll({ reason: 'failed', cause: error })
  }

  leases(): readonly LeaseState[] {
    return this.#leases.states()
  }

  async #close(): Promise<void> {
    this.#hub.endAll({ reason: 'closed' })
    this.#leases.stop()
    await this.#journal.close()
  }

  /** Runs an operation unless the store is closed or the signal is aborted; an exception becomes a rejection. */
  async #whileOpen<T>(signal: AbortSignal | undefined, operation: () => T | Promise<T>): Promise<T> {
    this.#checkOpen(signal)
    return operation()
  }

  #checkOpen(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted()
    if (this.#closed) throw new StoreError('Closed', 'the store is closed; open it again to use it')
  }

  /** The revision to read at, or the reason why it is not available. */
  #resolveRevision(revision: number | undefined): number | UnavailableRevision {
    const { published, compacted } = this.#versions
    if (revision === undefined) return published
    checkRevision(revision)
    if (revision > published) return { ok: false, reason: 'ahead', revision: published }
    return revision < compacted ? { ok: false, reason: 'compacted', compacted } : revision
  }

  /** Visits the keys of a prefix at one revision; synchronous when a single step is enough. */
  #scan(
    prefix: string,
    { revision, from, signal }: { revision: number | undefined; from: string; signal: AbortSignal | undefined },
    visit: (version: Version) => void,
  ): number | UnavailableRevision | Promise<number | UnavailableRevision> {
    const at = this.#resolveRevision(revision)
    if (typeof at !== 'number') return at
    const next = this.#versions.scan({ prefix, revision: at, from, visitMax: scanStep }, visit)
    return next === undefined ? at : this.#scanOn(prefix, { at, from: next, signal }, visit)
  }

  /** Scans the rest in steps. A compaction that overtakes the scan ends it, because versions may be freed. */
  async #scanOn(
    prefix: string,
    { at, from, signal }: { at: number; from: string; signal: AbortSignal | undefined },
    visit: (version: Version) => void,
  ): Promise<number | UnavailableRevision> {
    let next: string | undefined = from
    while (next !== undefined) {
      await nextTurn(this.#clock)
      signal?.throwIfAborted()
      const available = this.#resolveRevision(at)
      if (typeof available !== 'number') return available
      next = this.#versions.scan({ prefix, revision: at, from: next, visitMax: scanStep }, visit)
    }
    return at
  }

  #published(records: readonly JournalRecord[], versions: readonly Version[]): void {
    for (const record of records) {
      if (record.type === 'grant') this.#leases.add({ id: record.lease, ttlMs: record.ttlMs, leftMs: record.ttlMs })
    }
    for (const version of versions) this.#moveLease(version)
    this.#hub.publish(versions, this.#versions.published)
    this.#retention.published(versions.length)
  }

  /** Moves a key from its previous lease to its current one; deletes it when that lease has ended meanwhile. */
  #moveLease({ key, lease, older }: Version): void {
    if (older?.lease !== undefined && older.lease !== lease) this.#leases.detach(older.lease, key)
    if (lease === undefined || this.#leases.attach(lease, key)) return
    this.#writer.revoke(lease, [key]).catch((error: unknown) => {
      this.#log.error('failed to delete key of an ended lease', { key, lease, error })
    })
  }

  /** Ends a lease and deletes its keys; false when it does not exist. A failed write is retried later. */
  async #end(lease: string): Promise<boolean> {
    const keys = this.#leases.take(lease)
    if (!keys) return false
    try {
      await this.#writer.revoke(lease, keys)
      return true
    } catch (error) {
      this.#log.warn('failed to end lease; will retry', { lease, error })
      this.#leases.add({ id: lease, ttlMs: retryMs, leftMs: retryMs })
      for (const key of keys) this.#leases.attach(lease, key)
      throw error
    }
  }

  #resumeLeases(leases: readonly LeaseState[]): void {
    for (const lease of leases) this.#leases.add(lease)
    if (leases.length === 0) return
    this.#versions.scan(
      { prefix: '', revision: this.#versions.published, from: '', visitMax: Infinity },
      ({ key, lease }) => {
        if (lease !== undefined) this.#leases.attach(lease, key)
      },
    )
  }
}
