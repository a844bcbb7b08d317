/**
 * Objects of a list that have not been read yet: for each a row of numbers with its position in a block of bytes.
 *
 * A program that caches a hundred thousand objects reads few of them. Rows take a quarter of the memory of items (with
 * their texts and map entries), a third of the time to add, and no time of the garbage collector. A row is found by a
 * hash of its name; the name itself is compared in the block. Worked example, two objects of a list:
 *
 *   block 0   {"type":"ADDED","object":{…"name":"web","resourceVersion":"7"…}}\n{"type":"ADDED","object":{…"name":"db"…
 *             0                        26 …                                61
 *   rows      hash(web)  0  26 61  43 46  67 68       hash, block, object from-to, name from-to, version from-to
 *             hash(db)   0  …
 *   table     [ 0 0 2 0 0 1 0 0 ]                     row numbers from 1, at hash modulo size or the next free slot
 *
 * `Blocks` is the memory: a list of a hundred thousand objects is a hundred blocks, not a hundred thousand strings that
 * the garbage collector has to move. Lines are copied as they arrive, many at a time, and objects stay where they are in
 * them; an object with a part cut out (managed fields) is copied by itself. A block lives as long as one of its objects.
 * That suits lists, which come and go as a whole; later changes are kept apart, so the blocks of a list never take more
 * than the list did.
 *
 * Invariants: names are ASCII (others are refused) and unique; a row that was deleted is never found again; the order is
 * that of arrival.
 */

/** The positions of an object and of what must be known of it: a start and an end for each. */
export interface RowSpan extends BlockPart {
  readonly nameStart: number
  readonly nameEnd: number
  readonly versionStart: number
  readonly versionEnd: number
}

/** A row that becomes an item. */
export interface TakenRow {
  readonly name: string
  readonly version: string
  readonly block: Buffer
  readonly start: number
  readonly end: number
}

/** A row: hash of the name, block, and start and end of object, name and version. Deleted rows have no end. */
const rowWidth = 8
const [hashCell, blockCell, startCell, endCell, nameCell, nameEndCell, versionCell, versionEndCell] = [
  0, 1, 2, 3, 4, 5, 6, 7,
]
const takenRow = -1
/** The memory of a row beside its object, with its slot in the table. */
const rowBytes = 48

export class PackedRows {
  readonly #blocks: PackedBlocks
  #cells = new Int32Array(8 * rowWidth)
  /** Row numbers, counted from 1, at the hash of their names or the next free slot. */
  #table = new Int32Array(16)
  #count = 0
  #size = 0
  #bytes = 0

  constructor(blocks: PackedBlocks) {
    this.#blocks = blocks
  }

  get size(): number {
    return this.#size
  }

  /** The approximate memory of the rows and their objects. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds an object in place of the one with its name; false when its name cannot be kept in this form. */
  put(bytes: Buffer, place: RowSpan): boolean {
    const hash = hashOfBytes(bytes, place.nameStart, place.nameEnd)
    if (hash < 0) return false
    if ((this.#count + 1) * 2 > this.#table.length) this.#grow()
    const mask = this.#table.length - 1
    let slot = hash & mask
    for (let row = this.#table[slot]; row !== undefined && row !== 0; row = this.#table[slot]) {
      if (this.#cell(row - 1, hashCell) === hash && this.#isNamed(row - 1, bytes, place)) {
        this.#drop(row - 1)
        break
      }
      slot = (slot + 1) & mask
    }
    this.#table[slot] = this.#count + 1
    this.#fill(bytes, place, hash)
    return true
  }

  /** Deletes a row and returns it. */
  take(name: string): TakenRow | undefined {
    const hash = hashOfText(name)
    if (hash < 0) return undefined
    const mask = this.#table.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = this.#table[slot] ?? 0
      if (row === 0) return undefined
      if (this.#cell(row - 1, hashCell) !== hash || this.#cell(row - 1, endCell) === takenRow) continue
      const found = this.#read(row - 1)
      if (found.name !== name) continue
      this.#drop(row - 1)
      return found
    }
  }

  /** Deletes and returns all rows. */
  *takeAll(): Generator<TakenRow> {
    for (let row = 0; row < this.#count; row++) {
      if (this.#cell(row, endCell) === takenRow) continue
      const found = this.#read(row)
      this.#drop(row)
      yield found
    }
  }

  #cell(row: number, cell: number): number {
    return this.#cells[row * rowWidth + cell] ?? 0
  }

  #read(row: number): TakenRow {
    const block = this.#blocks.at(this.#cell(row, blockCell))
    return {
      name: block.toString('latin1', this.#cell(row, nameCell), this.#cell(row, nameEndCell)),
      version: block.toString('latin1', this.#cell(row, versionCell), this.#cell(row, versionEndCell)),
      block,
      start: this.#cell(row, startCell),
      end: this.#cell(row, endCell),
    }
  }

  #drop(row: number): void {
    this.#blocks.release(this.#cell(row, blockCell))
    this.#bytes -= rowBytes + this.#cell(row, endCell) - this.#cell(row, startCell)
    this.#cells[row * rowWidth + endCell] = takenRow
    this.#size--
  }

  #fill(bytes: Buffer, place: RowSpan, hash: number): void {
    const { block, start, end } = this.#blocks.keep(bytes, place)
    const shift = start - place.start
    // Positions after the part that was cut out have moved.
    const later = shift - (place.cutEnd - place.cutStart)
    const nameShift = place.nameStart < place.cutEnd ? shift : later
    const versionShift = place.versionStart < place.cutEnd ? shift : later
    const [cells, at] = [this.#cells, this.#count * rowWidth]
    cells[at + hashCell] = hash
    cells[at + blockCell] = block
    cells[at + startCell] = start
    cells[at + endCell] = end
    cells[at + nameCell] = place.nameStart + nameShift
    cells[at + nameEndCell] = place.nameEnd + nameShift
    cells[at + versionCell] = place.versionStart + versionShift
    cells[at + versionEndCell] = place.versionEnd + versionShift
    this.#count++
    this.#size++
    this.#bytes += rowBytes + end - start
  }

  #isNamed(row: number, bytes: Buffer, { nameStart, nameEnd }: RowSpan): boolean {
    if (this.#cell(row, endCell) === takenRow) return false
    const start = this.#cell(row, nameCell)
    const end = this.#cell(row, nameEndCell)
    return (
      end - start === nameEnd - nameStart &&
      this.#blocks.at(this.#cell(row, blockCell)).compare(bytes, nameStart, nameEnd, start, end) === 0
    )
  }

  /** Quadruples the table: unused pages take no memory. Deleted rows keep their numbers, but are no longer in the table. */
  #grow(): void {
    const cells = new Int32Array(this.#cells.length * 4)
    cells.set(this.#cells)
    this.#cells = cells
    this.#table = new Int32Array(this.#table.length * 4)
    const mask = this.#table.length - 1
    for (let row = 0; row < this.#count; row++) {
      if (this.#cell(row, endCell) === takenRow) continue
      let slot = this.#cell(row, hashCell) & mask
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask
      this.#table[slot] = row + 1
    }
  }
}

const hashSeed = 0x811c9dc5
const hashFactor = 0x01000193

/** Below 0 when they are not all ASCII. */
function hashOfBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = hashSeed
  let all = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    all |= byte
    hash = Math.imul(hash ^ byte, hashFactor)
  }
  return all > 0x7f ? -1 : mixed(hash)
}

/** The same for a text. */
function hashOfText(text: string): number {
  let hash = hashSeed
  let all = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    all |= code
    hash = Math.imul(hash ^ code, hashFactor)
  }
  return all > 0x7f ? -1 : mixed(hash)
}

/** Names often differ in a few digits only: their slots must not be neighbours. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (half ^ (half >>> 15)) & 0x7fffffff
}

const blockBytes = 1024 * 1024
/** The size of the first block: many caches keep little, most of all in simulations. */
const firstBytes = blockBytes / 16
/** With less space left than this, a new block is started; otherwise only a few lines would be copied at a time. */
const roomBytesMin = 16_384
const noBlock = Buffer.alloc(0)
const loopBytesMax = 256
const newline = 0x0a

/** A start and an end, and those of the part that is cut out; equal when nothing is. */
interface BlockPart {
  readonly start: number
  readonly end: number
  readonly cutStart: number
  readonly cutEnd: number
}

export class PackedBlocks {
  readonly #blocks: Buffer[] = []
  /** How many objects of each block are in use. */
  readonly #held: number[] = []
  #block: Buffer = noBlock
  #used = 0

  /** Copies whole lines, as many as fit into a block and at least one, each with its newline. */
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
   * Keeps a part of some bytes: in place when it is in the lines that were copied last, else as a copy. Returns its
   * position in an object that is reused by the next call.
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

  /** One object less: a block without objects is freed, unless it is the one that is being filled. */
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

/** Where lines were copied to. */
export interface CopiedLines {
  readonly block: Buffer
  readonly start: number
  readonly end: number
  /** The start of the first line that was not copied. */
  readonly next: number
}

interface StoredSpan {
  /** The block. */
  block: number
  start: number
  end: number
}

const storedSpan: StoredSpan = { block: 0, start: 0, end: 0 }
