/**
 * A watch on a store in etcd.
 *
 *   checking ──refused──▶ ended
 *     └──▶ remote (an etcd watch of its own) ──▶ recent (changes of the feed) ──▶ live (batches of the feed) ──▶ ended
 *              ▲                                   │ too slow                       │ the feed was compacted
 *              └───────────────────────────────────┘              checking ◀────────┘
 *
 * Remote and recent changes are delivered only when the reader asks for more, so a long history
 * cannot overflow the backlog; live changes are pushed, and the backlog is bounded.
 *
 * Invariants: `#cursor` is the revision up to which the reader got every change; the step from
 * recent to live is synchronous; progress is reported only after every change up to it was delivered.
 */
import { abortable, deferred, onAbort, type Deferred } from '#base'
import type { Watch, WatchBatch, WatchEnd, WatchOptions } from '../store.ts'
import { watchChannel, type WatchChannel } from '../watch.ts'
import { changeOf, type Feed, type FeedMember } from './feed.ts'
import { RpcError, toStoreError } from './grpc.ts'
import type { EtcdReader } from './reads.ts'
import { CompactedError } from './upstream.ts'

interface EtcdWatchOptions {
  feed: Feed
  reads: EtcdReader
}

export class EtcdWatch implements Watch, FeedMember, AsyncIterator<WatchBatch, WatchEnd | undefined> {
  readonly #prefix: string
  readonly #feed: Feed
  readonly #reads: EtcdReader
  readonly #channel: WatchChannel
  readonly #over = new AbortController()
  /** Resolves when all work of this watch has stopped. */
  readonly done: Promise<void>
  #cursor: number
  /** Set while live; aborted when the watch leaves the feed. */
  #live: AbortController | undefined
  /** The reader waits for a batch. */
  #hasDemand = false
  #demand: Deferred<undefined> = deferred()
  #isProgressWanted = false

  constructor(prefix: string, { feed, reads }: EtcdWatchOptions, options: WatchOptions) {
    this.#prefix = prefix
    this.#feed = feed
    this.#reads = reads
    this.#cursor = options.after
    this.#channel = watchChannel(options, () => {
      this.#over.abort(new Error('the watch ended'))
    })
    feed.open()
    this.done = this.#run()
  }

  get end(): WatchEnd | undefined {
    return this.#channel.reason
  }

  requestProgress(): void {
    if (this.#isProgressWanted) return
    this.#isProgressWanted = true
    if (this.#live) void this.#reportProgress(this.#live.signal)
  }

  close(): void {
    this.#channel.end({ reason: 'closed' })
  }

  next(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    if (this.#channel.weight === 0) {
      this.#hasDemand = true
      this.#demand.resolve(undefined)
    }
    return this.#channel.next()
  }

  return(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    return this.#channel.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  offer(batch: WatchBatch): void {
    if (batch.revision <= this.#cursor) return
    const isNew = (batch.changes[0]?.revision ?? batch.revision) > this.#cursor
    this.#channel.push(
      isNew ? batch : { ...batch, changes: batch.changes.filter(({ revision }) => revision > this.#cursor) },
    )
    this.#cursor = batch.revision
  }

  leaveFeed(): void {
    this.#cursor = Math.max(this.#cursor, this.#feed.position)
    this.#live?.abort(new Error('the feed stopped'))
  }

  fail(cause: unknown): void {
    this.#channel.end({ reason: 'failed', cause: toStoreError(cause, 'watch') })
  }

  async #run(): Promise<void> {
    try {
      while (this.#channel.open && (await this.#isAvailable())) {
        while (this.#cursor < this.#feed.start) await this.#replayRemote()
        if (await this.#replayRecent()) await this.#stayLive()
      }
    } catch (error) {
      if (error instanceof CompactedError) this.#channel.end({ reason: 'compacted', compacted: error.compacted })
      else if (!this.#over.signal.aborted) this.fail(error)
    } finally {
      await this.#feed.close()
    }
  }

  /** Checks, with retries, that etcd has the history after the cursor; ends the watch if not. */
  async #isAvailable(): Promise<boolean> {
    const { signal } = this.#over
    for (;;) {
      try {
        const available = await this.#reads.available(this.#cursor, { signal })
        if (available.ok) this.#begin(available.revision)
        else if (available.reason === 'compacted')
          this.#channel.end({ reason: 'compacted', compacted: available.compacted })
        else this.#channel.end({ reason: 'ahead', revision: available.revision })
        return available.ok
      } catch (error) {
        if (!(error instanceof RpcError && error.isPassing) || signal.aborted) throw error
      }
    }
  }

  /** The store is empty at revision 1, so a watch after 0 can start at 1. */
  #begin(head: number): void {
    this.#cursor = Math.max(this.#cursor, 1)
    this.#feed.run(head)
  }

  /** Reads an etcd watch of its own until it reaches the changes of the feed. */
  async #replayRemote(): Promise<void> {
    const phase = new AbortController()
    const stop = onAbort(this.#over.signal, (reason) => {
      phase.abort(reason)
    })
    const upstream = this.#feed.upstream(this.#cursor)
    upstream.reach(this.#feed.start, { signal: phase.signal }).catch(() => undefined)
    try {
      for await (const { revision, changes } of upstream.batches({ signal: phase.signal })) {
        await this.#deliver({
          revision,
          changes: changes.filter(({ key }) => key.startsWith(this.#prefix)).map(changeOf),
        })
        if (this.#cursor >= this.#feed.start) return
      }
    } finally {
      stop()
      phase.abort(new Error('the feed has the rest'))
    }
  }

  /** Delivers the recent changes of the feed; false when the feed has discarded the next ones or stopped. */
  async #replayRecent(): Promise<boolean> {
    while (this.#cursor < this.#feed.position) {
      if (this.#cursor < this.#feed.start) return false
      await this.#deliver(this.#feed.after(this.#cursor, this.#prefix))
    }
    return this.#channel.open && this.#feed.isRunning
  }

  /** Gets batches of the feed until the watch ends or the feed stops. */
  async #stayLive(): Promise<void> {
    const live = new AbortController()
    this.#live = live
    this.#feed.join(this.#prefix, this)
    const over = deferred<undefined>()
    const stops = [this.#over.signal, live.signal].map((signal) =>
      onAbort(signal, () => {
        over.resolve(undefined)
      }),
    )
    if (this.#isProgressWanted) void this.#reportProgress(live.signal)
    await over.promise
    for (const stop of stops) stop()
    this.#live = undefined
    this.#feed.leave(this.#prefix, this)
    live.abort(new Error('no longer live'))
  }

  /** Reports progress once every change in the store now was delivered. After a failure it is repeated when the watch is live again. */
  async #reportProgress(signal: AbortSignal): Promise<void> {
    try {
      await this.#feed.catchUp({ signal })
    } catch (error) {
      if (!signal.aborted && error instanceof RpcError && error.isPassing) return this.#reportProgress(signal)
      return
    }
    if (signal.aborted) return
    this.#isProgressWanted = false
    this.#cursor = Math.max(this.#cursor, this.#feed.position)
    this.#channel.push({ revision: this.#cursor, changes: [] })
  }

  /** Delivers a batch once the reader has consumed the last one, so that history never accumulates in the backlog. */
  async #deliver(batch: WatchBatch): Promise<void> {
    if (batch.changes.length > 0) {
      if (!this.#hasDemand) await abortable(this.#demand.promise, { signal: this.#over.signal })
      this.#hasDemand = false
      this.#demand = deferred()
      this.#channel.push(batch)
    }
    this.#cursor = batch.revision
  }
}
