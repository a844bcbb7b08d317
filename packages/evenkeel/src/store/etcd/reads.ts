/**
 * Reads from etcd: the newest state or the state at a revision, in pages below the message limit.
 *
 * Invariants: every read is linearizable; all pages of one read are of one revision; a refused read
 * reports the exact compacted revision, or the newest revision.
 */
import type { AbortOptions } from '#base'
import type { Entry, UnavailableRevision } from '../store.ts'
import { methods, type EtcdClient } from './client.ts'
import type { EtcdConnection } from './connection.ts'
import { RpcError } from './grpc.ts'
import type { EtcdKeyspace } from './keyspace.ts'
import {
  decodeRange,
  decodeWatch,
  encodeCompact,
  encodeRange,
  encodeWatch,
  type RangeRequest,
  type RangeResponse,
} from './messages.ts'

interface PageOptions extends AbortOptions {
  revision: number | undefined
  after?: string | undefined
  limit: number
}

/** One page; `remaining` counts the keys after it. */
interface Page {
  readonly ok: true
  readonly revision: number
  readonly entries: readonly Entry[]
  readonly remaining: number
}

/** The keys of the first page, whose sizes are not known yet; then pages are sized by bytes, up to a maximum number of keys. */
const firstPageKeys = 256
const pageKeysMax = 5_000
const pageBytes = 4 * 1024 * 1024

export class EtcdReader {
  readonly #client: EtcdClient
  readonly #keyspace: EtcdKeyspace
  /** The highest compacted revision seen so far. */
  #compacted = 0

  constructor(client: EtcdClient, keyspace: EtcdKeyspace) {
    this.#client = client
    this.#keyspace = keyspace
  }

  /** The newest revision. */
  async head({ signal }: AbortOptions = {}): Promise<number> {
    const { revision } = await this.#range({ key: this.#keyspace.marker, isKeysOnly: true }, { signal })
    return revision
  }

  /**
   * The compacted revision, 0 when there is none. A compaction at 1, which discards nothing, is
   * known only to the store that requested it.
   */
  async compacted({ signal }: AbortOptions = {}): Promise<number> {
    const known = this.#compacted
    const found = await this.#client.attempt(
      (connection) => this.#compactedSince(Math.max(known, 1), connection, { signal }),
      { signal },
    )
    this.#compacted = Math.max(this.#compacted, found ?? known)
    return this.#compacted
  }

  /** Whether the history after this revision is available; if so, with the newest revision. */
  async available(
    revision: number,
    { signal }: AbortOptions = {},
  ): Promise<{ ok: true; revision: number } | UnavailableRevision> {
    if (revision === 0 && this.#compacted > 0)
      return { ok: false, reason: 'compacted', compacted: await this.compacted({ signal }) }
    const result = await this.#tryRange(
      { key: this.#keyspace.marker, revision: Math.max(revision, 1), isKeysOnly: true },
      { signal },
    )
    return result.ok ? { ok: true, revision: result.found.revision } : result
  }

  async get(
    key: string,
    { revision, signal }: { revision: number | undefined } & AbortOptions,
  ): Promise<{ ok: true; revision: number; entry: Entry | undefined } | UnavailableRevision> {
    const result = await this.#rangeAt(revision, { key: this.#keyspace.inEtcd(key) }, { signal })
    if (!result.ok) return result
    const [entry] = result.found.entries
    return { ok: true, revision: revision ?? result.found.revision, entry: entry && this.#keyspace.entry(entry) }
  }

  /** The pages of a read; the last one may be empty. An unavailable revision ends the sequence. */
  async *pages(
    prefix: string,
    { revision, after, limit, signal }: PageOptions,
  ): AsyncGenerator<Page | UnavailableRevision, void, undefined> {
    let [at, lastKey, left, keys] = [revision, after, Math.ceil(limit), firstPageKeys]
    for (;;) {
      const result = await this.#rangeAt(
        at,
        { ...this.#keyspace.range(prefix, lastKey), limit: Math.min(keys, left) },
        { signal },
      )
      if (!result.ok) {
        yield result
        return
      }
      const { found } = result
      at ??= found.revision
      const entries = found.entries.map((entry) => this.#keyspace.entry(entry))
      const remaining = found.count - entries.length
      yield { ok: true, revision: at, entries, remaining }
      left -= entries.length
      lastKey = entries.at(-1)?.key
      if (remaining === 0 || left <= 0 || lastKey === undefined) return
      keys = nextPageKeys(found)
    }
  }

  async compact(revision: number, { signal }: AbortOptions = {}): Promise<{ ok: true } | UnavailableRevision> {
    if (revision === 0) return { ok: true }
    try {
      await this.#client.call(methods.compact, encodeCompact(revision), { signal })
    } catch (error) {
      if (isFuture(error)) return { ok: false, reason: 'ahead', revision: await this.head({ signal }) }
      if (!isCompacted(error)) throw error
      return { ok: true }
    }
    this.#compacted = Math.max(this.#compacted, revision)
    return { ok: true }
  }

  /** Reads at a revision that may be unavailable. At 0 the store is empty, and etcd has no such revision. */
  async #rangeAt(
    revision: number | undefined,
    request: RangeRequest,
    { signal }: AbortOptions,
  ): Promise<{ ok: true; found: RangeResponse } | UnavailableRevision> {
    if (revision !== 0) return this.#tryRange(revision === undefined ? request : { ...request, revision }, { signal })
    const available = await this.available(0, { signal })
    return available.ok ? { ok: true, found: { revision: available.revision, entries: [], count: 0 } } : available
  }

  async #tryRange(
    request: RangeRequest,
    { signal }: AbortOptions,
  ): Promise<{ ok: true; found: RangeResponse } | UnavailableRevision> {
    try {
      return { ok: true, found: await this.#range(request, { signal }) }
    } catch (error) {
      if (isCompacted(error)) return { ok: false, reason: 'compacted', compacted: await this.compacted({ signal }) }
      if (isFuture(error)) return { ok: false, reason: 'ahead', revision: await this.head({ signal }) }
      throw error
    }
  }

  async #range(request: RangeRequest, { signal }: AbortOptions): Promise<RangeResponse> {
    return decodeRange(await this.#client.call(methods.range, encodeRange(request), { signal }))
  }

  /**
   * The compacted revision if the given one is compacted. etcd reports it only to a watch that starts
   * too early, and only on a member that knows of the compaction, so both calls use one connection.
   */
  async #compactedSince(
    revision: number,
    connection: EtcdConnection,
    { signal }: AbortOptions,
  ): Promise<number | undefined> {
    try {
      await connection.unary(methods.range, encodeRange({ key: this.#keyspace.marker, revision, isKeysOnly: true }), {
        signal,
      })
      return undefined
    } catch (error) {
      if (!isCompacted(error)) throw error
    }
    for await (const message of connection.stream(
      methods.watch,
      encodeWatch({ key: this.#keyspace.marker }, revision),
      { signal },
    )) {
      const { compacted } = decodeWatch(message)
      if (compacted > 0) return compacted
    }
    throw new RpcError('Internal', 'etcd ended a watch without a response', { isUncertain: false })
  }
}

function isCompacted(error: unknown): boolean {
  return error instanceof RpcError && error.says('required revision has been compacted')
}

function isFuture(error: unknown): boolean {
  return error instanceof RpcError && error.says('required revision is a future revision')
}

/** The keys of the next page, so that it has about `pageBytes` if its entries are as large as the last ones. */
function nextPageKeys({ entries }: RangeResponse): number {
  const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  return Math.max(1, Math.min(pageKeysMax, Math.floor((pageBytes * entries.length) / (bytes + 1))))
}
