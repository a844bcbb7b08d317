/**
 * A stream with a bounded backlog, from one or more writers to one reader.
 *
 *   open ──end(reason)──▶ ending ──backlog read──▶ ended
 *     └──push over the bound──▶ ended (overflow)
 *
 * Invariants: a writer never waits and never runs reader code; items come out in the order
 * they went in; the weight of the backlog never exceeds `weightMax`; after an overflow the
 * backlog is gone and the reader is told why, so a slow reader costs nobody but itself.
 */
import { onAbort } from './abort.ts'
import type { AbortOptions } from './abort.ts'
import { deferred } from './deferred.ts'
import type { Deferred } from './deferred.ts'

export interface ChannelOptions<T, End> extends AbortOptions {
  /** The most the backlog may weigh. */
  weightMax: number
  /**
   * What one item weighs, in whatever unit `weightMax` has.
   *
   * @default every item weighs 1
   */
  weigh?: (item: T) => number
  /** The reason given to the reader when the bound is hit. */
  overflow: End
  /** Called once, when the stream has ended for the reader or the writer, whichever is first. */
  onClose?: () => void
}

/** Items in order, then one reason why there are no more. */
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

  /** True until somebody ended the stream. */
  get open(): boolean {
    return !this.#end && !this.#failure
  }

  /** What waits for the reader, in the unit of `weigh`. */
  get weight(): number {
    return this.#weight
  }

  /** Adds an item; false when the stream has ended, also when this very item made it overflow. */
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

  /** Ends the stream: the reader gets what is waiting, then the reason. The first reason stays. */
  end(reason: End): void {
    if (!this.open) return
    this.#end = { reason }
    this.#close()
    if (this.#reader) this.#answer({ done: true, value: reason })
  }

  /** The next item; one call at a time, as `for await` does. Rejects with the signal's reason once that aborted. */
  next(): Promise<IteratorResult<T, End | undefined>> {
    if (this.#failure) return Promise.reject(this.#failure.cause as Error)
    if (this.#head < this.#backlog.length) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#end) return Promise.resolve({ done: true, value: this.#end.reason })
    this.#reader ??= deferred()
    return this.#reader.promise
  }

  /** The reader leaves early: the backlog goes, and writers are told by `push` giving false. */
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
