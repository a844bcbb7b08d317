/**
 * The memory of a stream of large pieces: one buffer for all of them, where the reader allows it.
 *
 * A reader that is done with a piece when it asks for the next one borrows it: the same memory holds the next piece.
 * After the last piece the buffer serves another stream. So a thousand lists and watches use a few buffers, and the
 * collector has nothing to do.
 *
 * Invariant: a buffer goes to another stream only after its last piece has left the server. A stream that ends early keeps
 * its buffer, because the socket may still read it.
 */
import { allocatePiece } from './http1-body.ts'

/** Smaller pieces may still be in the queue of the socket when the next is requested. */
const lentBytesMin = 131_072

const free: Buffer[] = []
const freeMax = 8

export class LentMemory {
  readonly #isLent: boolean
  #memory: Buffer | undefined

  /** @param options.isLent whether the reader is done with a piece when it requests the next */
  constructor({ isLent }: { isLent: boolean }) {
    this.#isLent = isLent
  }

  /** A buffer for the next piece. */
  allocate(bytes: number): Buffer {
    if (!this.#isLent || bytes < lentBytesMin) return allocatePiece(bytes)
    if (!this.#memory || this.#memory.length < bytes) this.#memory = takeMemory(bytes)
    return allocatePiece(bytes, { memory: this.#memory })
  }

  /** The first bytes of an allocated buffer, when it is not full. */
  shorten(piece: Buffer, bytes: number): Buffer {
    if (bytes === piece.length) return piece
    if (!this.#isLent || bytes >= lentBytesMin) return allocatePiece(bytes, { memory: piece })
    const small = allocatePiece(bytes)
    small.set(piece.subarray(0, bytes))
    return small
  }

  /** The last piece has left. */
  release(): void {
    if (this.#memory && free.length < freeMax) free.push(this.#memory)
    this.#memory = undefined
  }
}

function takeMemory(bytes: number): Buffer {
  const known = free.pop()
  return known && known.length >= bytes ? known : allocatePiece(bytes + (bytes >> 3))
}
