/**
 * The queue of a request body, from the socket to its single reader.
 *
 * Invariants: `push` reports a full queue and `onRoom` free space, so the queue never holds more than the limit and one
 * socket read. The reader's loop ends with the body, or throws the reason why the body is incomplete. After `discard`,
 * or after the reader left its loop, further data is dropped.
 */
import { deferred } from '#base'
import type { Deferred } from '#base'

interface BodyQueueOptions {
  readonly bytesMax: number
  /** The reader starts to read. */
  readonly onWanted?: () => void
  /** After `push` returned false: the queue has space again. */
  readonly onRoom: () => void
}

type Result = IteratorResult<Uint8Array, undefined>
const done: Result = { done: true, value: undefined }

export class BodyQueue implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #bytesMax: number
  readonly #onWanted: (() => void) | undefined
  readonly #onRoom: () => void
  readonly #pieces: Uint8Array[] = []
  #bytes = 0
  #isFull = false
  #isWanted = false
  #isDiscarding = false
  #isEnded = false
  #failure: { readonly error: unknown } | undefined
  #waiting: Deferred<Result> | undefined

  constructor({ bytesMax, onWanted, onRoom }: BodyQueueOptions) {
    this.#bytesMax = bytesMax
    this.#onWanted = onWanted
    this.#onRoom = onRoom
  }

  /** True while the reader waits for data. */
  get isWaitedFor(): boolean {
    return this.#waiting !== undefined
  }

  /** True while the sender has to wait. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** False when the sender has to wait. */
  push(piece: Uint8Array): boolean {
    if (this.#isDiscarding || this.#isEnded || piece.length === 0) return !this.#isFull
    if (this.#waiting) {
      this.#settle({ done: false, value: piece })
      return true
    }
    this.#pieces.push(piece)
    this.#bytes += piece.length
    this.#isFull = this.#bytes >= this.#bytesMax
    return !this.#isFull
  }

  end(): void {
    this.#isEnded = true
    this.#settle(done)
  }

  fail(error: unknown): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#failure = { error }
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting.reject(error)
  }

  /** Drops queued and future data: there is no reader any more. */
  discard(): void {
    this.#isDiscarding = true
    this.#pieces.length = 0
    this.#bytes = 0
    this.#settle(done)
    this.#makeRoom()
  }

  next(): Promise<Result> {
    if (!this.#isWanted) {
      this.#isWanted = true
      this.#onWanted?.()
    }
    const piece = this.#pieces.shift()
    if (piece) return this.#take(piece)
    if (this.#failure) return Promise.reject(this.#failure.error as Error)
    if (this.#isEnded || this.#isDiscarding) return Promise.resolve(done)
    this.#waiting ??= deferred<Result>()
    return this.#waiting.promise
  }

  return(): Promise<Result> {
    this.discard()
    return Promise.resolve(done)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #take(piece: Uint8Array): Promise<Result> {
    this.#bytes -= piece.length
    if (this.#bytes < this.#bytesMax) this.#makeRoom()
    return Promise.resolve({ done: false, value: piece })
  }

  #makeRoom(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#onRoom()
  }

  #settle(result: Result): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(result)
  }
}
