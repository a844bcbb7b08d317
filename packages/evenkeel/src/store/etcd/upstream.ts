/**
 * Everything that happens below our prefix after a revision, told in order however often the
 * connection breaks: when it does, the next watch goes on where the last one was cut.
 *
 * How far we are (`position`) is known only from what comes in order with the events:
 *
 * - an event at revision 7: everything up to 7 was told, once all of 7 was;
 * - a notice of progress for our very watch;
 * - an answer to our question for progress, from servers that answer it in order. Up to 3.4.24 and
 *   3.5.7 it overtakes events, and the revision in the header of an answer with events may lie
 *   beyond events that are still to come. There we write the marker and wait to be told of it.
 *
 * Mostly neither is needed, because the newest revision is one of our own events.
 *
 * Invariants: nothing is told twice, nothing is left out; changes of one commit are told together.
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

/** A change, or a key that somebody else wrote below our prefix. */
export type UpstreamChange = Change | { readonly key: string; readonly revision: number; readonly error: unknown }

/** Some whole commits. */
export interface UpstreamBatch {
  readonly revision: number
  readonly changes: readonly UpstreamChange[]
}

/** Thrown when the history that a watch needs is compacted. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  /** The first revision that is served. */
  readonly compacted: number

  constructor(compacted: number) {
    super(`history begins at revision ${compacted}`)
    this.compacted = compacted
  }
}

/** How long an event may take to arrive before we ask for progress, and how long between two questions. */
const graceMs = 150
const patienceMaxMs = 5_000

export class Upstream {
  readonly #client: EtcdClient
  readonly #keyspace: EtcdKeyspace
  readonly #clock: Clock
  readonly #log: Logger
  #position: number
  #moved: Deferred<undefined> = deferred()
  #stream: RpcStream | undefined
  /** The reader has taken all that came, and waits for more. */
  #isIdle = false
  /** Changes of a commit of which more may come. */
  #partial: UpstreamChange[] = []
  readonly #begun: Deferred<undefined> = deferred()

  constructor(after: number, { client, keyspace, clock, log }: UpstreamOptions) {
    this.#client = client
    this.#keyspace = keyspace
    this.#clock = clock
    this.#log = log
    this.#position = after
  }

  /** Everything up to this revision was told and taken. */
  get position(): number {
    return this.#position
  }

  /**
   * Batches, in order, for as long as the reader wants them; empty ones say how far we are.
   *
   * @throws {CompactedError} when history is gone, {@link StoreError} when etcd does not let us watch.
   */
  async *batches({ signal }: AbortOptions = {}): AsyncGenerator<UpstreamBatch, never, undefined> {
    for (let failures = 0; ; failures++) {
      const before = this.#position
      const connection = await this.#client.connection({ signal })
      try {
        this.#stream = connection.stream(methods.watch, encodeWatch(this.#keyspace.all, Math.max(before, 1)), {
          signal,
        })
        yield* this.#follow(this.#stream, connection.isProgressOrdered)
      } catch (error) {
        signal?.throwIfAborted()
        if (!isPassing(error)) throw error
        this.#log.debug('a watch on etcd was cut, going on', { position: this.#position, error })
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

  /** Waits until everything up to a revision was told and taken, and makes it so if nothing else does. From then on no compaction can come in between. */
  async reach(revision: number, { signal }: AbortOptions = {}): Promise<void> {
    await abortable(this.#begun.promise, { signal })
    for (let patienceMs = graceMs; this.#position < revision;) {
      const limit = deadline(this.#clock, patienceMs, { signal })
      try {
        await abortable(this.#moved.promise, { signal: limit.signal })
        continue
      } catch {
        signal?.throwIfAborted()
      } finally {
        limit.done()
      }
      patienceMs = Math.min(2 * patienceMs, patienceMaxMs)
      if (this.#isIdle) await this.#nudge({ signal })
    }
  }

  async *#follow(stream: RpcStream, isProgressOrdered: boolean): AsyncGenerator<UpstreamBatch, void, undefined> {
    for await (const message of stream) {
      this.#isIdle = false
      const answer = decodeWatch(message)
      if (answer.isCanceled) throw refusal(answer)
      this.#begun.resolve(undefined)
      if (answer.events.length > 0) yield* this.#take(answer)
      else if (!answer.isCreated && (answer.watchId >= 0 || isProgressOrdered))
        yield* this.#advance([], answer.revision)
      this.#isIdle = true
    }
  }

  /** The whole commits in what arrived so far; the last one only if no more of it can come. */
  *#take({ events, isFragment }: WatchResponse): Generator<UpstreamBatch, void, undefined> {
    for (const event of events) {
      if (event.entry.modified > this.#position) this.#partial.push(this.#told(event))
    }
    const last = this.#partial.at(-1)?.revision ?? 0
    const whole = isFragment ? this.#partial.filter(({ revision }) => revision < last) : this.#partial
    this.#partial = isFragment ? this.#partial.filter(({ revision }) => revision === last) : []
    const revision = whole.at(-1)?.revision
    if (revision !== undefined) yield* this.#advance(whole, revision)
  }

  *#advance(told: readonly UpstreamChange[], revision: number): Generator<UpstreamBatch, void, undefined> {
    if (revision <= this.#position) return
    yield { revision, changes: told.filter(({ key }) => key !== this.#keyspace.inStore(this.#keyspace.marker)) }
    this.#position = revision
    const moved = this.#moved
    this.#moved = deferred()
    moved.resolve(undefined)
  }

  #told({ isDelete, entry, previous }: WatchEvent): UpstreamChange {
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

  async #nudge({ signal }: AbortOptions): Promise<void> {
    const connection = await this.#client.connection({ signal })
    if (connection.isProgressOrdered) {
      this.#stream?.send(encodeProgressRequest())
      return
    }
    try {
      await this.#client.call(methods.put, encodePut(this.#keyspace.marker, new Uint8Array(0)), { signal })
    } catch (error) {
      signal?.throwIfAborted()
      this.#log.debug('the marker could not be written', { error })
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ProtobufError || (error instanceof RpcError && error.isPassing)
}

/** Why etcd ended a watch. */
function refusal({ compacted, reason }: WatchResponse): Error {
  if (compacted > 0) return new CompactedError(compacted)
  const error = new RpcError('Unavailable', reason, { isUncertain: false })
  return /permission denied|user name is empty/.test(reason)
    ? new StoreError('Failed', `etcd did not let us watch: ${reason}; check user, password and role`, { cause: error })
    : error
}
