/**
 * Memory for the JSON of many objects that arrive together: a list of a hundred thousand is a hundred blocks, not a
 * hundred thousand texts that the garbage collector moves about.
 *
 * Lines are copied as they came, many at a time, and objects stay where they lie in them; what something is cut out of
 * is copied by itself. A block lives as long as one of its objects is held. That suits lists, which come as a whole and
 * go as a whole; what changes later is kept apart from them, so the blocks of a list never take more than the list did.
 */

const blockBytes = 1024 * 1024
/** The first block: many caches hold little, and most of those in simulations. */
const firstBytes = blockBytes / 16
/** With less room than this a new block is begun: else a few lines would be copied at a time. */
const roomBytesMin = 16_384
const noBlock = Buffer.alloc(0)
const loopBytesMax = 256
const newline = 0x0a

/** A beginning and an end, and those of what is cut out in between; equal when nothing is. */
export interface BlockPart {
  readonly start: number
  readonly end: number
  readonly cutStart: number
  readonly cutEnd: number
}

export class PackedBlocks {
  readonly #blocks: Buffer[] = []
  /** How many objects of each block are not let go of. */
  readonly #held: number[] = []
  #block: Buffer = noBlock
  #used = 0

  /** Copies whole lines, as many as a block has room for and at least one; after the last one there is a newline too. */
  copyLines(bytes: Buffer, start: number): CopiedLines {
    if (this.#room < Math.min(roomBytesMin, bytes.length - start + 1)) this.#begin()
    let next = bytes.length
    if (next - start >= this.#room) next = bytes.lastIndexOf(newline, start + this.#room - 1) + 1
    if (next <= start) {
      // A line that is longer than a block gets one of its own.
      next = bytes.indexOf(newline, start) + 1 || bytes.length
      this.#begin(next - start + 1)
    }
    const from = this.#used
    this.#block.set(bytes.subarray(start, next), from)
    this.#used += next - start
    if (bytes[next - 1] !== newline) this.#block[this.#used++] = newline
    return { block: this.#block, start: from, end: this.#used, next }
  }

  /**
   * Keeps a part of some bytes: where it lies when that is in lines that were copied last, and as a copy otherwise. Says
   * where it is now; the answer is used again for the next.
   */
  keep(bytes: Buffer, { start, end, cutStart, cutEnd }: BlockPart): StoredSpan {
    const isInPlace = bytes === this.#block && cutStart === cutEnd
    if (!isInPlace) this.#write(bytes, { start, end, cutStart, cutEnd })
    storedSpan.block = this.#blocks.length - 1
    storedSpan.start = isInPlace ? start : this.#used - (end - start - (cutEnd - cutStart))
    storedSpan.end = isInPlace ? end : this.#used
    this.#held[storedSpan.block] = (this.#held[storedSpan.block] ?? 0) + 1
    return storedSpan
  }

  at(block: number): Buffer {
    return this.#blocks[block] ?? noBlock
  }

  /** One object less: a block of which none is left is given back, unless it is the one that is being filled. */
  release(block: number): void {
    const held = (this.#held[block] = (this.#held[block] ?? 0) - 1)
    if (held === 0 && block < this.#blocks.length - 1) this.#blocks[block] = noBlock
  }

  get #room(): number {
    return this.#block.length - this.#used
  }

  /** Copies a part without what is cut out. */
  #write(bytes: Buffer, { start, end, cutStart, cutEnd }: BlockPart): void {
    const length = end - start - (cutEnd - cutStart)
    if (length > this.#room) this.#begin(length)
    let at = this.#used
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
  }

  #begin(length = 0): void {
    const last = this.#blocks.length - 1
    if (this.#held[last] === 0) this.#blocks[last] = noBlock
    this.#block = Buffer.allocUnsafeSlow(Math.max(last < 0 ? firstBytes : blockBytes, length))
    this.#blocks.push(this.#block)
    this.#held.push(0)
    this.#used = 0
  }
}

/** Where lines are now. */
export interface CopiedLines {
  readonly block: Buffer
  readonly start: number
  readonly end: number
  /** Where the first line is that was not copied. */
  readonly next: number
}

interface StoredSpan {
  /** Which block. */
  block: number
  start: number
  end: number
}

const storedSpan: StoredSpan = { block: 0, start: 0, end: 0 }
