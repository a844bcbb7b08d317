/**
 * Memory for the JSON of many objects that arrive together: a list of a hundred thousand is a few hundred blocks, not a
 * hundred thousand texts that the garbage collector moves about.
 *
 * A block lives as long as one of its objects is held. That suits lists, which come as a whole and go as a whole; what
 * changes later is kept apart from them, so the blocks of a list never take more than the list did.
 */

const blockBytes = 1024 * 1024

export class Blocks {
  #block: Buffer = Buffer.alloc(0)
  #used = 0

  /** Copies bytes into a block and says where they are; the answer is used again for the next. */
  keep(bytes: Buffer, start: number, end: number): Kept {
    const length = end - start
    if (length > this.#block.length - this.#used) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(blockBytes, length))
      this.#used = 0
    }
    bytes.copy(this.#block, this.#used, start, end)
    kept.block = this.#block
    kept.start = this.#used
    this.#used += length
    kept.end = this.#used
    return kept
  }
}

interface Kept {
  block: Buffer
  start: number
  end: number
}

const kept: Kept = { block: Buffer.alloc(0), start: 0, end: 0 }
