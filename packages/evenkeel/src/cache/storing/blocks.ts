/**
 * Memory for the JSON of many objects that arrive together: a list of a hundred thousand is a hundred blocks, not a
 * hundred thousand texts that the garbage collector moves about.
 *
 * A block lives as long as one of its objects is held. That suits lists, which come as a whole and go as a whole; what
 * changes later is kept apart from them, so the blocks of a list never take more than the list did.
 */

const blockBytes = 1024 * 1024
const noBlock = Buffer.alloc(0)
const loopBytesMax = 256

/** A beginning and an end, and those of what is cut out in between; equal when nothing is. */
export interface BlockPart {
  readonly start: number
  readonly end: number
  readonly cutStart: number
  readonly cutEnd: number
}

export class Blocks {
  readonly #blocks: Buffer[] = []
  /** How many objects of each block are not let go of. */
  readonly #held: number[] = []
  #block: Buffer = noBlock
  #used = 0

  /** Copies a part of some bytes and says where it is now; the answer is used again for the next. */
  keep(bytes: Buffer, { start, end, cutStart, cutEnd }: BlockPart): Kept {
    const length = end - start - (cutEnd - cutStart)
    if (length > this.#block.length - this.#used) this.#begin(length)
    const from = this.#used
    let at = from
    let rest = start
    if (cutEnd > cutStart) {
      // What comes before the cut is a hundred bytes: a call would take longer than the loop.
      if (cutStart - start > loopBytesMax) at += bytes.copy(this.#block, at, rest, cutStart)
      else while (rest < cutStart) this.#block[at++] = bytes[rest++] as number
      rest = cutEnd
    }
    // `bytes.copy` would check all of its arguments a hundred thousand times.
    this.#block.set(new Uint8Array(bytes.buffer, bytes.byteOffset + rest, end - rest), at)
    this.#used += length
    kept.block = this.#blocks.length - 1
    kept.start = from
    kept.end = this.#used
    this.#held[kept.block] = (this.#held[kept.block] ?? 0) + 1
    return kept
  }

  at(block: number): Buffer {
    return this.#blocks[block] ?? noBlock
  }

  /** One object less: a block of which none is left is given back, unless it is the one that is being filled. */
  release(block: number): void {
    const held = this.#held[block] = (this.#held[block] ?? 0) - 1
    if (held === 0 && block < this.#blocks.length - 1) this.#blocks[block] = noBlock
  }

  #begin(length: number): void {
    const last = this.#blocks.length - 1
    if (this.#held[last] === 0) this.#blocks[last] = noBlock
    this.#block = Buffer.allocUnsafeSlow(Math.max(blockBytes, length))
    this.#blocks.push(this.#block)
    this.#used = 0
  }
}

interface Kept {
  /** Which block. */
  block: number
  start: number
  end: number
}

const kept: Kept = { block: 0, start: 0, end: 0 }
