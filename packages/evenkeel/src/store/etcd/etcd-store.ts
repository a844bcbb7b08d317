/**
 * The `etcd` engine: several API servers, all active, on one etcd cluster.
 *
 * Every guarantee of the store interface is a guarantee of etcd. What etcd lacks is added in
 * `keyspace` (the revision inside a value), `writes` (the outcome of a commit whose response was
 * lost) and `upstream` (the progress of a watch).
 *
 * Invariants: arguments are checked before anything is sent; a method returns a value or throws a
 * `StoreError`, a `RangeError` or the reason of its signal; after `close` no connection and no timer
 * is left.
 */
import { silentLogger, SystemClock, SystemRandom, type AbortOptions, type Clock, type Logger, type Random } from '#base'
import {
  ContentHash,
  isStoreError,
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
} from '../store.ts'
import { checkKey, checkLimit, checkPrefix, checkRevision, checkTtl, checkWrites } from '../validation.ts'
import { EtcdClient, type EtcdTimeouts } from './client.ts'
import type { EtcdTlsOptions } from './connection.ts'
import { EtcdWatch } from './etcd-watch.ts'
import { Feed } from './feed.ts'
import { toStoreError } from './grpc.ts'
import { EtcdKeyspace } from './keyspace.ts'
import { EtcdReader } from './reads.ts'
import { Committer, EtcdLeases } from './writes.ts'

export interface EtcdStoreOptions extends AbortOptions {
  /** URLs of the etcd servers, `http://` or `https://`; one is used at a time. */
  endpoints: readonly string[]
  /**
   * @default no client certificate, the certificate authorities of Node
   */
  tls?: EtcdTlsOptions
  /**
   * @default no authentication
   */
  user?: string
  password?: string
  /**
   * The prefix of all keys in etcd; ends with `/`. Stores with the same prefix share their data.
   *
   * @default '/evenkeel/'
   */
  prefix?: string
  timeouts?: EtcdTimeouts
  /**
   * How many bytes of recent changes are kept in memory, so that watches that start there need no request to etcd.
   *
   * @default 16 MiB
   */
  recentBytesMax?: number
  /**
   * @default the clock of this machine
   */
  clock?: Clock
  random?: Random
  log?: Logger
}

/**
 * Opens a store in etcd. Resolves once etcd has answered.
 *
 * @throws {StoreError} `Unusable` when etcd does not answer or denies access.
 */
export async function openEtcdStore({
  endpoints,
  tls = {},
  user,
  password,
  prefix = '/evenkeel/',
  timeouts = {},
  recentBytesMax = 16 * 1024 * 1024,
  clock = new SystemClock(),
  random = new SystemRandom(),
  log = silentLogger,
  signal,
}: EtcdStoreOptions): Promise<Store> {
  checkEndpoints(endpoints)
  checkKey(prefix)
  if (!prefix.endsWith('/')) throw new RangeError(`prefix must end with /, got ${prefix}`)
  const client = new EtcdClient({
    endpoints,
    tls,
    user,
    password,
    timeouts: { ...defaultTimeouts, ...timeouts },
    clock,
    random,
    log,
  })
  const keyspace = new EtcdKeyspace(prefix)
  const reads = new EtcdReader(client, keyspace)
  try {
    await reads.head({ signal })
  } catch (error) {
    await client.close()
    signal?.throwIfAborted()
    const { message } = toStoreError(error, 'read the revision') as Error
    throw new StoreError('Unusable', `${message}; check that etcd runs at ${endpoints.join(', ')}`, { cause: error })
  }
  const feed = new Feed({ client, keyspace, clock, log, reads, recentBytesMax })
  return new EtcdStore({
    client,
    reads,
    feed,
    commits: new Committer({ client, keyspace, random, log }),
    leases: new EtcdLeases(client, random),
  })
}

interface EtcdStoreParts {
  readonly client: EtcdClient
  readonly reads: EtcdReader
  readonly feed: Feed
  readonly commits: Committer
  readonly leases: EtcdLeases
}

class EtcdStore implements Store {
  readonly isShared = true
  readonly #client: EtcdClient
  readonly #reads: EtcdReader
  readonly #feed: Feed
  readonly #commits: Committer
  readonly #leases: EtcdLeases
  readonly #watches = new Set<EtcdWatch>()
  readonly #writing = new Set<Promise<unknown>>()
  #isFull = false
  #closed: Promise<void> | undefined

  constructor({ client, reads, feed, commits, leases }: EtcdStoreParts) {
    this.#client = client
    this.#reads = reads
    this.#feed = feed
    this.#commits = commits
    this.#leases = leases
  }

  head({ signal }: AbortOptions = {}): Promise<number> {
    return this.#do('read the revision', signal, () => this.#reads.head({ signal }))
  }

  compacted({ signal }: AbortOptions = {}): Promise<number> {
    return this.#do('read the compacted revision', signal, () => this.#reads.compacted({ signal }))
  }

  commit(write: Write, options?: CommitOptions): Promise<CommitResult> {
    return this.commitAll([write], options)
  }

  commitAll(writes: readonly Write[], { checks = [], signal }: CommitOptions = {}): Promise<CommitResult> {
    return this.#do(`write ${writes[0]?.key}`, signal, async () => {
      checkWrites(writes, checks)
      const result = await this.#write(this.#commits.commit(writes, checks, { signal }))
      if (result.ok && writes.some(({ value }) => value)) this.#isFull = false
      return result
    })
  }

  get(key: string, { revision, signal }: ReadOptions = {}): Promise<GetResult> {
    return this.#do(`read ${key}`, signal, () => {
      checkKey(key)
      if (revision !== undefined) checkRevision(revision)
      return this.#reads.get(key, { revision, signal })
    })
  }

  range(prefix: string, { revision, after, limit = Infinity, signal }: RangeOptions = {}): Promise<RangeResult> {
    return this.#do(`read ${prefix}`, signal, async () => {
      const entries: Entry[] = []
      const last = await this.#scan(prefix, { revision, after, limit, signal }, (entry) => {
        entries.push(entry)
      })
      return last.ok ? { ok: true, revision: last.revision, entries, remaining: last.remaining } : last
    })
  }

  watch(prefix: string, options: WatchOptions): Watch {
    checkPrefix(prefix)
    checkRevision(options.after)
    const watch = new EtcdWatch(prefix, { feed: this.#feed, reads: this.#reads }, options)
    this.#watches.add(watch)
    void watch.done.then(() => this.#watches.delete(watch))
    if (this.#closed) watch.close()
    return watch
  }

  compact(revision: number, { signal }: AbortOptions = {}): Promise<{ readonly ok: true } | UnavailableRevision> {
    return this.#do('compact', signal, () => {
      checkRevision(revision)
      return this.#write(this.#reads.compact(revision, { signal }))
    })
  }

  grant(ttlMs: number, { signal }: AbortOptions = {}): Promise<Lease> {
    return this.#do('grant a lease', signal, async () => {
      checkTtl(ttlMs)
      const lease = await this.#write(this.#leases.grant(ttlMs, { signal }))
      this.#isFull = false
      return lease
    })
  }

  renew(lease: string, { signal }: AbortOptions = {}): Promise<boolean> {
    return this.#do(`renew lease ${lease}`, signal, () => this.#leases.renew(lease, { signal }))
  }

  revoke(lease: string, { signal }: AbortOptions = {}): Promise<boolean> {
    return this.#do(`revoke lease ${lease}`, signal, () => this.#write(this.#leases.revoke(lease, { signal })))
  }

  hash(prefix: string, { revision, signal }: ReadOptions = {}): Promise<HashResult> {
    return this.#do(`read ${prefix}`, signal, async () => {
      const hash = new ContentHash()
      const last = await this.#scan(prefix, { revision, limit: Infinity, signal }, (entry) => {
        hash.add(entry)
      })
      return last.ok ? { ok: true, revision: last.revision, hash: hash.digest() } : last
    })
  }

  failure(): StoreFailure | undefined {
    if (this.#client.failure !== undefined) return { state: 'unreachable', message: this.#client.failure }
    return this.#isFull
      ? {
          state: 'full',
          message: 'the etcd database is full; compact, defragment and disarm the NOSPACE alarm, or raise the quota',
        }
      : undefined
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const watches = [...this.#watches]
    for (const watch of watches) watch.close()
    await Promise.allSettled([...watches.map(({ done }) => done), ...this.#writing])
    await this.#client.close()
  }

  /** Runs an operation unless the store is closed or the signal is aborted; turns its failure into a `StoreError`. */
  async #do<T>(what: string, signal: AbortSignal | undefined, operation: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    if (this.#closed) throw closedError()
    try {
      return await operation()
    } catch (error) {
      signal?.throwIfAborted()
      const failure = toStoreError(error, what)
      if (isStoreError(failure, 'NoSpace')) this.#isFull = true
      throw this.#closed && isStoreError(failure, 'Failed') ? closedError() : failure
    }
  }

  /** Tracks a write, so that `close` waits for it. */
  async #write<T>(writing: Promise<T>): Promise<T> {
    this.#writing.add(writing)
    try {
      return await writing
    } finally {
      this.#writing.delete(writing)
    }
  }

  /** Visits every entry, page by page; returns the last page, or why the revision is not available. */
  async #scan(
    prefix: string,
    { revision, after, limit, signal }: RangeOptions & { limit: number },
    visit: (entry: Entry) => void,
  ): Promise<{ ok: true; revision: number; remaining: number } | UnavailableRevision> {
    checkPrefix(prefix)
    checkLimit(limit)
    if (revision !== undefined) checkRevision(revision)
    let last: { ok: true; revision: number; remaining: number } | UnavailableRevision = {
      ok: true,
      revision: 0,
      remaining: 0,
    }
    for await (const page of this.#reads.pages(prefix, { revision, after, limit, signal })) {
      last = page
      if (page.ok) for (const entry of page.entries) visit(entry)
    }
    return last
  }
}

const defaultTimeouts: Required<EtcdTimeouts> = {
  connectMs: 3_000,
  requestMs: 10_000,
  retryMs: 15_000,
  pingMs: 6_000,
  pingTimeoutMs: 4_000,
}

function checkEndpoints(endpoints: readonly string[]): void {
  if (endpoints.length === 0) throw new RangeError('endpoints must name at least one server')
  for (const endpoint of endpoints) {
    if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
      throw new RangeError(`an endpoint must start with http:// or https://, got ${endpoint}`)
  }
}

function closedError(): StoreError {
  return new StoreError('Closed', 'the store is closed; open it again to use it')
}
