/**
 * From the bytes of a message to the JSON object that a client writing JSON would have sent.
 *
 * Go writes every field that is no pointer, zero or not. So what is zero or empty and has `omitempty` is left out; what
 * JSON always shows stays (`replicas: 0` of a scale), and what is a pointer stays. Null is never shown but in lists and
 * maps, where leaving it out would lose a place or a key.
 * A field that comes twice: messages are merged, the last of anything else wins. Unknown fields are passed over.
 */
import { setOwn, type JsonObjectDraft, type JsonValue } from '#api'
import { bytesWire, type Field, type FieldType, type Message, type ScalarType, type SpecialType } from './messages.ts'
import type { Reader } from './reader.ts'
import { isZero, joinParts, type SpecialParts } from './special.ts'

/** Reads until the reader's end and says whether anything was put into `target`. */
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

/** One of a list or a map: it is there even when it is empty. */
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

/** Numbers of a list may also come without a tag each. */
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

/** Keys are texts, and so far every value is written with a length. */
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
    // Only the parts of special forms have these, and they take them out again at once.
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
