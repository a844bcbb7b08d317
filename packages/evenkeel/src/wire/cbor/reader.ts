/**
 * Reads a CBOR document as the JSON value that a client using JSON would have sent, as kube-apiserver reads it.
 *
 * Byte strings and text strings are both texts. Integers must fit 64 bits with a sign. NaN, infinities, bignums, `undefined`
 * and keys that are no texts are refused, and so are duplicate keys: in CBOR they are an error, never a warning. A byte
 * string below the tag 21, 22 or 23 becomes its text in base64url, base64 or hexadecimal; times below the tags 0 and 1
 * become RFC 3339 texts; other tags are ignored.
 *
 *   a1 43 6b6579 d6 42 0102      {'key': 22(h'0102')}      {"key": "AQI="}
 *
 * Invariant: the only errors are those of the API, whatever the bytes are.
 */
import { isUtf8 } from 'node:buffer'
import { badRequest, formatTime, parseTimestamp, type JsonObjectDraft, type JsonValue, integerOf } from '#api'
import {
  breakByte,
  checkItem,
  majorTypes,
  newHead,
  readFloat,
  readHead,
  tags,
  typeNames,
  unacceptable,
  type DocumentLimits,
} from './items.ts'

export { splitCbor } from './items.ts'

type ReadCborOptions = Partial<DocumentLimits>

/**
 * Reads one document.
 *
 * @throws {ApiError} `BadRequest` when it is not well-formed or not JSON, `RequestEntityTooLarge` for too many values.
 */
export function readCbor(
  source: Uint8Array,
  { depthMax = 1000, valuesMax = Infinity }: ReadCborOptions = {},
): JsonValue {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  checkItem(bytes, { depthMax, valuesMax })
  return new CborReader(bytes).value()
}

/**
 * The type in a document; empty texts when it has none. Values other than `apiVersion` and `kind` are not read.
 *
 * @throws {ApiError} `BadRequest`, when it is not well-formed or the top level cannot be read.
 */
export function readCborType(
  source: Uint8Array,
  { depthMax = 1000, valuesMax = Infinity }: ReadCborOptions = {},
): { readonly apiVersion: string; readonly kind: string } {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  checkItem(bytes, { depthMax, valuesMax })
  return new CborReader(bytes).type()
}

const integerMax = 0x7fff_ffff_ffff_ffffn

const laterEncodings: Readonly<Record<number, BufferEncoding>> = {
  [tags.base64url]: 'base64url',
  [tags.base64]: 'base64',
  [tags.base16]: 'hex',
}

class CborReader {
  readonly #bytes: Buffer
  readonly #head = newHead()
  #at = 0
  /** The innermost tag that says how byte strings are written as text. */
  #encoding: BufferEncoding = 'utf8'

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  value(): JsonValue {
    const start = this.#at
    const head = this.#head
    readHead(this.#bytes, start, head)
    const { major, argument, isIndefinite } = head
    this.#at = head.end
    switch (major) {
      case majorTypes.positive:
      case majorTypes.negative:
        return head.info < 27 ? (major === majorTypes.positive ? argument : -1 - argument) : this.#wideInteger(major)
      case majorTypes.bytes:
        return this.#string(major, argument, { isIndefinite, encoding: this.#encoding })
      case majorTypes.text:
        return this.#string(major, argument, { isIndefinite, encoding: 'utf8' })
      case majorTypes.array:
        return this.#array(isIndefinite ? Infinity : argument)
      case majorTypes.map:
        return this.#map(isIndefinite ? Infinity : argument)
      case majorTypes.tag:
        return this.#tagged(argument)
      default:
        return this.#primitive(head.info, start)
    }
  }

  type(): { apiVersion: string; kind: string } {
    const type = { apiVersion: '', kind: '' }
    const head = this.#head
    do {
      readHead(this.#bytes, this.#at, head)
      this.#at = head.end
    } while (head.major === majorTypes.tag)
    if (head.major === majorTypes.primitive && head.info === 22) return type
    if (head.major !== majorTypes.map)
      throw badRequest(
        `cbor: cannot unmarshal ${typeNames[head.major]} into Go value of type v1.TypeMeta${head.major === majorTypes.array ? ' (cannot decode CBOR array to struct without toarray option)' : ''}`,
      )
    const seen = new Set<string>()
    const count = head.isIndefinite ? Infinity : head.argument
    for (let index = 0; index < count && !this.#isBreak(count); index++) {
      const key = this.#key()
      if (seen.has(key)) throw duplicateKey(key, index)
      seen.add(key)
      if (key !== 'apiVersion' && key !== 'kind') this.#skip()
      else type[key] = this.#typeField(key)
    }
    return type
  }

  #typeField(key: string): string {
    const value = this.value()
    if (value === null) return ''
    if (typeof value === 'string') return value
    throw badRequest(
      `cbor: cannot unmarshal ${cborTypeOf(value)} into Go struct field v1.TypeMeta.${key} of type string`,
    )
  }

  #wideInteger(major: number): JsonValue {
    const bits = this.#bytes.readBigUInt64BE(this.#at - 8)
    const value = major === majorTypes.positive ? bits : -1n - bits
    if (bits > integerMax)
      throw badRequest(
        `cbor: cannot unmarshal ${typeNames[major]} into Go value of type int64 (${value} overflows Go's int64)`,
      )
    return integerOf(value) ?? Number(value)
  }

  #string(
    major: number,
    length: number,
    { isIndefinite, encoding }: { isIndefinite: boolean; encoding: BufferEncoding },
  ): string {
    const content = isIndefinite ? Buffer.concat(this.#chunks()) : this.#bytes.subarray(this.#at, this.#at + length)
    if (!isIndefinite) this.#at += length
    const text = content.toString(encoding)
    if (major === majorTypes.text && text.includes('\ufffd') && !isUtf8(content))
      throw badRequest('cbor: invalid UTF-8 string')
    return text
  }

  #chunks(): Buffer[] {
    const chunks: Buffer[] = []
    while (!this.#isBreak(Infinity)) {
      readHead(this.#bytes, this.#at, this.#head)
      const { end, argument } = this.#head
      this.#at = end + argument
      chunks.push(this.#bytes.subarray(end, this.#at))
    }
    return chunks
  }

  #array(count: number): JsonValue {
    const items: JsonValue[] = []
    while (items.length < count && !this.#isBreak(count)) items.push(this.value())
    return items
  }

  #map(count: number): JsonValue {
    const object: JsonObjectDraft = {}
    for (let index = 0; index < count && !this.#isBreak(count); index++) {
      const key = this.#key()
      if (Object.hasOwn(object, key)) throw duplicateKey(key, index)
      const value = this.value()
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
      else object[key] = value
    }
    return object
  }

  #key(): string {
    readHead(this.#bytes, this.#at, this.#head)
    const { major, argument, isIndefinite, end } = this.#head
    if (major !== majorTypes.bytes && major !== majorTypes.text)
      throw badRequest(`cbor: cannot unmarshal ${typeNames[major]} into Go value of type string`)
    this.#at = end
    return this.#string(major, argument, { isIndefinite, encoding: 'utf8' })
  }

  #tagged(tag: number): JsonValue {
    if (tag === tags.time || tag === tags.epoch) return this.#time(tag)
    const outer = this.#encoding
    this.#encoding = laterEncodings[tag] ?? outer
    const value = this.value()
    this.#encoding = outer
    return value
  }

  #time(tag: number): string {
    readHead(this.#bytes, this.#at, this.#head)
    const { major } = this.#head
    const wanted = tag === tags.time ? 'text string' : 'integer or floating-point number'
    const fits =
      tag === tags.time
        ? major === majorTypes.text
        : major <= majorTypes.negative || (major === majorTypes.primitive && this.#head.info > 24)
    if (!fits) throw badRequest(`cbor: tag number ${tag} must be followed by ${wanted}, got ${typeNames[major]}`)
    const value = this.value()
    return typeof value === 'string' ? normalTime(value) : epochTime(Number(value))
  }

  #primitive(info: number, start: number): JsonValue {
    if (info === 20 || info === 21) return info === 21
    if (info === 22) return null
    if (info < 25) throw unacceptable('primitives', `simple value ${this.#head.argument} is not recognized`)
    return readFloat(this.#bytes, start)
  }

  /** Skips a value without reading it. */
  #skip(): void {
    readHead(this.#bytes, this.#at, this.#head)
    const { major, argument, isIndefinite, end } = this.#head
    this.#at = end
    if (major === majorTypes.tag) this.#skip()
    if (major < majorTypes.bytes || major > majorTypes.map) return
    if (major < majorTypes.array && !isIndefinite) {
      this.#at += argument
      return
    }
    const count = isIndefinite ? Infinity : major === majorTypes.map ? 2 * argument : argument
    for (let index = 0; index < count && !this.#isBreak(count); index++) this.#skip()
  }

  /** Whether an item of unknown length ends here; the break is consumed. */
  #isBreak(count: number): boolean {
    if (count !== Infinity || this.#bytes[this.#at] !== breakByte) return false
    this.#at++
    return true
  }
}

const layout = '"2006-01-02T15:04:05Z07:00"'

/** A time as Go writes it: without trailing zeros of the fraction, `Z` for no offset. */
function normalTime(text: string): string {
  const [, seconds, fraction = '', offset = ''] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  if (seconds === undefined || parseTimestamp(text) === undefined)
    throw badRequest(`cbor: cannot set text for time.Time: parsing time ${JSON.stringify(text)} as ${layout}`)
  const shown = fraction.slice(0, 10).replace(/\.?0+$/, '')
  return `${seconds}${shown}${/^[+-]00:00$/.test(offset) ? 'Z' : offset}`
}

/** The first second after the year 9999. */
const timeEndSeconds = 253_402_300_800
const timeStartSeconds = -62_167_219_200

function epochTime(epoch: number): string {
  const nanos = Math.trunc((epoch - Math.trunc(epoch)) * 1e9)
  const seconds = Math.trunc(epoch) - (nanos < 0 ? 1 : 0)
  if (seconds < timeStartSeconds || seconds >= timeEndSeconds)
    throw badRequest(
      'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
    )
  const fraction = String(nanos < 0 ? nanos + 1e9 : nanos).padStart(9, '0')
  return normalTime(`${formatTime(seconds * 1000).slice(0, -1)}.${fraction}Z`)
}

function cborTypeOf(value: JsonValue): string {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return typeNames[majorTypes.primitive]
    return typeNames[value < 0 ? majorTypes.negative : majorTypes.positive]
  }
  if (typeof value === 'boolean') return typeNames[majorTypes.primitive]
  return typeNames[Array.isArray(value) ? majorTypes.array : majorTypes.map]
}

function duplicateKey(key: string, index: number): Error {
  return badRequest(`cbor: found duplicate map key ${JSON.stringify(key)} at map element index ${index}`)
}
