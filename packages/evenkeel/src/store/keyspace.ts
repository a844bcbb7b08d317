/**
 * Every key in order, with its newest version: a sorted list in blocks.
 *
 *   firsts:  a        h        q
 *   blocks: [a b f]  [h i k m] [q z]
 *
 * A block read from a snapshot stays packed, as the bytes it was read from, until somebody asks
 * for a key in it: opening a large store makes no object for each of its keys.
 *
 * Invariants: keys rise within a block and from block to block; `firsts[i]` is the first key of
 * `blocks[i]`; no block is empty. A look-up is two binary searches; an insertion moves at most
 * one block. There is no hash map beside it: at a million keys that would cost more memory and
 * more time to fill than the searches cost.
 */
import type { Version } from './version.ts'

/** How many keys a block has at most. */
export const blockMax = 512

/** Some keys in a row that nobody has asked for yet. */
export interface PackedBlock {
  readonly first: string
  readonly last: string
  readonly count: number
  /** Makes the versions; called once. */
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

  /** Makes this the newest version of its key. */
  put(version: Version): void {
    if (this.#append(version)) return
    const at = Math.max(this.#blockOf(version.key), 0)
    const block = this.#block(at) ?? []
    const place = lowerBound(block, version.key)
    if (block[place]?.key === version.key) block[place] = version
    else this.#insert(version, at, place)
  }

  remove(key: string): void {
    const at = this.#blockOf(key)
    const block = this.#block(at)
    if (!block) return
    const place = lowerBound(block, key)
    if (block[place]?.key !== key) return
    this.#size--
    block.splice(place, 1)
    const first = block[0]
    if (first) this.#firsts[at] = first.key
    else {
      this.#blocks.splice(at, 1)
      this.#firsts.splice(at, 1)
    }
  }

  /**
   * Visits newest versions in key order, from the first key at or behind `from`, until the visitor gives false or a key
   * does not begin with the prefix, which `from` must do.
   */
  scan(from: string, visit: (version: Version) => boolean, { prefix = '' }: { prefix?: string } = {}): void {
    const start = Math.max(this.#blockOf(from), 0)
    for (let at = start; at < this.#blocks.length; at++) {
      const block = this.#block(at) ?? []
      // What lies between two keys with the prefix has it too, so the last key of a block speaks for all.
      const isInside = block.at(-1)?.key.startsWith(prefix) === true
      for (let place = at === start ? lowerBound(block, from) : 0; place < block.length; place++) {
        const version = block[place]
        if (version && ((!isInside && !version.key.startsWith(prefix)) || !visit(version))) return
      }
    }
  }

  /** Adds keys behind all others; false when they are not. */
  appendPacked(packed: PackedBlock): boolean {
    const last = this.#blocks.at(-1)
    const lastKey = Array.isArray(last) ? last.at(-1)?.key : last?.last
    if (lastKey !== undefined && lastKey >= packed.first) return false
    this.#blocks.push(packed)
    this.#firsts.push(packed.first)
    this.#size += packed.count
    return true
  }

  /** A block, unpacked if it was not. */
  #block(at: number): Version[] | undefined {
    const block = this.#blocks[at]
    if (block === undefined || Array.isArray(block)) return block
    const versions = block.unpack()
    this.#blocks[at] = versions
    return versions
  }

  #insert(version: Version, at: number, place: number): void {
    const block = this.#block(at) ?? []
    block.splice(place, 0, version)
    this.#size++
    if (place === 0) this.#firsts[at] = version.key
    if (block.length > blockMax) this.#split(at, block)
  }

  /** The short way for a key behind all others: full blocks stay full, because keys that rise come in a row. */
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

  /** The last block that begins at or before the key; -1 when the key is before all. */
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

/** The place of the first key at or behind the given one. */
function lowerBound(block: readonly Version[], key: string): number {
  let [low, high] = [0, block.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((block[middle]?.key ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}
