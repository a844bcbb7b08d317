/**
 * Reading: the newest state, or the state at a revision, in pages that etcd can send.
 *
 * Invariants: every read is linearizable; all pages of one read are of one revision; whoever is
 * refused learns the exact revision that history begins with, or the newest there is.
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

/** One page; `remaining` counts the keys behind it. */
interface Page {
  readonly ok: true
  readonly revision: number
  readonly entries: readonly Entry[]
  readonly remaining: number
}

/** How many keys the first page of a read has, before anybody knows how big they are, and any page at most. */
const firstPageKeys = 256
const pageKeysMax = 5_000
const pageBytes = 4 * 1024 * 1024

export class EtcdReader {
  readonly #client: EtcdClient
  readonly #keyspace: EtcdKeyspace
  /** A revision that is known to be the first served one, or to have been it. */
  #compacted = 0

  constructor(client: EtcdClient, keyspace: EtcdKeyspace) {
    this.#client = client
    this.#keyspace = keyspace
  }

  /** The newest revision. */
  async head({ signal }: AbortOptions = {}): Promise<number> {
    const { revision } = await this.#ask({ key: this.#keyspace.marker, isKeysOnly: true }, { signal })
    return revision
  }

  /**
   * The first revision that is served, 0 when all are. A compaction at 1, which forgets nothing, is
   * known only to the store that asked for it.
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

  /** Says whether history after this revision is there: the newest revision if it is. */
  async serves(
    revision: number,
    { signal }: AbortOptions = {},
  ): Promise<{ ok: true; revision: number } | UnavailableRevision> {
    if (revision === 0 && this.#compacted > 0)
      return { ok: false, reason: 'compacted', compacted: await this.compacted({ signal }) }
    const answer = await this.#try(
      { key: this.#keyspace.marker, revision: Math.max(revision, 1), isKeysOnly: true },
      { signal },
    )
    return answer.ok ? { ok: true, revision: answer.found.revision } : answer
  }

  async get(
    key: string,
    { revision, signal }: { revision: number | undefined } & AbortOptions,
  ): Promise<{ ok: true; revision: number; entry: Entry | undefined } | UnavailableRevision> {
    const answer = await this.#at(revision, { key: this.#keyspace.inEtcd(key) }, { signal })
    if (!answer.ok) return answer
    const [entry] = answer.found.entries
    return { ok: true, revision: revision ?? answer.found.revision, entry: entry && this.#keyspace.entry(entry) }
  }

  /** The pages of a read, the last of them perhaps empty; a refusal is the only, or the last, thing that comes. */
  async *pages(
    prefix: string,
    { revision, after, limit, signal }: PageOptions,
  ): AsyncGenerator<Page | UnavailableRevision, void, undefined> {
    let [at, behind, left, keys] = [revision, after, Math.ceil(limit), firstPageKeys]
    for (;;) {
      const answer = await this.#at(
        at,
        { ...this.#keyspace.range(prefix, behind), limit: Math.min(keys, left) },
        { signal },
      )
      if (!answer.ok) {
        yield answer
        return
      }
      const { found } = answer
      at ??= found.revision
      const entries = found.entries.map((entry) => this.#keyspace.entry(entry))
      const remaining = found.count - entries.length
      yield { ok: true, revision: at, entries, remaining }
      left -= entries.length
      behind = entries.at(-1)?.key
      if (remaining === 0 || left <= 0 || behind === undefined) return
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

  /** Reads at a revision that may not be there; at 0 there was nothing, and etcd cannot be asked. */
  async #at(
    revision: number | undefined,
    request: RangeRequest,
    { signal }: AbortOptions,
  ): Promise<{ ok: true; found: RangeResponse } | UnavailableRevision> {
    if (revision !== 0) return this.#try(revision === undefined ? request : { ...request, revision }, { signal })
    const served = await this.serves(0, { signal })
    return served.ok ? { ok: true, found: { revision: served.revision, entries: [], count: 0 } } : served
  }

  async #try(
    request: RangeRequest,
    { signal }: AbortOptions,
  ): Promise<{ ok: true; found: RangeResponse } | UnavailableRevision> {
    try {
      return { ok: true, found: await this.#ask(request, { signal }) }
    } catch (error) {
      if (isCompacted(error)) return { ok: false, reason: 'compacted', compacted: await this.compacted({ signal }) }
      if (isFuture(error)) return { ok: false, reason: 'ahead', revision: await this.head({ signal }) }
      throw error
    }
  }

  async #ask(request: RangeRequest, { signal }: AbortOptions): Promise<RangeResponse> {
    return decodeRange(await this.#client.call(methods.range, encodeRange(request), { signal }))
  }

  /**
   * Where history begins, if a revision is no longer served. Only a watch that starts too early is
   * told so, and only by a server that knows of the compaction, so one and the same is asked twice.
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
    throw new RpcError('Internal', 'etcd ended a watch without a word', { isUncertain: false })
  }
}

function isCompacted(error: unknown): boolean {
  return error instanceof RpcError && error.says('required revision has been compacted')
}

function isFuture(error: unknown): boolean {
  return error instanceof RpcError && error.says('required revision is a future revision')
}

/** As many keys as make a page of a good size, if the next ones are like the last ones. */
function nextPageKeys({ entries }: RangeResponse): number {
  const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  return Math.max(1, Math.min(pageKeysMax, Math.floor((pageBytes * entries.length) / (bytes + 1))))
}
