/**
 * Random objects of a kind, made from its table, in the form that decoding gives: no zeros that mean absent, no nulls.
 *
 * So encoding and decoding must give back exactly what came out of here.
 */
import {
  integerOf,
  parseJson,
  setOwn,
  stringifyJson,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '#api'
import fc from 'fast-check'
import { findMessage, type Field, type Message, type SpecialType } from './messages.ts'

/** An object with apiVersion and kind. Optional messages stop `depth` levels down. */
export function instanceOf(
  apiVersion: string,
  kind: string,
  { depth = 4, home = apiVersion }: { depth?: number; home?: string } = {},
): fc.Arbitrary<JsonObject> {
  const message = findMessage(home, kind)
  if (!message) throw new RangeError(`no message ${kind} in ${home}`)
  return objectOf(message, depth).map((fields) => ({ ...fields, apiVersion, kind }))
}

const keys = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '\u{1F600}', '\uFFFD'),
)
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => parseJson(JSON.stringify(value)))
const filledJson = fc
  .dictionary(fc.string({ maxLength: 5 }), json, { maxKeys: 3 })
  .map((value) => parseJson(stringifyJson(value)))

function objectOf(message: Message, depth: number): fc.Arbitrary<JsonObject> {
  return fc.tuple(...message.fields.map((field) => fieldOf(field, depth))).map((values) => {
    const object: JsonObjectDraft = {}
    for (const [index, field] of message.fields.entries()) {
      const value = values[index]
      if (field.name === '') Object.assign(object, value)
      else if (value !== undefined && !(field.presence === 'omitted' && isEmpty(value))) object[field.name] = value
    }
    return object
  })
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
}

function fieldOf(field: Field, depth: number): fc.Arbitrary<JsonValue | undefined> {
  const isDeep = field.type === 'message' || field.type.startsWith('schema')
  if (field.shape === 'single' && field.type === 'message' && field.presence !== 'pointer')
    return objectOf(field.message, depth - 1)
  if (isDeep && depth <= 0) return fc.constant(undefined)
  if (field.shape === 'list') return optional(fc.array(elementOf(field, depth), { minLength: 1, maxLength: 2 }))
  if (field.shape === 'map')
    return optional(fc.array(fc.tuple(keys, elementOf(field, depth)), { minLength: 1, maxLength: 3 }).map(toMap))
  return singleOf(field, depth)
}

function singleOf(field: Field, depth: number): fc.Arbitrary<JsonValue | undefined> {
  const element = elementOf(field, depth)
  if (field.presence === 'pointer') return optional(element)
  if (field.presence === 'omitted')
    return optional(element.filter((value) => value !== '' && value !== 0 && value !== false && value !== '0'))
  return ['time', 'microTime', 'json', 'texts', 'bytes'].includes(field.type) ? optional(element) : element
}

function elementOf(field: Field, depth: number): fc.Arbitrary<JsonValue> {
  switch (field.type) {
    case 'string':
      return fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 60 }))
    case 'bool':
      return fc.boolean()
    case 'int32':
      return fc.oneof(fc.integer(), fc.integer({ min: -2, max: 300 }))
    case 'int64':
      return fc.oneof(
        fc.maxSafeInteger(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => integerOf(value) ?? 0),
      )
    case 'double':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
    case 'bytes':
    case 'view':
      return fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('base64'))
    case 'message':
      return objectOf(field.message, depth - 1)
    default:
      return specialOf(field.type, field.message, depth)
  }
}

function specialOf(type: SpecialType, message: Message, depth: number): fc.Arbitrary<JsonValue> {
  const parts = (): fc.Arbitrary<JsonObject> => objectOf(message, depth - 1)
  switch (type) {
    case 'time':
      return fc.constantFrom(
        '2026-03-01T12:00:00Z',
        '1969-12-31T23:59:59Z',
        '9999-12-31T23:59:59Z',
        '0001-01-01T00:00:01Z',
      )
    case 'microTime':
      return fc.constantFrom(
        '2026-03-01T12:00:00.000000Z',
        '2026-03-01T12:00:00.123456Z',
        '1969-12-31T23:59:59.999999Z',
      )
    case 'quantity':
      return fc.constantFrom('0', '100m', '1', '1500m', '1Gi', '1536Mi', '12e6', '-5k', '1025Ki', '999999n')
    case 'intOrString':
      return fc.oneof(
        fc.integer(),
        fc.string({ maxLength: 5 }).filter((text) => text !== ''),
      )
    case 'json':
      return filledJson
    case 'texts':
      return fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 })
    case 'schemaOrBool':
      return fc.oneof(
        fc.boolean(),
        parts().map((object) => object['schema'] ?? true),
      )
    case 'schemaOrList':
      return parts().map((object) => object['jSONSchemas'] ?? object['schema'] ?? { description: 'x' })
    case 'schemaOrTexts':
      return parts().map((object) => object['property'] ?? object['schema'] ?? ['x'])
  }
}

function optional<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: 2 })
}

function toMap(entries: [string, JsonValue][]): JsonObject {
  const map = {}
  for (const [key, value] of entries) setOwn(map, key, value)
  return map
}
