/**
 * A resumable etcd watch of the whole prefix: every change after a revision, in order, across any
 * number of broken connections. A new watch continues where the last one was cut.
 *
 * The progress (`position`) follows only from responses that are ordered with the events:
 *
 * - all events of revision 7: every change up to 7 was delivered;
 * - a progress notification for this watch;
 * - the response to a progress request, from servers that order it with the events. Up to 3.4.24 and
 *   3.5.7 it can overtake events, and the header revision of a response with events can be ahead of
 *   events still to come. On those servers the marker key is written, and its event is awaited.
 *
 * Mostly none of these requests is needed, because the newest revision is an event of this prefix.
 *
 * Invariants: every change is delivered exactly once; the changes of one commit are delivered together.
 *
 * Example. The watch is at 7 and the store at 9, where 9 was written under another prefix:
 *
 *   event@8 ──▶ batch 8, position 8 · reach(9) waits 150 ms · progress request ──▶ empty batch 9, position 9
 */
import { abortable, deadline, deferred, type AbortOptions, type Clock, type Deferred, type Logger } from '#base'
import { StoreError, type Change } from '../store.ts'
import { methods, type EtcdClient } from './client.ts'
import { RpcError, type RpcStream } from './grpc.ts'
import type { EtcdKeyspace } from './keyspace.ts'
import {
  decodeWatch,
  encodeProgressRequest,
  encodePut,
  encodeWatch,
  type WatchEvent,
  type WatchResponse,
} from './messages.ts'
import { ProtobufError } from './protobuf.ts'

export interface UpstreamOptions {
  client: EtcdClient
  keyspace: EtcdKeyspace
  clock: Clock
  log: Logger
}

/** A change, or a key under our prefix with a value that was not written by Evenkeel. */
export type UpstreamChange = Change | { readonly key: string; readonly revision: number; readonly error: unknown }

/** One or more complete commits. */
export interface UpstreamBatch {
  readonly revision: number
  readonly changes: readonly UpstreamChange[]
}

/** The history that a watch needs is compacted. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  /** The first available revision. */
  readonly compacted: number

  constructor(compacted: number) {
    super(`history begins at revision ${compacted}`)
    this.compacted = compacted
  }
}

/** How long to wait for an event before the first progress request, and the maximum time between two requests. */
const graceMs = 150
const waitMaxMs = 5_000

export class Upstream {
  readonly #client: EtcdClient
  readonly #keyspace: EtcdKeyspace
  readonly #clock: Clock
  readonly #log: Logger
  #position: number
  #moved: Deferred<undefined> = deferred()
  #stream: RpcStream | undefined
  /** The reader has consumed all responses and waits for more. */
  #isIdle = false
  /** Changes of a commit that may be incomplete. */
  #partial: UpstreamChange[] = []
  readonly #started: Deferred<undefined> = deferred()

  constructor(after: number, { client, keyspace, clock, log }: UpstreamOptions) {
    this.#client = client
    this.#keyspace = keyspace
    this.#clock = clock
    this.#log = log
    this.#position = after
  }

  /** Every change up to this revision was delivered and consumed. */
  get position(): number {
    return this.#position
  }

  /**
   * Batches in order; empty ones report progress. It ends only with an error or an abort.
   *
   * @throws {CompactedError} when the history is compacted, {@link StoreError} when etcd denies the watch.
   */
  async *batches({ signal }: AbortOptions = {}): AsyncGenerator<UpstreamBatch, never, undefined> {
    for (let failures = 0; ; failures++) {
      const before = this.#position
      const connection = await this.#client.connection({ signal })
      try {
        this.#stream = connection.stream(methods.watch, encodeWatch(this.#keyspace.all, Math.max(before, 1)), {
          signal,
        })
        yield* this.#consume(this.#stream, connection.isProgressOrdered)
      } catch (error) {
        signal?.throwIfAborted()
        if (!isPassing(error)) throw error
        this.#log.debug('etcd watch ended; resuming', { position: this.#position, error })
        if (error instanceof RpcError) this.#client.report(connection, error)
      } finally {
        this.#isIdle = false
        this.#stream?.close()
        this.#partial = []
      }
      if (this.#position > before) failures = 0
      await this.#client.pause(failures, { signal })
    }
  }

  /** Waits until every change up to a revision was delivered and consumed; requests progress if necessary. After that no compaction can come in between. */
  async reach(revision: number, { signal }: AbortOptions = {}): Promise<void> {
    await abortable(this.#started.promise, { signal })
    for (let waitMs = graceMs; this.#position < revision;) {
      const limit = deadline(this.#clock, waitMs, { signal })
      try {
        await abortable(this.#moved.promise, { signal: limit.signal })
        continue
      } catch {
        signal?.throwIfAborted()
      } finally {
        limit.done()
      }
      waitMs = Math.min(2 * waitMs, waitMaxMs)
      if (this.#isIdle) await this.#requestProgress({ signal })
    }
  }

  async *#consume(stream: RpcStream, isProgressOrdered: boolean): AsyncGenerator<UpstreamBatch, void, undefined> {
    for await (const message of stream) {
      this.#isIdle = false
      const response = decodeWatch(message)
      if (response.isCanceled) throw cancelError(response)
      this.#started.resolve(undefined)
      if (response.events.length > 0) yield* this.#take(response)
      else if (!response.isCreated && (response.watchId >= 0 || isProgressOrdered))
        yield* this.#advance([], response.revision)
      this.#isIdle = true
    }
  }

  /** The complete commits received so far. The last commit of a fragment may be incomplete. */
  *#take({ events, isFragment }: WatchResponse): Generator<UpstreamBatch, void, undefined> {
    for (const event of events) {
      if (event.entry.modified > this.#position) this.#partial.push(this.#changeOf(event))
    }
    const last = this.#partial.at(-1)?.revision ?? 0
    const whole = isFragment ? this.#partial.filter(({ revision }) => revision < last) : this.#partial
    this.#partial = isFragment ? this.#partial.filter(({ revision }) => revision === last) : []
    const revision = whole.at(-1)?.revision
    if (revision !== undefined) yield* this.#advance(whole, revision)
  }

  *#advance(changes: readonly UpstreamChange[], revision: number): Generator<UpstreamBatch, void, undefined> {
    if (revision <= this.#position) return
    yield { revision, changes: changes.filter(({ key }) => key !== this.#keyspace.inStore(this.#keyspace.marker)) }
    this.#position = revision
    const moved = this.#moved
    this.#moved = deferred()
    moved.resolve(undefined)
  }

  #changeOf({ isDelete, entry, previous }: WatchEvent): UpstreamChange {
    const key = this.#keyspace.inStore(entry.key)
    const revision = entry.modified
    if (entry.key === this.#keyspace.marker) return { key, revision }
    try {
      return {
        key,
        revision,
        ...(!isDelete && { entry: this.#keyspace.entry(entry) }),
        ...(previous && { previous: this.#keyspace.entry(previous) }),
      }
    } catch (error) {
      return { key, revision, error }
    }
  }

  async #requestProgress({ signal }: AbortOptions): Promise<void> {
    const connection = await this.#client.connection({ signal })
    if (connection.isProgressOrdered) {
      this.#stream?.send(encodeProgressRequest())
      return
    }
    try {
      await this.#client.call(methods.put, encodePut(this.#keyspace.marker, new Uint8Array(0)), { signal })
    } catch (error) {
      signal?.throwIfAborted()
      this.#log.debug('failed to write the progress marker', { error })
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ProtobufError || (error instanceof RpcError && error.isPassing)
}

/** The error for a watch that etcd canceled. */
function cancelError({ compacted, reason }: WatchResponse): Error {
  if (compacted > 0) return new CompactedError(compacted)
  const error = new RpcError('Unavailable', reason, { isUncertain: false })
  return /permission denied|user name is empty/.test(reason)
    ? new StoreError('Failed', `etcd denied permission to watch: ${reason}; check user, password and role`, {
        cause: error,
      })
    : error
}
