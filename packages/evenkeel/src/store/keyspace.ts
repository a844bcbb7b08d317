/**
 * The keyspace: every key in order, with its newest version, as a sorted list of blocks.
 *
 *   firsts:  a        h        q
 *   blocks: [a b f]  [h i k m] [q z]
 *
 * A block read from a snapshot stays packed, as the bytes it was read from, until a key in it is
 * accessed: opening a large store creates no object per key.
 *
 * Invariants: keys rise within a block and from block to block; `firsts[i]` is the first key of
 * `blocks[i]`; no block is empty. A lookup is two binary searches; an insertion moves at most one
 * block. There is no hash map next to it: at a million keys it would cost more memory, and more
 * time to fill, than the searches cost.
 *
 * Example with blocks of at most 4 keys:
 *
 *   put a b c d   [a b c d]
 *   put e         [a b c d] [e]            a key after all others starts a new block: full blocks stay full
 *   put bb        [a b] [bb c d] [e]       [a b bb c d] is too long and is split in half
 *   remove e      [a b] [bb c d]           an empty block is dropped
 *   find c        firsts = a, bb: the last one at or before c is bb; then a search in [bb c d]
 */
import type { Version } from './version.ts'

/** The maximum number of keys in a block. */
export const blockMax = 512

/** A block of consecutive keys that has not been accessed yet. */
export interface PackedBlock {
  readonly first: string
  readonly last: string
  readonly count: number
  /** Creates the versions; called once. */
  readonly unpack: () => Version[]
}

export class Keyspace {
  readonly #blocks: (Version[] | PackedBlock)[] = []
  readonly #firsts: string[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  find(key: string): Version | undefined {
    const block = this.#block(this.#blockOf(key))
    const version = block?.[lowerBound(block, key)]
    return version?.key === key ? version : undefined
  }

  /** Sets the newest version of its key. */
  put(version: Version): void {
    if (this.#append(version)) return
    const at = Math.max(this.#blockOf(version.key), 0)
    const block = this.#block(at) ?? []
    const index = lowerBound(block, version.key)
    if (block[index]?.key === version.key) block[index] = version
    else this.#insert(version, at, index)
  }

  remove(key: string): void {
    const at = this.#blockOf(key)
    const block = this.#block(at)
    if (!block) return
    const index = lowerBound(block, key)
    if (block[index]?.key !== key) return
    this.#size--
    block.splice(index, 1)
    const first = block[0]
    if (first) this.#firsts[at] = first.key
    else {
      this.#blocks.splice(at, 1)
      this.#firsts.splice(at, 1)
    }
  }

  /**
   * Visits newest versions in key order, from the first key at or after `from`, until the visitor returns false or a key
   * does not start with the prefix. `from` must start with the prefix.
   */
  scan(from: string, visit: (version: Version) => boolean, { prefix = '' }: { prefix?: string } = {}): void {
    const start = Math.max(this.#blockOf(from), 0)
    for (let at = start; at < this.#blocks.length; at++) {
      const block = this.#block(at) ?? []
      // All keys between two keys with the prefix have it too, so checking the last key of a block is enough.
      const isInside = block.at(-1)?.key.startsWith(prefix) === true
      for (let index = at === start ? lowerBound(block, from) : 0; index < block.length; index++) {
        const version = block[index]
        if (version && ((!isInside && !version.key.startsWith(prefix)) || !visit(version))) return
      }
    }
  }

  /** Appends a block; false when its keys are not after all others. */
  appendPacked(packed: PackedBlock): boolean {
    const last = this.#blocks.at(-1)
    const lastKey = Array.isArray(last) ? last.at(-1)?.key : last?.last
    if (lastKey !== undefined && lastKey >= packed.first) return false
    this.#blocks.push(packed)
    this.#firsts.push(packed.first)
    this.#size += packed.count
    return true
  }

  /** A block, unpacked if necessary. */
  #block(at: number): Version[] | undefined {
    const block = this.#blocks[at]
    if (block === undefined || Array.isArray(block)) return block
    const versions = block.unpack()
    this.#blocks[at] = versions
    return versions
  }

  #insert(version: Version, at: number, index: number): void {
    const block = this.#block(at) ?? []
    block.splice(index, 0, version)
    this.#size++
    if (index === 0) this.#firsts[at] = version.key
    if (block.length > blockMax) this.#split(at, block)
  }

  /** The fast path for a key after all others. Full blocks stay full, because rising keys come in sequence. */
  #append(version: Version): boolean {
    const block = this.#block(this.#blocks.length - 1)
    const last = block?.at(-1)
    if (last && last.key >= version.key) return false
    if (block && block.length < blockMax) block.push(version)
    else {
      this.#blocks.push([version])
      this.#firsts.push(version.key)
    }
    this.#size++
    return true
  }

  #split(at: number, block: Version[]): void {
    const upper = block.splice(block.length >> 1)
    this.#blocks.splice(at + 1, 0, upper)
    this.#firsts.splice(at + 1, 0, upper[0]?.key ?? '')
  }

  /** The index of the last block that starts at or before the key; -1 when the key is before all blocks. */
  #blockOf(key: string): number {
    const firsts = this.#firsts
    let [low, high] = [0, firsts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((firsts[middle] ?? '') <= key) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** The index of the first key at or after the given one. */
function lowerBound(block: readonly Version[], key: string): number {
  let [low, high] = [0, block.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((block[middle]?.key ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}
