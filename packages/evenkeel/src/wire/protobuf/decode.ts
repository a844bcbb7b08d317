/**
 * Protobuf to JSON: decodes a message into the JSON object that a client using JSON would have sent.
 *
 * Go encodes every field that is not a pointer, zero or not. So a zero or empty field with `omitempty` is left out; a
 * field that JSON always shows stays (`replicas: 0` of a Scale), and a pointer that is present stays. Null occurs only in
 * lists and maps, where leaving it out would lose an element or a key. If a field occurs twice, messages are merged, and
 * otherwise the last value wins. Unknown fields are skipped.
 *
 * Invariants: every read is checked against the end of its message; messages are nested at most `depthMax` deep; a small
 * body cannot create many objects, because every message counts against a budget that grows with the body.
 *
 * Example. A Scale with the table row `ScaleSpec replicas=1?int32` and `ScaleStatus replicas=1int32`:
 *
 *     08 00   field 1, varint 0   as ScaleSpec: omitted   as ScaleStatus: { "replicas": 0 }
 *     08 03   field 1, varint 3   { "replicas": 3 } in both
 */
import { badRequest, setOwn, type ApiError, type JsonObjectDraft, type JsonValue } from '#api'
import {
  bytesWire,
  fixed32Wire,
  fixed64Wire,
  varintWire,
  type Field,
  type FieldType,
  type Message,
  type ScalarType,
  type SpecialType,
} from './messages.ts'
import { isZero, joinParts, type SpecialParts } from './special.ts'

/** Decodes up to the end of the reader into `target`; true when at least one field was set. */
export function decodeInto(reader: Reader, message: Message, target: JsonObjectDraft): boolean {
  let filled = false
  while (reader.more) {
    const tag = reader.tag()
    const wireType = tag & 7
    const field = message.byNumber[tag >>> 3]
    if (field === undefined) reader.skip(wireType)
    else if (field.wireType === wireType) filled = decodeField(reader, field, target) || filled
    else if (field.shape === 'list' && wireType === bytesWire) filled = decodePacked(reader, field, target) || filled
    else throw reader.malformed(`${message.name}.${field.name} cannot have wire type ${wireType}`)
  }
  return filled
}

function decodeField(reader: Reader, field: Field, target: JsonObjectDraft): boolean {
  if (field.shape === 'list') {
    listOf(target, field.name).push(decodeElement(reader, field))
    return true
  }
  if (field.shape === 'map') {
    decodeEntry(reader, field, target)
    return true
  }
  return field.type === 'message' ? decodeSingleMessage(reader, field, target) : decodeSingle(reader, field, target)
}

function decodeSingleMessage(reader: Reader, field: Field, target: JsonObjectDraft): boolean {
  const outer = reader.enterMessage()
  const before = field.name === '' ? target : target[field.name]
  const value = (before ?? {}) as JsonObjectDraft
  const filled = decodeInto(reader, field.message, value)
  reader.leaveMessage(outer)
  if (field.name === '') return filled
  if (!filled && field.presence === 'omitted') return false
  target[field.name] = value
  return true
}

function decodeSingle(reader: Reader, field: Field, target: JsonObjectDraft): boolean {
  const { type, name, presence } = field
  const value = isScalar(type) ? decodeScalar(reader, type) : decodeSpecial(reader, type as SpecialType, field.message)
  if (value !== undefined && (presence !== 'omitted' || !isZeroOf(type, value))) {
    target[name] = value
    return true
  }
  if (target[name] !== undefined) delete target[name]
  return false
}

/** An element of a list or a map: it is kept even when it is empty. */
function decodeElement(reader: Reader, field: Field): JsonValue {
  const { type } = field
  if (isScalar(type)) return decodeScalar(reader, type)
  if (type !== 'message') return decodeSpecial(reader, type, field.message) ?? null
  const outer = reader.enterMessage()
  const value = {}
  decodeInto(reader, field.message, value)
  reader.leaveMessage(outer)
  return value
}

/** A packed list: numbers without a tag each. */
function decodePacked(reader: Reader, field: Field, target: JsonObjectDraft): boolean {
  const list = listOf(target, field.name)
  const outer = reader.enter()
  while (reader.more) list.push(decodeElement(reader, field))
  reader.leave(outer)
  return list.length > 0
}

function decodeEntry(reader: Reader, field: Field, target: JsonObjectDraft): void {
  const outer = reader.enter()
  let key = ''
  let value: JsonValue | undefined
  while (reader.more) {
    const tag = reader.tag()
    if (tag === keyTag) key = reader.text()
    else if (tag === valueTag) value = decodeElement(reader, field)
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  setOwn(mapOf(target, field.name), key, value === undefined ? emptyElement(field.type) : value)
}

/** Map keys are strings, and all value types in use are length-delimited. */
const keyTag = 8 + bytesWire
const valueTag = 16 + bytesWire

function emptyElement(type: FieldType): JsonValue {
  if (type === 'string' || type === 'bytes') return ''
  if (type === 'texts') return []
  if (type === 'time') return null
  return type === 'quantity' ? '0' : {}
}

function isScalar(type: FieldType): type is ScalarType {
  return (
    type === 'string' ||
    type === 'int32' ||
    type === 'bool' ||
    type === 'int64' ||
    type === 'bytes' ||
    type === 'double' ||
    type === 'view'
  )
}

function isZeroOf(type: FieldType, value: JsonValue): boolean {
  return value === '' || value === false || (value === 0 && type !== 'json') || isZero(type as SpecialType, value)
}

function decodeScalar(reader: Reader, type: ScalarType): JsonValue {
  switch (type) {
    case 'string':
      return reader.text()
    case 'int32':
      return reader.int32()
    case 'int64':
      return reader.int64()
    case 'bool':
      return reader.bool()
    case 'double':
      return reader.double()
    case 'bytes':
      return reader.base64()
    // Only special types have such parts, and `joinParts` consumes them at once.
    case 'view':
      return reader.view() as unknown as JsonValue
  }
}

function decodeSpecial(reader: Reader, type: SpecialType, message: Message): JsonValue | undefined {
  const outer = reader.enter()
  const parts = {}
  decodeInto(reader, message, parts)
  reader.leave(outer)
  try {
    return joinParts(type, parts as SpecialParts)
  } catch (error) {
    throw error instanceof RangeError ? reader.malformed(error.message) : error
  }
}

function listOf(target: JsonObjectDraft, name: string): JsonValue[] {
  return (target[name] ??= []) as JsonValue[]
}

function mapOf(target: JsonObjectDraft, name: string): JsonObjectDraft {
  return (target[name] ??= {}) as JsonObjectDraft
}

/** How deep messages may be nested, map entries and special types not counted. */
export const depthMax = 100
const shortTextMax = 8

/** Reads the wire format: tags, varints, lengths. */
export class Reader {
  readonly #bytes: Buffer
  #position: number
  #end: number
  #depth = 0
  /** The message budget. Real messages are longer than 8 bytes on average, because Go encodes empty strings and zeros too. */
  #messagesLeft: number
  #low = 0
  #high = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#position = 0
    this.#end = bytes.byteLength
    this.#messagesLeft = 1000 + Math.floor(bytes.byteLength / 8)
  }

  /** Whether the current message has more fields. */
  get more(): boolean {
    return this.#position < this.#end
  }

  /** The tag of the next field: its number times 8, plus its wire type. */
  tag(): number {
    this.#varint()
    if (this.#high !== 0 || this.#low < 8) throw this.malformed('a field has an illegal number')
    return this.#low
  }

  int32(): number {
    this.#varint()
    return this.#low | 0
  }

  int64(): number | bigint {
    this.#varint()
    const value = (this.#high | 0) * 0x1_0000_0000 + this.#low
    return Number.isSafeInteger(value) ? value : BigInt(this.#high | 0) * 0x1_0000_0000n + BigInt(this.#low)
  }

  bool(): boolean {
    this.#varint()
    return (this.#low | this.#high) !== 0
  }

  double(): number {
    const value = this.#bytes.readDoubleLE(this.#take(8))
    if (!Number.isFinite(value)) throw this.malformed('a number is infinite or not a number')
    return value
  }

  text(): string {
    const length = this.#length()
    const start = this.#take(length)
    return (
      (length <= shortTextMax ? this.#shortAscii(start, start + length) : undefined) ??
      this.#bytes.toString('utf8', start, start + length)
    )
  }

  base64(): string {
    const length = this.#length()
    const start = this.#take(length)
    return this.#bytes.toString('base64', start, start + length)
  }

  /** A view of the body, not a copy. */
  view(): Uint8Array {
    const length = this.#length()
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Enters a length-delimited part; pass the result to {@link leave}. */
  enter(): number {
    const length = this.#length()
    if (length > this.#end - this.#position) throw this.#truncated()
    const outer = this.#end
    this.#end = this.#position + length
    return outer
  }

  leave(outer: number): void {
    this.#end = outer
  }

  /** Like {@link enter}, for a message: checks the depth and the budget. */
  enterMessage(): number {
    if (++this.#depth > depthMax) throw this.malformed(`messages are nested more than ${depthMax} deep`)
    if (--this.#messagesLeft < 0) throw this.malformed('it holds far more messages than its length can need')
    return this.enter()
  }

  leaveMessage(outer: number): void {
    this.#depth--
    this.#end = outer
  }

  /** Skips an unknown field. */
  skip(wireType: number): void {
    if (wireType === varintWire) this.#varint()
    else if (wireType === fixed64Wire) this.#take(8)
    else if (wireType === bytesWire) this.#take(this.#length())
    else if (wireType === fixed32Wire) this.#take(4)
    else throw this.malformed(`wire type ${wireType} is not allowed`)
  }

  malformed(what: string): ApiError {
    return badRequest(`the body is not valid protobuf: ${what} (at byte ${this.#position})`)
  }

  #truncated(): ApiError {
    return this.malformed('it ends in the middle of a field')
  }

  /** For a few characters this is faster than `Buffer.toString`. */
  #shortAscii(start: number, end: number): string | undefined {
    let text = ''
    for (let index = start; index < end; index++) {
      const byte = this.#bytes[index] ?? 0
      if (byte >= 0x80) return undefined
      text += String.fromCharCode(byte)
    }
    return text
  }

  #take(length: number): number {
    const start = this.#position
    if (length > this.#end - start) throw this.#truncated()
    this.#position = start + length
    return start
  }

  #length(): number {
    this.#varint()
    if (this.#high !== 0) throw this.malformed('a length is too large')
    return this.#low
  }

  /** Reads into `#low` and `#high`, 32 unsigned bits each: allocating an object per number would be slow. */
  #varint(): void {
    const first = this.#byte()
    this.#high = 0
    if (first < 0x80) {
      this.#low = first
      return
    }
    this.#low = first & 0x7f
    for (let shift = 7; shift < 70; shift += 7) {
      const byte = this.#byte()
      this.#addBits(byte & 0x7f, shift)
      if (byte < 0x80) return
    }
    throw this.malformed('a number takes more than 10 bytes')
  }

  #addBits(bits: number, shift: number): void {
    if (shift < 28) this.#low = (this.#low | (bits << shift)) >>> 0
    else if (shift === 28) {
      this.#low = (this.#low | (bits << 28)) >>> 0
      this.#high = bits >>> 4
    } else if (shift < 63) this.#high = (this.#high | (bits << (shift - 32))) >>> 0
    else if (bits > 1) throw this.malformed('a number takes more than 64 bits')
    else this.#high = (this.#high | (bits << 31)) >>> 0
  }

  #byte(): number {
    const byte = this.#position < this.#end ? this.#bytes[this.#position] : undefined
    if (byte === undefined) throw this.#truncated()
    this.#position++
    return byte
  }
}
