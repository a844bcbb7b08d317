/**
 * A body that comes in pieces: from the socket's reads into the queue that the server reads.
 *
 * Invariant: bytes after the end of the body are given back, bytes before it never are.
 */
import { badRequest } from '#api'
import type { BodyQueue } from '../body-queue.ts'
import { HttpProtocolError } from '../http-refusal.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'

export class BodyReader {
  readonly queue: BodyQueue
  readonly #decoder: ChunkedDecoder | undefined
  #left: number
  #state: 'open' | 'done' | 'broken' = 'open'
  #isBegun = false

  constructor(length: number | 'chunked', queue: BodyQueue) {
    this.queue = queue
    this.#decoder = length === 'chunked' ? new ChunkedDecoder() : undefined
    this.#left = length === 'chunked' ? Number.POSITIVE_INFINITY : length
  }

  /** The whole body was here. */
  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** What came makes no sense, or did not come: nobody knows where the next request would begin. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Bytes that are still to come; infinite when nobody knows. */
  get left(): number {
    return this.#left
  }

  /** Takes what belongs to the body and gives back the rest. */
  feed(bytes: Buffer): Buffer {
    if (this.#state === 'broken') return bytes.subarray(bytes.length)
    if (this.#state === 'done') return bytes
    this.#isBegun = true
    return this.#decoder ? this.#feedChunks(bytes, this.#decoder) : this.#feedBytes(bytes)
  }

  fail(error: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'broken'
    this.queue.fail(error)
  }

  #feedBytes(bytes: Buffer): Buffer {
    const taken = Math.min(this.#left, bytes.length)
    this.queue.push(bytes.subarray(0, taken))
    this.#left -= taken
    if (this.#left === 0) this.#finish()
    return bytes.subarray(taken)
  }

  #feedChunks(bytes: Buffer, decoder: ChunkedDecoder): Buffer {
    try {
      const taken = decoder.feed(bytes, (piece) => {
        this.queue.push(piece)
      })
      if (decoder.isDone) this.#finish()
      return bytes.subarray(taken)
    } catch (error) {
      if (!(error instanceof HttpProtocolError)) throw error
      this.fail(badRequest(error.message, { cause: error }))
      return bytes.subarray(bytes.length)
    }
  }

  #finish(): void {
    this.#state = 'done'
    this.#left = 0
    this.queue.end()
  }
}
