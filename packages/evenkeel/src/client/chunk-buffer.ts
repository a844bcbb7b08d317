/**
 * What arrived from a socket for its one reader: everything so far, in one chunk.
 *
 *   socket ──push──▶ [ filling ]        two buffers, which are swapped when the reader requests the next chunk:
 *   reader ◀──next── [ reading ]        a hundred megabytes go through the same few hundred kilobytes
 *
 * A socket that reads into `space` has most of its bytes in place when it pushes them. A waiting reader is resumed at the
 * end of the turn, so what arrives in one turn is one chunk. Invariants: a chunk is valid until the reader requests the
 * next; data that arrived before an error is delivered before the error; while the reader is behind, at most `fullBytes`
 * and what the socket had already decoded is held.
 */
import { deferred } from '#base'
import type { Clock, Deferred } from '#base'

interface ChunkBufferOptions {
  readonly clock: Clock
  /** The buffer is full: the sender should pause. */
  readonly onFull: () => void
  /** After `onFull`: there is space again. */
  readonly onRoom: () => void
  /** The reader has stopped, or there is nothing more to read. */
  readonly onLeft: () => void
}

type Result = IteratorResult<Uint8Array, undefined>

const smallBytes = 16_384
/** With less space than this a socket would be called for a few bytes at a time. */
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

  /** From now on every chunk stays valid. */
  keepAll(): void {
    this.#isReused = false
  }

  /** Where to put what comes next; it is not read until it has been pushed. */
  space(): Buffer {
    if (this.#filling.length - this.#filled < spaceBytesMin) this.#grow(this.#filled + spaceBytesMin)
    return this.#filling.subarray(this.#filled)
  }

  /** Takes bytes: copies them, unless they were put into `space`. */
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

  /** Ends it at once: data that waits is dropped. */
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
    // The error is thrown once; later reads get the end.
    this.#end = {}
    this.#options.onLeft()
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error as Error)
  }

  #lend(): Buffer {
    const piece = this.#filling.subarray(0, this.#filled)
    // A quiet stream frees what a busy one needed.
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
