/**
 * The memory of a stream of large pieces: one buffer for all of them, where the reader allows it.
 *
 * A reader that is done with a piece when it asks for the next one borrows it: the same memory holds the next piece.
 * After the last piece the buffer serves another stream. So a thousand lists and watches use a few buffers, and the
 * collector has nothing to do.
 *
 * Streams that begin together wait for each other: a hundred watches of one client would hold a hundred pieces of 600 kB
 * while each waits for its turn to write. A stream that has its buffer never waits. Clients that do not read delay the
 * others by {@link waitMaxMs} at most: then these go on without a buffer, in small parts ({@link inParts}).
 *
 * Invariant: a buffer goes to another stream only after its last piece has left the server. A stream that ends early keeps
 * its buffer, because the socket may still read it.
 */
import { heapShare, type Clock } from '#base'
import { allocatePiece } from './http1-body.ts'

/** Smaller pieces may still be in the queue of the socket when the next is requested. */
const lentBytesMin = 131_072

/** The most that streams hold before others wait. */
const heldShare = 1 / 32
const heldBytesMax = 67_108_864
const waitMaxMs = 250

/** Buffers that no stream uses, the largest last. */
const free: Buffer[] = []
const freeMax = 8
/** What streams hold now. */
let heldBytes = 0
const waiting = new Set<() => void>()

export class LentMemory {
  readonly #isLent: boolean
  #memory: Buffer | undefined

  /** @param options.isLent whether the reader is done with a piece when it requests the next */
  constructor({ isLent }: { isLent: boolean }) {
    this.#isLent = isLent
  }

  /**
   * Waits before the first large piece while other streams hold too much; undefined when there is nothing to wait for.
   * Resolves false when they still do: the piece must not be allocated then.
   */
  waitForRoom(bytes: number, clock: Clock): Promise<boolean> | undefined {
    if (!this.#isLent || this.#memory || bytes < lentBytesMin) return undefined
    if (heldBytes < heapShare(heldShare, { max: heldBytesMax })) return undefined
    return new Promise((resolve) => {
      const proceed = (): void => {
        end(true)
      }
      const end = (hasRoom: boolean): void => {
        waiting.delete(proceed)
        cancel()
        resolve(hasRoom)
      }
      const cancel = clock.after(waitMaxMs, () => {
        end(false)
      })
      waiting.add(proceed)
    })
  }

  /** A buffer for the next piece. */
  allocate(bytes: number): Buffer {
    if (!this.#isLent || bytes < lentBytesMin) return allocatePiece(bytes)
    if (!this.#memory || this.#memory.length < bytes) {
      this.forget()
      this.#memory = takeMemory(bytes)
      heldBytes += this.#memory.length
    }
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
    if (this.#memory && free.length < freeMax) {
      free.push(this.#memory)
      free.sort((a, b) => a.length - b.length)
    }
    this.forget()
  }

  /** The stream has ended, and its last piece may not have left. */
  forget(): void {
    if (!this.#memory) return
    heldBytes -= this.#memory.length
    this.#memory = undefined
    const [first] = waiting
    first?.()
  }
}

function takeMemory(bytes: number): Buffer {
  const at = free.findIndex(({ length }) => length >= bytes)
  const [known] = at < 0 ? [] : free.splice(at, 1)
  return known ?? allocatePiece(bytes + (bytes >> 3))
}

const partBytes = 65_536

/** Bytes as parts of 64 KiB, each of which is written when the one before has been taken: for streams without a buffer. */
export function* inParts(sources: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  let part = allocatePiece(partBytes)
  let used = 0
  for (const source of sources)
    for (let at = 0; at < source.length;) {
      const count = Math.min(partBytes - used, source.length - at)
      part.set(source.subarray(at, at + count), used)
      at += count
      used += count
      if (used < partBytes) continue
      yield part
      part = allocatePiece(partBytes)
      used = 0
    }
  if (used > 0) yield allocatePiece(used, { memory: part })
}
