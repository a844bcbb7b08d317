/**
 * JSON to protobuf: encodes an object to the bytes that Go would write: fields in number order, map keys in byte order,
 * and every field that is not a pointer even when it is zero. Unknown properties are not written.
 *
 * The writer works from the end to the beginning, so that a message is complete when its length has to be written.
 *
 * Invariants: the output lies at the end of the buffer, which grows at its front; a finished result is a copy, so the
 * buffer can be reused.
 *
 * Example. `{ "a": { "b": "x" } }` with `A a=1*B` and `B b=2string`, bytes in the order they are written:
 *
 *     "x"  1 (length of "x")  0x12 (field 2, bytes)  3 (length of B)  0x0a (field 1, bytes)
 *     result: 0a 03 12 01 78
 */
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, stringifyJson } from '#api'
import { depthMax } from './decode.ts'
import { bytesWire, type Field, type FieldType, type Message, type SpecialType } from './messages.ts'
import { splitParts, zeroParts } from './special.ts'

/**
 * Writes the fields of a message, without a tag and a length.
 *
 * @throws {RangeError} when a value does not have the type of its field.
 */
export function encodeMessage(writer: Writer, message: Message, source: JsonObject): void {
  const { fields } = message
  for (let index = fields.length - 1; index >= 0; index--) {
    const field = fields[index]
    if (field) encodeField(writer, field, field.name === '' ? source : source[field.name])
  }
}

function encodeField(writer: Writer, field: Field, value: JsonValue | undefined): void {
  const isAbsent = value === null || value === undefined
  if (field.shape === 'single') {
    if (isAbsent && isNilable(field)) return
    if (isAbsent) encodeZero(writer, field)
    else encodeValue(writer, field, value)
    writer.tag(field.number, field.wireType)
  } else if (!isAbsent) {
    if (field.shape === 'list') encodeList(writer, field, value)
    else encodeMap(writer, field, value)
  }
}

/** Fields that can be nil in Go: pointers, byte slices and string lists with a type of their own. */
function isNilable({ presence, type }: Field): boolean {
  return presence === 'pointer' || type === 'bytes' || type === 'texts'
}

function encodeList(writer: Writer, field: Field, list: JsonValue): void {
  if (!Array.isArray(list)) throw unfit(field, 'a list', list)
  for (let index = list.length - 1; index >= 0; index--) {
    encodeElement(writer, field, (list as JsonArray)[index] ?? null)
    writer.tag(field.number, field.wireType)
  }
}

function encodeMap(writer: Writer, field: Field, map: JsonValue): void {
  if (!isJsonObject(map)) throw unfit(field, 'an object', map)
  const keys = sortedKeys(map)
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? ''
    const value = map[key]
    if (value === undefined) continue
    const before = writer.length
    if (value !== null || field.type !== 'bytes') {
      encodeElement(writer, field, value)
      writer.tag(2, bytesWire)
    }
    writer.text(key)
    writer.tag(1, bytesWire)
    writer.varint(writer.length - before)
    writer.tag(field.number, bytesWire)
  }
}

/** An element of a list or a map, where null is encoded as the zero value. */
function encodeElement(writer: Writer, field: Field, value: JsonValue): void {
  if (value === null) encodeZero(writer, field)
  else encodeValue(writer, field, value)
}

function encodeValue(writer: Writer, field: Field, value: JsonValue): void {
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') throw unfit(field, 'a text', value)
      return writer.text(value)
    case 'bool':
      if (typeof value !== 'boolean') throw unfit(field, 'true or false', value)
      return writer.varint(value ? 1 : 0)
    case 'int32':
    case 'int64':
      if (!isInteger(value, field.type)) throw unfit(field, `a whole number (${field.type})`, value)
      return writer.integer(value)
    case 'double':
      if (typeof value !== 'number' && typeof value !== 'bigint') throw unfit(field, 'a number', value)
      return writer.double(Number(value))
    case 'bytes':
      if (typeof value !== 'string') throw unfit(field, 'a text in base64', value)
      return encodeBytes(writer, Buffer.from(value, 'base64'))
    case 'view':
      return writer.text(value as string)
    case 'message':
      if (!isJsonObject(value)) throw unfit(field, 'an object', value)
      return encodeNested(writer, field, value)
    default:
      return encodeParts(writer, field, partsOf(field, field.type, value))
  }
}

function encodeZero(writer: Writer, field: Field): void {
  const { type } = field
  if (type === 'double') writer.double(0)
  else if (type === 'message') encodeBytes(writer, emptyBytes(field.message))
  else if (isScalar(type)) writer.varint(0)
  else encodeParts(writer, field, zeroParts(type))
}

function isScalar(type: FieldType): type is 'string' | 'bytes' | 'view' | 'bool' | 'int32' | 'int64' {
  return (
    type === 'string' || type === 'bytes' || type === 'view' || type === 'bool' || type === 'int32' || type === 'int64'
  )
}

function encodeNested(writer: Writer, field: Field, value: JsonObject): void {
  if (++writer.depth > depthMax)
    throw new RangeError(`cannot write ${field.owner} as protobuf: messages are nested more than ${depthMax} deep`)
  const before = writer.length
  encodeMessage(writer, field.message, value)
  writer.varint(writer.length - before)
  writer.depth--
}

/** Special types do not count as nesting, neither here nor in the decoder. */
function encodeParts(writer: Writer, field: Field, parts: object | undefined): void {
  const before = writer.length
  if (parts) encodeMessage(writer, field.message, parts as JsonObject)
  writer.varint(writer.length - before)
}

function partsOf(field: Field, type: SpecialType, value: JsonValue): object | undefined {
  try {
    return splitParts(type, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RangeError(`cannot write ${field.owner}.${field.name} as protobuf: ${error.message}`, { cause: error })
  }
}

function encodeBytes(writer: Writer, bytes: Uint8Array): void {
  writer.raw(bytes)
  writer.varint(bytes.length)
}

const emptyMessages = new WeakMap<Message, Uint8Array>()

/** The encoding of a message without any set field; in Go that is often a dozen zeros. */
function emptyBytes(message: Message): Uint8Array {
  const known = emptyMessages.get(message)
  if (known) return known
  const writer = new Writer(256)
  encodeMessage(writer, message, {})
  const bytes = writer.finish()
  emptyMessages.set(message, bytes)
  return bytes
}

function isInteger(value: JsonValue, type: 'int32' | 'int64'): value is number | bigint {
  if (type === 'int64') return Number.isSafeInteger(value) || typeof value === 'bigint'
  return typeof value === 'number' && (value | 0) === value
}

/** Go sorts keys by bytes, which differs from the order of JavaScript only for surrogate pairs. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map).sort()
  return keys.some((key) => surrogate.test(key))
    ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    : keys
}

const surrogate = /[\uD800-\uDFFF]/

function unfit(field: Field, wanted: string, value: JsonValue): RangeError {
  const got = Array.isArray(value) ? 'a list' : isJsonObject(value) ? 'an object' : stringifyJson(value)
  return new RangeError(`cannot write ${field.owner}.${field.name} as protobuf: it must be ${wanted}, got ${got}`)
}

/** Writes the wire format from the end to the beginning. */
export class Writer {
  #buffer: Buffer
  /** The output lies from here to the end of the buffer. */
  #position: number
  /** The nesting depth at the current position; maintained by the caller. */
  depth = 0

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafe(capacity)
    this.#position = capacity
  }

  /** The number of bytes written. */
  get length(): number {
    return this.#buffer.length - this.#position
  }

  get capacity(): number {
    return this.#buffer.length
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(this.#position))
  }

  /** Discards the output. */
  reset(): void {
    this.#position = this.#buffer.length
    this.depth = 0
  }

  tag(number: number, wireType: number): void {
    this.varint(number * 8 + wireType)
  }

  /** An integer of 64 bits; a negative one takes ten bytes. */
  integer(value: number | bigint): void {
    if (typeof value === 'number') this.varint(value)
    else this.#bytesOf(largeBytes(value))
  }

  /** A safe integer. */
  varint(value: number): void {
    if (value >= 0 && value < 0x80) {
      this.#reserve(1)
      this.#buffer[--this.#position] = value
      return
    }
    if (value >= 0 && value < 0x4000) {
      this.#reserve(2)
      this.#buffer[--this.#position] = value >>> 7
      this.#buffer[--this.#position] = (value & 0x7f) | 0x80
      return
    }
    this.#bytesOf(value < 0 ? largeBytes(BigInt(value)) : positiveBytes(value))
  }

  #bytesOf(bytes: readonly number[]): void {
    this.#reserve(bytes.length)
    for (let index = bytes.length - 1; index >= 0; index--) this.#buffer[--this.#position] = bytes[index] ?? 0
  }

  double(value: number): void {
    this.#reserve(8)
    this.#position -= 8
    this.#buffer.writeDoubleLE(value, this.#position)
  }

  /** A string with its length before it. */
  text(value: string): void {
    const length = this.#shortAscii(value) ? value.length : this.#utf8(value)
    this.varint(length)
  }

  /** Bytes without a length. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#position -= bytes.length
    this.#buffer.set(bytes, this.#position)
  }

  #utf8(value: string): number {
    const length = Buffer.byteLength(value)
    this.#reserve(length)
    this.#position -= length
    this.#buffer.write(value, this.#position, 'utf8')
    return length
  }

  /** Most strings are short, and for those a loop is faster than `Buffer.write`. */
  #shortAscii(value: string): boolean {
    const { length } = value
    if (length > 40) return false
    this.#reserve(length)
    const start = this.#position - length
    for (let index = 0; index < length; index++) {
      const unit = value.charCodeAt(index)
      if (unit >= 0x80) return false
      this.#buffer[start + index] = unit
    }
    this.#position = start
    return true
  }

  #reserve(bytes: number): void {
    if (this.#position >= bytes) return
    const { length } = this
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, length + bytes))
    this.#buffer.copy(larger, larger.length - length, this.#position)
    this.#position = larger.length - length
    this.#buffer = larger
  }
}

function positiveBytes(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return bytes
}

function largeBytes(value: bigint): number[] {
  let rest = BigInt.asUintN(64, value)
  const bytes: number[] = []
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return bytes
}
