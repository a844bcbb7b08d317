/**
 * What came from a socket and waits for its one reader: all that has arrived when the reader comes, in one piece.
 *
 *   socket ──push──▶ [ filling ]        two buffers, which change places when the reader asks for the next piece:
 *   reader ◀──next── [ lent     ]       a hundred megabytes go through the same few hundred kilobytes
 *
 * A socket that is given `space` to read into has most of its bytes where they belong when it pushes them. A reader that
 * waits is told when the turn is over, so what one turn brings comes as one piece. Invariants: a piece is the reader's
 * until it asks for the next; what came before an error is given before the error; while the reader is behind, no more
 * than `fullBytes` and what the socket had already decoded is held.
 */
import { deferred } from '#base'
import type { Clock, Deferred } from '#base'

interface ChunkBufferOptions {
  readonly clock: Clock
  /** Enough is held: the sender should stop. */
  readonly onFull: () => void
  /** After `onFull`: there is room again. */
  readonly onRoom: () => void
  /** The reader has left, or there is nothing more to read. */
  readonly onLeft: () => void
}

type Result = IteratorResult<Uint8Array, undefined>

const smallBytes = 16_384
/** With less room than this a socket would be called for a few bytes at a time. */
const spaceBytesMin = 4096
/** With what a socket may have decoded already it makes half a megabyte. */
const fullBytes = 393_216

export class ChunkBuffer implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: ChunkBufferOptions
  #filling: Buffer = Buffer.alloc(0)
  #filled = 0
  #lent: Buffer = Buffer.alloc(0)
  #isReused = true
  #isFull = false
  #end: { readonly error?: unknown } | undefined
  #waiting: Deferred<Result> | undefined
  #isWaking = false

  constructor(options: ChunkBufferOptions) {
    this.#options = options
  }

  /** From now on every piece is the reader's for good. */
  keepAll(): void {
    this.#isReused = false
  }

  /** Where to put what comes next: nobody reads there until it has been pushed. */
  space(): Buffer {
    if (this.#filling.length - this.#filled < spaceBytesMin) this.#grow(this.#filled + spaceBytesMin)
    return this.#filling.subarray(this.#filled)
  }

  /** Takes bytes: a copy of them, unless they are where they belong because they were put into `space`. */
  push(bytes: Uint8Array): void {
    if (this.#end) return
    const wanted = this.#filled + bytes.length
    if (wanted > this.#filling.length) this.#grow(wanted)
    if (bytes.buffer !== this.#filling.buffer || bytes.byteOffset !== this.#filled)
      this.#filling.set(bytes, this.#filled)
    this.#filled = wanted
    if (!this.#isFull && wanted >= fullBytes) {
      this.#isFull = true
      this.#options.onFull()
    }
    this.#wake()
  }

  /** Nothing more comes, because of an error if one is given. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end
    this.#wake()
  }

  /** Ends it at once: what waits is not given any more. */
  fail(error: unknown): void {
    this.#filled = 0
    this.#end = { error }
    this.#wake()
  }

  next(): Promise<Result> {
    if (this.#filled > 0) return Promise.resolve({ done: false, value: this.#lend() })
    if (this.#end) return this.#finish(this.#end)
    this.#waiting ??= deferred<Result>()
    return this.#waiting.promise
  }

  return(): Promise<Result> {
    this.#filled = 0
    this.#end = {}
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ done: true, value: undefined })
    this.#options.onLeft()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #wake(): void {
    if (!this.#waiting || this.#isWaking) return
    this.#isWaking = true
    this.#options.clock.soon(() => {
      this.#isWaking = false
      const waiting = this.#waiting
      this.#waiting = undefined
      if (waiting) this.next().then(waiting.resolve, waiting.reject)
    })
  }

  #finish({ error }: { readonly error?: unknown }): Promise<Result> {
    // Told once: who asks again after an error is told that this is the end.
    this.#end = {}
    this.#options.onLeft()
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error as Error)
  }

  #lend(): Buffer {
    const piece = this.#filling.subarray(0, this.#filled)
    // A quiet stream gives back what a busy one needed.
    const isTooLarge = this.#filling.length > smallBytes && this.#filled < this.#filling.length / 8
    const free = this.#lent
    this.#lent = isTooLarge || !this.#isReused ? Buffer.alloc(0) : this.#filling
    this.#filling = free
    this.#filled = 0
    if (this.#isFull) {
      this.#isFull = false
      this.#options.onRoom()
    }
    return piece
  }

  #grow(wanted: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(smallBytes, 2 ** Math.ceil(Math.log2(wanted))))
    this.#filling.copy(larger, 0, 0, this.#filled)
    this.#filling = larger
  }
}
