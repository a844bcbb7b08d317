/**
 * A watch on a store in etcd.
 *
 *   asking ──refused──▶ ended
 *     └──▶ remote (a watch of its own) ──▶ recent (from the feed) ──▶ live (told by the feed) ──▶ ended
 *              ▲                             │ too slow                  │ the feed was cut off for too long
 *              └─────────────────────────────┘             asking ◀──────┘
 *
 * Remote and recent changes are handed over only when the reader asks for more, so a long history
 * overflows nothing; live ones are pushed, and the backlog is bounded.
 *
 * Invariants: `#cursor` is the revision up to which the reader was handed everything; the step from
 * recent to live is synchronous; progress is told only when everything up to it was handed over.
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
  /** Settles when everything behind this watch has stopped. */
  readonly done: Promise<void>
  #cursor: number
  /** Set while live; aborts when that is over. */
  #live: AbortController | undefined
  #isAsked = false
  #asked: Deferred<undefined> = deferred()
  #isProgressWanted = false

  constructor(prefix: string, { feed, reads }: EtcdWatchOptions, options: WatchOptions) {
    this.#prefix = prefix
    this.#feed = feed
    this.#reads = reads
    this.#cursor = options.after
    this.#channel = watchChannel(options, () => {
      this.#over.abort(new Error('the watch is over'))
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
    if (this.#live) void this.#tellProgress(this.#live.signal)
  }

  close(): void {
    this.#channel.end({ reason: 'closed' })
  }

  next(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    if (this.#channel.weight === 0) {
      this.#isAsked = true
      this.#asked.resolve(undefined)
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
    this.#live?.abort(new Error('the feed was cut off'))
  }

  fail(cause: unknown): void {
    this.#channel.end({ reason: 'failed', cause: toStoreError(cause, 'watch') })
  }

  async #run(): Promise<void> {
    try {
      while (this.#channel.open && (await this.#isServed())) {
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

  /** Asks etcd, for as long as it takes, whether it has what comes after our revision; ends the watch if not. */
  async #isServed(): Promise<boolean> {
    const { signal } = this.#over
    for (;;) {
      try {
        const served = await this.#reads.serves(this.#cursor, { signal })
        if (served.ok) this.#begin(served.revision)
        else if (served.reason === 'compacted') this.#channel.end({ reason: 'compacted', compacted: served.compacted })
        else this.#channel.end({ reason: 'ahead', revision: served.revision })
        return served.ok
      } catch (error) {
        if (!(error instanceof RpcError && error.isPassing) || signal.aborted) throw error
      }
    }
  }

  /** At revision 1 there was nothing yet, so whoever asks for what came after 0 has missed nothing then. */
  #begin(head: number): void {
    this.#cursor = Math.max(this.#cursor, 1)
    this.#feed.run(head)
  }

  /** Reads a watch of our own until the feed has the rest. */
  async #replayRemote(): Promise<void> {
    const phase = new AbortController()
    const stop = onAbort(this.#over.signal, (reason) => {
      phase.abort(reason)
    })
    const upstream = this.#feed.upstream(this.#cursor)
    upstream.reach(this.#feed.start, { signal: phase.signal }).catch(() => undefined)
    try {
      for await (const { revision, changes: told } of upstream.batches({ signal: phase.signal })) {
        await this.#hand({ revision, changes: told.filter(({ key }) => key.startsWith(this.#prefix)).map(changeOf) })
        if (this.#cursor >= this.#feed.start) return
      }
    } finally {
      stop()
      phase.abort(new Error('the feed has the rest'))
    }
  }

  /** Hands over what the feed has; false when it has let go of what we need next, or stopped. */
  async #replayRecent(): Promise<boolean> {
    while (this.#cursor < this.#feed.position) {
      if (this.#cursor < this.#feed.start) return false
      await this.#hand(this.#feed.after(this.#cursor, this.#prefix))
    }
    return this.#channel.open && this.#feed.isRunning
  }

  /** Is told by the feed until the watch is over, or the feed cannot go on. */
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
    if (this.#isProgressWanted) void this.#tellProgress(live.signal)
    await over.promise
    for (const stop of stops) stop()
    this.#live = undefined
    this.#feed.leave(this.#prefix, this)
    live.abort(new Error('no longer live'))
  }

  /** Says how far the reader is, once everything that is in the store now was handed over. What fails is asked again when we are live again. */
  async #tellProgress(signal: AbortSignal): Promise<void> {
    try {
      await this.#feed.catchUp({ signal })
    } catch (error) {
      if (!signal.aborted && error instanceof RpcError && error.isPassing) return this.#tellProgress(signal)
      return
    }
    if (signal.aborted) return
    this.#isProgressWanted = false
    this.#cursor = Math.max(this.#cursor, this.#feed.position)
    this.#channel.push({ revision: this.#cursor, changes: [] })
  }

  /** Waits until the reader has nothing left and asks, so that history never piles up. */
  async #hand(batch: WatchBatch): Promise<void> {
    if (batch.changes.length > 0) {
      if (!this.#isAsked) await abortable(this.#asked.promise, { signal: this.#over.signal })
      this.#isAsked = false
      this.#asked = deferred()
      this.#channel.push(batch)
    }
    this.#cursor = batch.revision
  }
}
