/**
 * Readers of the scalar types of built-in kinds: each takes a JSON value and returns it as Go would print it.
 *
 * Go decodes into its own types and encodes again, so the stored form is canonical: a quantity `0.5` is `500m`, a time is
 * in UTC with whole seconds, base64 has no line breaks. A wrong value throws a {@link DecodeError} with the message of
 * Go's JSON decoder, because clients and tests search for it; `decode.ts` catches it.
 *
 * One difference is known: Go refuses `1.0` for an integer; it is accepted here, because JSON.parse reads it as `1`.
 */
import {
  formatQuantity,
  formatTime,
  parseQuantity,
  parseTimestamp,
  quote,
  type JsonValue,
  isJsonNumber,
} from '@evenkeel/cel/primitives'

// Decoding errors.

export class DecodeError extends Error {
  /** What was found and what was wanted, when the mistake is one of types: the sentence then names the field. */
  readonly types: { readonly found: string; readonly wanted: string } | undefined

  constructor(message: string, types?: { readonly found: string; readonly wanted: string }) {
    super(message)
    this.types = types
  }
}

/** The mistake of meeting one type where another belongs. A number that does not fit is named with its digits. */
export function wrongType(
  value: JsonValue,
  wanted: string,
  { digits = false }: { digits?: boolean } = {},
): DecodeError {
  const found = digits ? `number ${digitsOf(value)}` : goKind(value)
  return new DecodeError('', { found, wanted })
}

/** All digits: a large number would be shown rounded, as 9223372036854776000. */
function digitsOf(value: JsonValue): string {
  return String(Number.isInteger(value) && Math.abs(value as number) < 1e21 ? BigInt(value as number) : value)
}

function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return value === null ? 'null' : typeof value
}

export interface Scalar {
  /** The type as Go writes it. */
  readonly type: string
  /** What Go makes of null where something must stand: in a list or a map. */
  readonly zero: JsonValue
  readonly read: (value: JsonValue) => JsonValue
}

function readString(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value
  throw wrongType(value, 'string')
}

function readBoolean(value: JsonValue): JsonValue {
  if (typeof value === 'boolean') return value
  throw wrongType(value, 'bool')
}

function readFloat(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  throw wrongType(value, 'float64')
}

function readInt32(value: JsonValue): JsonValue {
  if (typeof value === 'number' && (value | 0) === value) return value
  throw wrongType(value, 'int32', { digits: isJsonNumber(value) })
}

function readInt64(value: JsonValue): JsonValue {
  if (typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63) return value
  if (typeof value === 'bigint') return value
  throw wrongType(value, 'int64', { digits: isJsonNumber(value) })
}

function readIntOrString(value: JsonValue): JsonValue {
  return typeof value === 'string' ? value : readInt32(value)
}

function readQuantity(value: JsonValue): JsonValue {
  // Go parses the raw JSON text, so a bare number is as good as a text, and other types are simply no quantities.
  const text = typeof value === 'string' ? value.trim() : isJsonNumber(value) ? String(value) : ''
  if (canonicalQuantity.test(text)) return text
  try {
    return formatQuantity(parseQuantity(text))
  } catch (error) {
    throw new DecodeError(error instanceof RangeError ? error.message : String(error))
  }
}

/** The commonest quantities are canonical already, and short enough to be sure of that without arithmetic. */
const canonicalQuantity = /^(?:[1-9]\d{0,2}(?:m|k|M|G)?|[1-9]\d{0,2}(?:Ki|Mi|Gi)|0)$/

function readTime(value: JsonValue): JsonValue {
  const text = readString(value) as string
  if (plainTime.test(text) && parseTimestamp(text) !== undefined) return text
  const timestamp = parseTimestamp(text)
  if (timestamp === undefined) throw noTime(text, '2006-01-02T15:04:05Z07:00')
  return formatTime(timestamp.seconds * 1000)
}

function readMicroTime(value: JsonValue): JsonValue {
  const text = readString(value) as string
  const timestamp = parseTimestamp(text)
  // Go wants all six digits here, where for other times any number will do.
  if (timestamp === undefined || !sixDigits.test(text)) throw noTime(text, '2006-01-02T15:04:05.000000Z07:00')
  const micros = String(Math.floor(timestamp.nanos / 1000)).padStart(6, '0')
  return `${formatTime(timestamp.seconds * 1000).slice(0, -1)}.${micros}Z`
}

const sixDigits = /\.\d{6}(?:[Zz]|[+-]\d\d:\d\d)$/
const plainTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

function noTime(text: string, layout: string): DecodeError {
  return new DecodeError(`parsing time ${quote(text)} as "${layout}": cannot parse ${quote(text)} as "2006"`)
}

function readBytes(value: JsonValue): JsonValue {
  if (typeof value !== 'string') throw wrongType(value, '[]uint8')
  const text = value.includes('\n') || value.includes('\r') ? value.replace(/[\r\n]/g, '') : value
  const wrong = firstWrongByte(text)
  if (wrong >= 0) throw new DecodeError(`illegal base64 data at input byte ${wrong}`)
  return withoutSpareBits(text)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const isDigit = new Uint8Array(128)
for (const digit of alphabet) isDigit[digit.charCodeAt(0)] = 1

/** Where a text stops being base64; -1 when it never does. A loop and not a pattern: a Secret may hold a megabyte. */
function firstWrongByte(text: string): number {
  let end = text.length
  if (text.endsWith('==')) end -= 2
  else if (text.endsWith('=')) end -= 1
  for (let index = 0; index < end; index++) {
    if (isDigit[text.charCodeAt(index)] !== 1) return index
  }
  // An incomplete last group is noticed at its end.
  return text.length % 4 === 0 ? -1 : text.length - (text.length % 4)
}

/** The last digit before padding carries 2 or 4 bits too many; Go drops them when it encodes again. */
function withoutSpareBits(text: string): string {
  if (!text.endsWith('=')) return text
  const last = text.endsWith('==') ? text.length - 3 : text.length - 2
  const digit = alphabet.indexOf(text.charAt(last))
  const kept = text.endsWith('==') ? digit & 0b110000 : digit & 0b111100
  return kept === digit ? text : `${text.slice(0, last)}${alphabet.charAt(kept)}${text.slice(last + 1)}`
}

export const scalars = {
  string: { type: 'string', zero: '', read: readString },
  boolean: { type: 'bool', zero: false, read: readBoolean },
  float: { type: 'float64', zero: 0, read: readFloat },
  int32: { type: 'int32', zero: 0, read: readInt32 },
  int64: { type: 'int64', zero: 0, read: readInt64 },
  intOrString: { type: 'intstr.IntOrString', zero: 0, read: readIntOrString },
  quantity: { type: 'resource.Quantity', zero: '0', read: readQuantity },
  time: { type: 'v1.Time', zero: null, read: readTime },
  microTime: { type: 'v1.MicroTime', zero: null, read: readMicroTime },
  bytes: { type: '[]uint8', zero: '', read: readBytes },
} as const satisfies Record<string, Scalar>
