/**
 * A gzip file assembled from parts: the head of a list, compressed runs, uncompressed blocks and the end, with its
 * checksum.
 *
 * A file is one stream of blocks. Blocks that were compressed separately and end at a whole byte can be joined, with
 * uncompressed blocks in between. Every reader accepts it, because it is one member. Nothing is copied until the
 * file is wanted in one buffer.
 *
 * The CRC-32 of `a` followed by `b` is computed from the checksums of both. A CRC is the remainder of a division of
 * polynomials over bits; appending `n` bytes multiplies the polynomial by x^8n, so joining two is one multiplication
 * once x^8n is known. Polynomials have the highest power in the lowest bit, as in gzip.
 */
import { listEnd, type ListText } from './list-response.ts'

/** A run as a part of a gzip file. */
export interface CompressedRun {
  /** A comma, and blocks that end at a whole byte; none of them is the last one. */
  readonly bytes: Uint8Array
  /** Of the text, without the comma. */
  readonly checksum: number
  readonly shift: number
}

/** A header without optional fields: fastest level, unknown operating system. */
export const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff)

const plainMax = 0xffff

/** Uncompressed blocks. `last` ends the stream. */
export function plainBlocks(bytes: Uint8Array, { last = false }: { last?: boolean } = {}): Uint8Array {
  const count = Math.max(1, Math.ceil(bytes.byteLength / plainMax))
  const out = Buffer.alloc(bytes.byteLength + 5 * count)
  for (let index = 0, at = 0; index < count; index++) {
    const part = bytes.subarray(index * plainMax, (index + 1) * plainMax)
    out[at] = last && index === count - 1 ? 1 : 0
    out.writeUInt16LE(part.byteLength, at + 1)
    out.writeUInt16LE(part.byteLength ^ plainMax, at + 3)
    out.set(part, at + 5)
    at += part.byteLength + 5
  }
  return out
}

/** The trailer: checksum and length. */
export function gzipTail({ checksum, bytes }: { checksum: number; bytes: number }): Uint8Array {
  const out = Buffer.alloc(8)
  out.writeUInt32LE(checksum)
  out.writeUInt32LE(bytes % 2 ** 32, 4)
  return out
}

/** The separator of two runs. */
const commaText: Uint8Array = Buffer.from(',')
export const commaBlock = plainBlocks(commaText)

const divisor = 0xedb88320
/** The polynomial 1. */
const unit = 0x80000000

/** x to the power 1, 2, 4, 8, ... */
const squares = [0x40000000]
for (let index = 1; index < 32; index++) squares.push(multiply(squares[index - 1] ?? 0, squares[index - 1] ?? 0))

/** What {@link joinChecksums} multiplies by when `length` bytes follow. */
export function shiftOf(length: number): number {
  let shift = unit
  // 8 is the third square; powers repeat after 2^32 - 1, so the 32 squares are all there are.
  for (let left = length, index = 3; left > 0; left = Math.floor(left / 2), index++) {
    if (left % 2 === 1) shift = multiply(squares[index % 32] ?? 0, shift)
  }
  return shift
}

/** The checksum of two texts in a row; `shift` is that of the second one's length. */
export function joinChecksums(first: number, second: number, { shift }: { shift: number }): number {
  return (multiply(shift, first) ^ second) >>> 0
}

/** The product of two polynomials, divided by the divisor: its rest. */
function multiply(a: number, b: number): number {
  let [product, rest, factor] = [0, b, a]
  while (factor !== 0) {
    // The power of x grows from bit to bit, and `rest` is b times it.
    if (factor < 0 || factor >= unit) product ^= rest
    factor = (factor << 1) >>> 0
    rest = (rest & 1) === 1 ? (rest >>> 1) ^ divisor : rest >>> 1
  }
  return product >>> 0
}

type Checksum = (bytes: Uint8Array) => number

const commaShift = shiftOf(commaText.byteLength)
const endBlock = plainBlocks(listEnd, { last: true })
const endShift = shiftOf(listEnd.byteLength)

export class GzipWriter {
  readonly #checksumOf: Checksum
  readonly #commaChecksum: number
  readonly #size: number
  #checksum: number
  #parts: Uint8Array[]
  #waiting: number
  #isFirst = true

  constructor({ head, size }: ListText, checksumOf: Checksum) {
    this.#checksumOf = checksumOf
    this.#commaChecksum = checksumOf(commaText)
    this.#size = size
    this.#checksum = checksumOf(head)
    const block = plainBlocks(head)
    this.#parts = [gzipHead, block]
    this.#waiting = gzipHead.byteLength + block.byteLength
  }

  /** Bytes that are written and not taken yet. */
  get waiting(): number {
    return this.#waiting
  }

  add({ bytes, checksum, shift }: CompressedRun): void {
    if (!this.#isFirst) this.#checksum = joinChecksums(this.#checksum, this.#commaChecksum, { shift: commaShift })
    this.#checksum = joinChecksums(this.#checksum, checksum, { shift })
    this.#push(this.#isFirst ? bytes.subarray(commaBlock.byteLength) : bytes)
    this.#isFirst = false
  }

  end(): void {
    this.#checksum = joinChecksums(this.#checksum, this.#checksumOf(listEnd), { shift: endShift })
    this.#push(endBlock)
    this.#push(gzipTail({ checksum: this.#checksum, bytes: this.#size }))
  }

  /** The output since the last call. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts
    this.#parts = []
    this.#waiting = 0
    return parts
  }

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#waiting += bytes.byteLength
  }
}
