/**
 * Writes a JSON value as a CBOR document, as kube-apiserver writes it: below the tag 55799 that marks CBOR, texts and keys
 * as byte strings, numbers in the shortest form that keeps their value.
 *
 *   {"a": [1, 1.5]}      d9d9f7 a1 4161 82 01 f93e00
 *
 * An event of a watch is a document whose object is a document with its own tag. Keys are in the order of the object: in
 * CBOR their order has no meaning.
 */
import { integerOf, type JsonObject, type JsonValue } from '#api'
import { majorTypes } from './items.ts'

const selfDescribed = [0xd9, 0xd9, 0xf7] as const

/** One document. */
export function writeCbor(value: JsonValue): Uint8Array {
  const writer = new CborWriter()
  writer.document(value)
  return writer.finish()
}

/** One event of a watch. Documents follow each other without separators: `application/cbor-seq`. */
export function writeCborEvent(type: string, object: JsonObject): Uint8Array {
  const writer = new CborWriter()
  writer.tag()
  writer.head(majorTypes.map, 2)
  writer.value('type')
  writer.value(type)
  writer.value('object')
  writer.document(object)
  return writer.finish()
}

/** Longer texts are measured before they are written. */
const shortTextMax = 23

class CborWriter {
  #bytes = Buffer.allocUnsafe(1024)
  #used = 0

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#used)
  }

  document(value: JsonValue): void {
    this.tag()
    this.value(value)
  }

  tag(): void {
    this.#reserve(selfDescribed.length)
    for (const byte of selfDescribed) this.#bytes[this.#used++] = byte
  }

  value(value: JsonValue): void {
    if (typeof value === 'string') this.#text(value)
    else if (typeof value === 'number') this.#number(value)
    else if (typeof value === 'bigint') this.#integer(value)
    else if (typeof value === 'boolean') this.#byte(value ? 0xf5 : 0xf4)
    else if (value === null) this.#byte(0xf6)
    else if (Array.isArray(value)) {
      this.head(majorTypes.array, value.length)
      for (const item of value as readonly JsonValue[]) this.value(item)
    } else this.#map(value as JsonObject)
  }

  head(major: number, argument: number): void {
    this.#reserve(9)
    const bytes = this.#bytes
    const type = major << 5
    if (argument < 24) this.#used = bytes.writeUInt8(type | argument, this.#used)
    else if (argument < 0x100) this.#used = bytes.writeUInt16BE(((type | 24) << 8) | argument, this.#used)
    else if (argument < 0x1_0000) {
      bytes[this.#used] = type | 25
      this.#used = bytes.writeUInt16BE(argument, this.#used + 1)
    } else if (argument < 0x1_0000_0000) {
      bytes[this.#used] = type | 26
      this.#used = bytes.writeUInt32BE(argument, this.#used + 1)
    } else {
      bytes[this.#used] = type | 27
      this.#used = bytes.writeBigUInt64BE(BigInt(argument), this.#used + 1)
    }
  }

  #map(object: JsonObject): void {
    // As in JSON, a property without a value is absent.
    const entries = Object.entries(object).filter(([, value]) => value !== undefined)
    this.head(majorTypes.map, entries.length)
    for (const [key, value] of entries) {
      this.#text(key)
      this.value(value as JsonValue)
    }
  }

  #text(text: string): void {
    const { length } = text
    if (length <= shortTextMax && this.#short(text)) return
    const size = Buffer.byteLength(text)
    this.head(majorTypes.bytes, size)
    this.#reserve(size)
    this.#used += this.#bytes.write(text, this.#used)
  }

  /** Writes a short text in ASCII: most keys and values. */
  #short(text: string): boolean {
    this.#reserve(text.length + 1)
    const bytes = this.#bytes
    const start = this.#used + 1
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[start + index] = code
    }
    bytes[this.#used] = (majorTypes.bytes << 5) | text.length
    this.#used = start + text.length
    return true
  }

  #number(value: number): void {
    // Beyond the safe integers, an integer is a bigint and a number is a float.
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) this.#float(value)
    else if (value >= 0) this.head(majorTypes.positive, value)
    else this.head(majorTypes.negative, -1 - value)
  }

  #integer(value: bigint): void {
    const integer = integerOf(value)
    if (typeof integer === 'bigint') this.#wideInteger(integer)
    else this.#number(integer ?? Number(value))
  }

  #wideInteger(value: bigint): void {
    this.#reserve(9)
    this.#bytes[this.#used] = ((value < 0n ? majorTypes.negative : majorTypes.positive) << 5) | 27
    this.#used = this.#bytes.writeBigUInt64BE(value < 0n ? -1n - value : value, this.#used + 1)
  }

  #float(value: number): void {
    this.#reserve(9)
    const half = halfBits(value)
    const bytes = this.#bytes
    const at = this.#used
    if (half !== undefined) {
      bytes[at] = 0xf9
      this.#used = bytes.writeUInt16BE(half, at + 1)
    } else if (Math.fround(value) === value) {
      bytes[at] = 0xfa
      this.#used = bytes.writeFloatBE(value, at + 1)
    } else {
      bytes[at] = 0xfb
      this.#used = bytes.writeDoubleBE(value, at + 1)
    }
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#used++] = byte
  }

  #reserve(size: number): void {
    const needed = this.#used + size
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(grown, 0, 0, this.#used)
    this.#bytes = grown
  }
}

/** The bits of a number as a float of 16 bits; undefined when that cannot hold it exactly. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size === 0) return sign
  const exponent = Math.max(Math.floor(Math.log2(size)), -14)
  const scaled = size * 2 ** (10 - exponent)
  if (exponent > 15 || !Number.isInteger(scaled)) return undefined
  // Numbers below 2^-14 have no leading one.
  return sign | (scaled < 1024 ? scaled : ((exponent + 15) << 10) | (scaled - 1024))
}
