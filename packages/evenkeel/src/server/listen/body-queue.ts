/**
 * A request body on its way from the socket to whoever reads it, one reader.
 *
 * Invariants: `push` says when enough is held, and `onRoom` when there is room again, so no more than the limit and one
 * read of the socket is ever held; the loop ends when the body does, or throws why it will not; after `discard`, or after the
 * reader left its loop, pieces are dropped.
 */
import { deferred } from '#base'
import type { Deferred } from '#base'

interface BodyQueueOptions {
  readonly bytesMax: number
  /** The reader asks for the first time. */
  readonly onWanted?: () => void
  /** After `push` gave false: more may come. */
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

  /** True when somebody waits for the next piece. */
  get isWaitedFor(): boolean {
    return this.#waiting !== undefined
  }

  /** True until the sender may go on. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** False when no more should come for now. */
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

  /** Nobody will read what is there or what comes. */
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
