/**
 * The body of one response: pieces as they arrive, for one reader.
 *
 * Invariants: pieces come in order, each once; while more than the limit waits to be read, the source is paused; pieces that
 * arrived before an error are lost with it, because the reader of a response needs all of it; a reader that leaves early
 * reports it once.
 *
 *   push(a) push(b) ──▶ [a, b] ──▶ next() is a, next() is b, next() waits ──push(c)──▶ c ──end()──▶ done
 */
import { deferred, type Deferred } from '#base'

interface BodyPiecesOptions {
  /** Too much waits to be read: stop reading from the socket. */
  readonly onFull: () => void
  readonly onRoom: () => void
  /** The reader left before the end. */
  readonly onLeft: () => void
}

const waitingBytesMax = 1024 * 1024

export class BodyPieces implements AsyncIterableIterator<Uint8Array> {
  readonly #options: BodyPiecesOptions
  #pieces: Uint8Array[] = []
  #bytes = 0
  #isFull = false
  #isWhole = false
  #isDone = false
  #failure: { readonly error: unknown } | undefined
  #arrival: Deferred<void> | undefined

  constructor(options: BodyPiecesOptions) {
    this.#options = options
  }

  push(piece: Uint8Array): void {
    if (this.#isDone) return
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes > waitingBytesMax && !this.#isFull && !this.#isWhole) {
      this.#isFull = true
      this.#options.onFull()
    }
    this.#wake()
  }

  end(): void {
    this.#isDone = true
    this.#wake()
  }

  fail(error: unknown): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#failure = { error }
    this.#pieces = []
    this.#wake()
  }

  /** All of it, whatever its length. */
  async whole(): Promise<Uint8Array> {
    this.#isWhole = true
    this.#makeRoom()
    while (!this.#isDone) await this.#arrived()
    if (this.#failure) throw this.#failure.error
    const pieces = this.#pieces.splice(0)
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#pieces.length === 0 && !this.#isDone) await this.#arrived()
    if (this.#failure) throw this.#failure.error
    const value = this.#pieces.shift()
    if (!value) return { done: true, value: undefined }
    this.#bytes -= value.length
    if (this.#bytes <= waitingBytesMax / 2) this.#makeRoom()
    return { done: false, value }
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const isEarly = !this.#isDone
    this.#isDone = true
    this.#pieces = []
    if (isEarly) this.#options.onLeft()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #makeRoom(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#options.onRoom()
  }

  #arrived(): Promise<void> {
    return (this.#arrival ??= deferred<void>()).promise
  }

  #wake(): void {
    this.#arrival?.resolve()
    this.#arrival = undefined
  }
}
