/**
 * The queue of a request body, from the socket to its single reader.
 *
 * Unread data is one buffer, never a list of pieces, and counts against the bytes that the connection may hold. Above
 * that the body fails with 429.
 *
 * Invariants: `push` reports a full queue and `onRoom` free space, so a sender that waits never makes the queue hold
 * more than the limit and one socket read. The reader's loop ends with the body, or throws the reason why the body is
 * incomplete. After `discard`, or after the reader left its loop, further data is dropped.
 */
import { tooManyRequests } from '#api'
import { ByteBuffer, deferred } from '#base'
import type { Deferred } from '#base'
import type { HeldBytes } from './held-bytes.ts'

interface BodyQueueOptions {
  readonly bytesMax: number
  readonly held: HeldBytes
  /** The reader starts to read. */
  readonly onWanted?: () => void
  /** After `push` returned false: the queue has space again. */
  readonly onRoom?: () => void
}

type Result = IteratorResult<Uint8Array, undefined>
const done: Result = { done: true, value: undefined }

export class BodyQueue implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: BodyQueueOptions
  readonly #unread = new ByteBuffer()
  #isFull = false
  #isWanted = false
  #isDiscarding = false
  #isEnded = false
  #failure: { readonly error: unknown } | undefined
  #waiting: Deferred<Result> | undefined

  constructor(options: BodyQueueOptions) {
    this.#options = options
  }

  /** True once the reader has begun to read. */
  get isWanted(): boolean {
    return this.#isWanted
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
    if (!this.#options.held.add(piece.length)) {
      this.#drop()
      this.fail(tooManyRequests('the server holds too many bytes of requests that are not read yet'))
      return true
    }
    this.#unread.append(piece)
    this.#isFull = this.#unread.size >= this.#options.bytesMax
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
    this.#drop()
    this.#settle(done)
    this.#makeRoom()
  }

  /** Everything that has arrived so far, in one piece. */
  next(): Promise<Result> {
    if (!this.#isWanted) {
      this.#isWanted = true
      this.#options.onWanted?.()
    }
    if (this.#unread.size > 0) return Promise.resolve({ done: false, value: this.#take() })
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

  #take(): Buffer {
    this.#options.held.remove(this.#unread.size)
    const bytes = this.#unread.take()
    this.#makeRoom()
    return bytes
  }

  #drop(): void {
    this.#options.held.remove(this.#unread.size)
    this.#unread.clear()
  }

  #makeRoom(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#options.onRoom?.()
  }

  #settle(result: Result): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(result)
  }
}
