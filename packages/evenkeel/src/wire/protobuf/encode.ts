/**
 * From a JSON object to the bytes Go would write: fields in the order of their numbers, map keys in the order of their
 * bytes, and every field that is no pointer even when it is zero.
 *
 * Runs backwards because the writer does. Properties that no message knows are not written.
 */
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '#api'
import { depthMax } from './decode.ts'
import { bytesWire, type Field, type FieldType, type Message, type SpecialType } from './messages.ts'
import { splitParts, zeroParts } from './special.ts'

/**
 * Writes the fields of a message, without a tag and a length.
 *
 * @throws {RangeError} when a value is not of the type that its field has.
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

/** Types that Go can leave unset although they are no pointers. */
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

/** One of a list or a map, where null means a zero. */
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
      return writer.varint(value)
    case 'double':
      if (typeof value !== 'number') throw unfit(field, 'a number', value)
      return writer.double(value)
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

/** Special forms do not count as nesting, neither here nor when they are read. */
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

/** What Go writes for a message in which nothing is set: often a dozen zeros. */
function emptyBytes(message: Message): Uint8Array {
  const known = emptyMessages.get(message)
  if (known) return known
  const writer = new Writer(256)
  encodeMessage(writer, message, {})
  const bytes = writer.finish()
  emptyMessages.set(message, bytes)
  return bytes
}

function isInteger(value: JsonValue, type: 'int32' | 'int64'): value is number {
  return type === 'int64' ? Number.isSafeInteger(value) : typeof value === 'number' && (value | 0) === value
}

/** Go sorts by bytes, which differs from JavaScript's order only where surrogates are. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map).sort()
  return keys.some((key) => surrogate.test(key))
    ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    : keys
}

const surrogate = /[\uD800-\uDFFF]/

function unfit(field: Field, wanted: string, value: JsonValue): RangeError {
  const got = Array.isArray(value) ? 'a list' : isJsonObject(value) ? 'an object' : JSON.stringify(value)
  return new RangeError(`cannot write ${field.owner}.${field.name} as protobuf: it must be ${wanted}, got ${got}`)
}

/*
 * Writes the wire format from the end to the beginning: when the length of a message is due, the message is there.
 *
 * Invariants: what was written lies at the end of the buffer, which grows at its front; a finished result is a copy, so
 * one buffer can be used again and again.
 */

export class Writer {
  #buffer: Buffer
  /** Everything from here to the end is written. */
  #position: number
  /** How many messages are open around what is written next; kept by whoever opens them. */
  depth = 0

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafe(capacity)
    this.#position = capacity
  }

  /** How many bytes are written. */
  get length(): number {
    return this.#buffer.length - this.#position
  }

  get capacity(): number {
    return this.#buffer.length
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(this.#position))
  }

  /** Forgets what was written. */
  reset(): void {
    this.#position = this.#buffer.length
    this.depth = 0
  }

  tag(number: number, wireType: number): void {
    this.varint(number * 8 + wireType)
  }

  /** A safe integer; a negative one takes ten bytes, as a 64-bit number does. */
  varint(value: number): void {
    if (value >= 0 && value < 0x80) {
      this.#reserve(1)
      this.#buffer[--this.#position] = value
      return
    }
    this.#reserve(10)
    if (value >= 0 && value < 0x4000) {
      this.#buffer[--this.#position] = value >>> 7
      this.#buffer[--this.#position] = (value & 0x7f) | 0x80
      return
    }
    const bytes = value < 0 ? negativeBytes(value) : positiveBytes(value)
    for (let index = bytes.length - 1; index >= 0; index--) this.#buffer[--this.#position] = bytes[index] ?? 0
  }

  double(value: number): void {
    this.#reserve(8)
    this.#position -= 8
    this.#buffer.writeDoubleLE(value, this.#position)
  }

  /** A text with its length before it. */
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

  /** Most texts are a few letters long, and a loop is faster than a call into the engine. */
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

function negativeBytes(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes: number[] = []
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return bytes
}
