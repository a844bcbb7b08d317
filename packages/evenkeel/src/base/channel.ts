/**
 * A stream with a bounded backlog, from one or more writers to one reader.
 *
 *   open ──end(reason)──▶ ending ──backlog read──▶ ended
 *     └──push over the bound──▶ ended (overflow)
 *
 * Invariants: a writer never waits and never runs reader code; items are read in the order they
 * were written; the weight of the backlog never exceeds `weightMax`; an overflow discards the
 * backlog and gives the reader the reason, so that a slow reader affects only itself.
 */
import { onAbort } from './abort.ts'
import type { AbortOptions } from './abort.ts'
import { deferred } from './deferred.ts'
import type { Deferred } from './deferred.ts'

export interface ChannelOptions<T, End> extends AbortOptions {
  /** The maximum weight of the backlog. */
  weightMax: number
  /**
   * The weight of one item, in the unit of `weightMax`.
   *
   * @default every item weighs 1
   */
  weigh?: (item: T) => number
  /** The reason given to the reader after an overflow. */
  overflow: End
  /** Called once, when the writer ends the stream or the reader leaves. */
  onClose?: () => void
}

/** Items in order, then the reason of the end. */
export class Channel<T, End> implements AsyncIterableIterator<T, End | undefined> {
  readonly #weightMax: number
  readonly #weigh: (item: T) => number
  readonly #overflow: End
  #stopListening: () => void = () => undefined
  #onClose: (() => void) | undefined
  #backlog: T[] = []
  #head = 0
  #weight = 0
  #end: { reason: End | undefined } | undefined
  #failure: { cause: unknown } | undefined
  #reader: Deferred<IteratorResult<T, End | undefined>> | undefined

  constructor({ weightMax, weigh = () => 1, overflow, onClose, signal }: ChannelOptions<T, End>) {
    if (!(weightMax > 0)) throw new RangeError(`weightMax must be above 0, got ${weightMax}`)
    this.#weightMax = weightMax
    this.#weigh = weigh
    this.#overflow = overflow
    this.#onClose = onClose
    this.#stopListening = onAbort(signal, (cause) => {
      this.#fail(cause)
    })
  }

  /** Why the writer ended the stream; undefined while it is open, or when the reader left. The backlog may still hold items. */
  get reason(): End | undefined {
    return this.#end?.reason
  }

  /** True until the stream ends. */
  get open(): boolean {
    return !this.#end && !this.#failure
  }

  /** The weight of the backlog. */
  get weight(): number {
    return this.#weight
  }

  /** Adds an item; false when the stream has ended, or when this item made it overflow. */
  push(item: T): boolean {
    if (!this.open) return false
    if (this.#reader) {
      this.#answer({ done: false, value: item })
      return true
    }
    const weight = this.#weigh(item)
    if (this.#weight + weight > this.#weightMax) {
      this.#drop()
      this.end(this.#overflow)
      return false
    }
    this.#backlog.push(item)
    this.#weight += weight
    return true
  }

  /** Ends the stream: the reader gets the backlog, then the reason. The first reason wins. */
  end(reason: End): void {
    if (!this.open) return
    this.#end = { reason }
    this.#close()
    if (this.#reader) this.#answer({ done: true, value: reason })
  }

  /** The next item; one call at a time, as `for await` does. Rejects with the reason of an aborted signal. */
  next(): Promise<IteratorResult<T, End | undefined>> {
    if (this.#failure) return Promise.reject(this.#failure.cause as Error)
    if (this.#head < this.#backlog.length) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#end) return Promise.resolve({ done: true, value: this.#end.reason })
    this.#reader ??= deferred()
    return this.#reader.promise
  }

  /** The reader leaves early: the backlog is discarded, and `push` returns false from now on. */
  return(): Promise<IteratorResult<T, End | undefined>> {
    this.#drop()
    this.#end ??= { reason: undefined }
    this.#close()
    this.#answer({ done: true, value: this.#end.reason })
    return Promise.resolve({ done: true, value: this.#end.reason })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #take(): T {
    const item = this.#backlog[this.#head++] as T
    this.#weight -= this.#weigh(item)
    if (this.#head === this.#backlog.length) this.#drop()
    return item
  }

  #drop(): void {
    this.#backlog = []
    this.#head = 0
    this.#weight = 0
  }

  #fail(cause: unknown): void {
    if (!this.open) return
    this.#failure = { cause }
    this.#drop()
    this.#close()
    const reader = this.#reader
    this.#reader = undefined
    reader?.reject(cause)
  }

  #answer(result: IteratorResult<T, End | undefined>): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(result)
  }

  #close(): void {
    const onClose = this.#onClose
    this.#onClose = undefined
    this.#stopListening()
    onClose?.()
  }
}
