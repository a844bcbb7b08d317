/**
 * Data items of CBOR (RFC 8949): their heads, and the check that bytes are exactly one well-formed item that
 * JSON could have: no bignum, no infinity.
 *
 * A head is one byte, major type and additional information, and up to eight bytes of argument:
 *
 *   83           100_00011             an array of 3 items
 *   19 01f4      000_11001 01f4        the integer 500
 *   5f … ff      010_11111             a byte string in chunks, up to the break
 *
 * The check reads heads only and allocates nothing. It limits depth and number of values before anything is decoded, so
 * that a small body cannot become a large value. Error texts are those of the decoder in kube-apiserver.
 */
import { badRequest, requestEntityTooLarge, type ApiError } from '#api'

export const majorTypes = {
  positive: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  primitive: 7,
} as const

export const typeNames = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
] as const

export const tags = {
  time: 0,
  epoch: 1,
  positiveBignum: 2,
  negativeBignum: 3,
  base64url: 21,
  base64: 22,
  base16: 23,
} as const

/** The additional information of an item of unknown length, and of the break that ends it. */
const indefiniteInfo = 31
export const breakByte = 0xff

/** The head of an item. One object per reader is filled again and again. */
interface ItemHead {
  major: number
  info: number
  /** The argument; lengths above 2^53 are rounded, and longer than any body. */
  argument: number
  isIndefinite: boolean
  /** Where the content begins. */
  end: number
}

export function newHead(): ItemHead {
  return { major: 0, info: 0, argument: 0, isIndefinite: false, end: 0 }
}

/** Reads the head at an offset. @throws {ApiError} `BadRequest`, when there is none. */
export function readHead(bytes: Buffer, at: number, head: ItemHead): void {
  const first = bytes[at]
  if (first === undefined) throw unexpectedEnd()
  const info = first & 31
  head.major = first >> 5
  head.info = info
  head.isIndefinite = false
  head.end = at + 1
  head.argument = info
  if (info < 24) return
  if (info === indefiniteInfo) {
    if (head.major < majorTypes.bytes || head.major === majorTypes.tag) throw invalidInfo(head)
    head.isIndefinite = true
    return
  }
  if (info > 27) throw invalidInfo(head)
  const size = 1 << (info - 24)
  if (at + 1 + size > bytes.length) throw unexpectedEnd()
  head.end = at + 1 + size
  head.argument =
    size === 8
      ? bytes.readUInt32BE(at + 1) * 0x1_0000_0000 + bytes.readUInt32BE(at + 5)
      : bytes.readUIntBE(at + 1, size)
}

/** What one document may have. */
export interface DocumentLimits {
  /** How deep arrays, maps and tags may be nested. */
  readonly depthMax: number
  /** How many values it may have, counted as in JSON: keys, arrays, maps, and a quarter for each item. */
  readonly valuesMax: number
}

/**
 * Checks that bytes are one well-formed item within the limits.
 *
 * @throws {ApiError} `BadRequest`, or `RequestEntityTooLarge` for too many values.
 */
export function checkItem(bytes: Buffer, limits: DocumentLimits): void {
  if (bytes.length === 0) throw badRequest('EOF')
  const end = new ItemCheck(bytes, limits).skip(0, 0)
  if (end < bytes.length)
    throw badRequest(`cbor: ${bytes.length - end} bytes of extraneous data starting at index ${end}`)
}

/** The documents of a well-formed sequence. */
export function splitCbor(sequence: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(sequence.buffer, sequence.byteOffset, sequence.byteLength)
  const check = new ItemCheck(bytes, { depthMax: Infinity, valuesMax: Infinity })
  const documents: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const end = check.skip(at, 0)
    documents.push(bytes.subarray(at, end))
    at = end
  }
  return documents
}

class ItemCheck {
  readonly #bytes: Buffer
  readonly #limits: DocumentLimits
  readonly #head = newHead()
  #quarters = 0

  constructor(bytes: Buffer, limits: DocumentLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  /** The offset after the item at `at`. */
  skip(at: number, depth: number): number {
    const head = this.#head
    readHead(this.#bytes, at, head)
    const { major, argument, isIndefinite, end } = head
    if (major === majorTypes.primitive) return this.#skipPrimitive(at)
    if (major < majorTypes.bytes) return end
    if (major < majorTypes.array) return isIndefinite ? this.#skipChunks(end, major) : this.#skipBytes(end, argument)
    if (depth >= this.#limits.depthMax) throw badRequest(`cbor: exceeded max nested level ${this.#limits.depthMax}`)
    if (major === majorTypes.tag) {
      if (argument === tags.positiveBignum || argument === tags.negativeBignum) throw unacceptable('tag', 'bignum')
      this.#count(1)
      return this.skip(end, depth + 1)
    }
    this.#count(4)
    const perEntry = major === majorTypes.map ? 2 : 1
    // Every item has at least one byte: a count that cannot be right is refused before the items are read.
    if (!isIndefinite && argument * perEntry > this.#bytes.length - end) throw unexpectedEnd()
    return this.#skipItems(end, depth + 1, { perEntry, count: isIndefinite ? Infinity : argument })
  }

  #skipItems(start: number, depth: number, { perEntry, count }: { perEntry: number; count: number }): number {
    let at = start
    for (let index = 0; index < count; index++) {
      if (count === Infinity && this.#bytes[at] === breakByte) return at + 1
      this.#count(perEntry === 2 ? 5 : 1)
      at = this.skip(at, depth)
      if (perEntry === 2) at = this.skip(at, depth)
    }
    return at
  }

  #skipBytes(start: number, length: number): number {
    if (length > this.#bytes.length - start) throw unexpectedEnd()
    return start + length
  }

  #skipChunks(start: number, major: number): number {
    const head = this.#head
    let at = start
    while (this.#bytes[at] !== breakByte) {
      readHead(this.#bytes, at, head)
      if (head.major !== major)
        throw badRequest(`cbor: wrong element type ${typeNames[head.major]} for indefinite-length ${typeNames[major]}`)
      if (head.isIndefinite)
        throw badRequest(`cbor: indefinite-length ${typeNames[major]} chunk is not definite-length`)
      this.#count(1)
      at = this.#skipBytes(head.end, head.argument)
    }
    return at + 1
  }

  #skipPrimitive(at: number): number {
    const { info, argument, isIndefinite, end } = this.#head
    if (isIndefinite) throw badRequest('cbor: unexpected "break" code')
    if (info === 24 && argument < 32) throw badRequest(`cbor: invalid simple value ${argument} for type primitives`)
    if (info > 24) {
      const value = readFloat(this.#bytes, at)
      if (!Number.isFinite(value))
        throw unacceptable('primitives', `floating-point ${Number.isNaN(value) ? 'NaN' : 'infinity'}`)
    }
    return end
  }

  #count(quarters: number): void {
    this.#quarters += quarters
    const { valuesMax } = this.#limits
    if (this.#quarters > 4 * valuesMax) throw requestEntityTooLarge(`the document has more than ${valuesMax} values`)
  }
}

/** The float at an offset; its head says how wide it is. */
export function readFloat(bytes: Buffer, at: number): number {
  const width = bytes[at] ?? 0
  if (width === 0xf9) return halfFloat(bytes.readUInt16BE(at + 1))
  return width === 0xfa ? bytes.readFloatBE(at + 1) : bytes.readDoubleBE(at + 1)
}

function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  const sign = bits & 0x8000 ? -1 : 1
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** A well-formed item that JSON has no value for. */
export function unacceptable(type: string, what: string): ApiError {
  return badRequest(`cbor: data item of cbor type ${type} is not accepted by protocol: ${what}`)
}

function unexpectedEnd(): ApiError {
  return badRequest('unexpected EOF')
}

function invalidInfo({ info, major }: ItemHead): ApiError {
  return badRequest(`cbor: invalid additional information ${info} for type ${typeNames[major]}`)
}
