/**
 * Special types: messages whose JSON form is not an object with their fields, such as times and quantities. Their parts
 * are joined into one JSON value, and split again.
 *
 * `undefined` stands for the zero value of Go where JSON has null: the message is empty on the wire and absent in JSON.
 *
 * Examples:
 *
 *     time         { seconds: 1767225600 }          ⇄  "2026-01-01T00:00:00Z"
 *     quantity     { string: "100m" }               ⇄  "100m"
 *     intOrString  { type: 1, strVal: "50%" }       ⇄  "50%"
 *     json         { raw: '{"a":1}' }               ⇄  { "a": 1 }
 */
import {
  exceedsDepth,
  formatQuantity,
  formatTime,
  isJsonObject,
  parseQuantity,
  parseTimestamp,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '#api'
import type { SpecialType } from './messages.ts'

/** The fields of the special types, see {@link specialParts}. Decoded ones may lack any part. */
export interface SpecialParts {
  seconds?: number
  nanos?: number
  string?: string
  type?: number
  intVal?: number
  strVal?: string
  raw?: Uint8Array | string
  items?: JsonValue
  allows?: boolean
  schema?: JsonValue
  jSONSchemas?: JsonValue
  property?: JsonValue
}

/** The JSON value of decoded parts. @throws {RangeError} when the parts are invalid for the type. */
export function joinParts(type: SpecialType, parts: SpecialParts): JsonValue | undefined {
  switch (type) {
    case 'time':
      return joinTime(parts, false)
    case 'microTime':
      return joinTime(parts, true)
    case 'quantity':
      return canonicalQuantity(parts.string ?? '0')
    case 'intOrString':
      return (parts.type ?? 0) === 0 ? (parts.intVal ?? 0) : (parts.strVal ?? '')
    case 'json':
      return joinJson(parts.raw)
    case 'texts':
      return parts.items ?? []
    case 'schemaOrBool':
      return parts.schema ?? parts.allows ?? false
    case 'schemaOrList':
      return parts.jSONSchemas ?? parts.schema
    case 'schemaOrTexts':
      return parts.property ?? parts.schema
  }
}

/** The parts of a JSON value. @throws {RangeError} when the value is invalid for the type. */
export function splitParts(type: SpecialType, value: JsonValue): SpecialParts | undefined {
  switch (type) {
    case 'time':
      return splitTime(value, 1_000_000_000)
    case 'microTime':
      return splitTime(value, 1000)
    case 'quantity':
      return {
        string: canonicalQuantity(
          typeof value === 'number' || typeof value === 'bigint' ? String(value) : textOf(value, 'a quantity'),
        ),
      }
    case 'intOrString':
      return typeof value === 'number'
        ? { type: 0, intVal: value }
        : { type: 1, strVal: textOf(value, 'a number or a text') }
    case 'json':
      return value === null ? {} : { raw: stringifyJson(value) }
    case 'texts':
      return { items: value }
    case 'schemaOrBool':
      return typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value }
    case 'schemaOrList':
      return Array.isArray(value) ? { jSONSchemas: value } : { schema: value }
    case 'schemaOrTexts':
      return Array.isArray(value) ? { property: value } : { schema: value }
  }
}

/** The parts of an unset value. */
export function zeroParts(type: SpecialType): SpecialParts | undefined {
  if (type === 'quantity') return { string: '0' }
  return type === 'intOrString' ? {} : undefined
}

/** Whether a value equals the unset value. */
export function isZero(type: SpecialType, value: JsonValue): boolean {
  return (type === 'quantity' && value === '0') || (type === 'intOrString' && value === 0)
}

/** The start of the year 1: the zero time of Go, which is null in JSON. */
const zeroTimeSeconds = -62_135_596_800
const endOfTimeSeconds = 253_402_300_800
/** Deeper than any field set or default value, and shallow enough for recursive functions. */
const jsonDepthMax = 200
/** Quantities that are certainly canonical: nearly all. */
const canonicalPattern = /^(?:0|[1-9]\d{0,2}(?:n|u|m|k|M|G|T|Ki|Mi|Gi|Ti)?)$/
/** Quantities with huge exponents are left unchanged: a body full of them would take seconds to compute. */
const hugeExponentPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d{3,}$/

function joinTime({ seconds, nanos = 0 }: SpecialParts, withMicros: boolean): string | undefined {
  if (seconds === undefined && nanos === 0) return undefined
  const whole = (seconds ?? 0) + (withMicros ? Math.floor(nanos / 1e9) : 0)
  const micros = withMicros ? Math.floor((nanos - Math.floor(nanos / 1e9) * 1e9) / 1000) : 0
  if (whole === zeroTimeSeconds && micros === 0) return undefined
  if (!(whole >= zeroTimeSeconds && whole < endOfTimeSeconds))
    throw new RangeError('a time lies outside the years 1 to 9999')
  const text = formatTime(whole * 1000)
  return withMicros ? `${text.slice(0, -1)}.${String(micros).padStart(6, '0')}Z` : text
}

function splitTime(value: JsonValue, precision: number): SpecialParts | undefined {
  if (value === null) return undefined
  const timestamp = parseTimestamp(textOf(value, 'a time'))
  if (!timestamp) throw new RangeError(`not a time: ${stringifyJson(value)}`)
  const nanos = timestamp.nanos - (timestamp.nanos % precision)
  if (timestamp.seconds === zeroTimeSeconds && nanos === 0) return undefined
  return { seconds: timestamp.seconds, nanos }
}

function canonicalQuantity(text: string): string {
  return canonicalPattern.test(text) || hugeExponentPattern.test(text) ? text : formatQuantity(parseQuantity(text))
}

function joinJson(raw: Uint8Array | string | undefined): JsonValue | undefined {
  if (raw === undefined || raw.length === 0) return undefined
  const text = typeof raw === 'string' ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')
  const value = parseInner(text)
  if (exceedsDepth(value, jsonDepthMax))
    throw new RangeError(`a JSON text inside is nested more than ${jsonDepthMax} deep`)
  return value === null ? undefined : value
}

function parseInner(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    throw new RangeError('a JSON text inside cannot be read', { cause: error })
  }
}

function textOf(value: JsonValue, what: string): string {
  if (typeof value === 'string') return value
  throw new RangeError(`${what} must be a text, got ${isJsonObject(value) ? 'an object' : stringifyJson(value)}`)
}

/**
 * The fields of the special types, in the notation of the generated tables (see `messages.ts`). `view` is bytes that are
 * neither copied nor converted to base64.
 */
export const specialParts = {
  time: 'seconds=1int64 nanos=2int32',
  microTime: 'seconds=1int64 nanos=2int32',
  quantity: 'string=1*string',
  intOrString: 'type=1int64 intVal=2int32 strVal=3string',
  /** Embedded JSON: raw extensions, field sets, defaults and examples of schemas. */
  json: 'raw=1*view',
  /** A list of strings with a message of its own, so that the encoding distinguishes empty from absent. */
  texts: 'items=1[]string',
  schemaOrBool: 'allows=1bool schema=2*JSONSchemaProps',
  schemaOrList: 'schema=1*JSONSchemaProps jSONSchemas=2[]JSONSchemaProps',
  schemaOrTexts: 'schema=1*JSONSchemaProps property=2[]string',
} as const
