/**
 * What of a new object decides who owns which of its fields: its names, the keys of its items, and of its values only
 * their kind and whether they are what Go would write for nothing.
 *
 * Objects of one making have one shape, whatever their values. A shape is a small stand-in for the objects that have it.
 */
import { getOwn, isJsonObject, setOwn } from '../../json.ts'
import type { JsonArray, JsonObject, JsonObjectDraft, JsonValue } from '../../json.ts'
import { typeOfField } from '../typed/field-type.ts'
import type { FieldType, ListOf, MapOf } from '../typed/field-type.ts'
import { itemElementOrNone } from '../typed/item-element.ts'
import { valueKindOf } from '../typed/kinds.ts'

/** An object with every value as short as it can be. */
export type ObjectShape = JsonValue

/** The most values a shape has: what is larger is not worth remembering. */
const valuesMax = 500

/** The shape of an object, or undefined when it is too large or does not fit its type. */
export function objectShapeOf(object: JsonObject, type: FieldType): ObjectShape | undefined {
  const budget = { left: valuesMax }
  const shape = shorten(object, type, budget)
  return budget.left > 0 ? shape : undefined
}

/** Whether an object has a shape. Never deeper than the shape is. */
export function hasShape(value: JsonValue, shape: ObjectShape, type: FieldType): boolean {
  const kind = valueKindOf(type, value)
  if (kind === 'map' && type.map?.atomic === false) return mapHasShape(value, shape, type.map)
  if (kind === 'list' && type.list?.atomic === false) return listHasShape(value, shape, type.list)
  return valueKindOf(type, shape) === kind
}

function mapHasShape(value: JsonValue, shape: ObjectShape, type: MapOf): boolean {
  if (!isJsonObject(value) || !isJsonObject(shape)) return value === null && shape === null
  const names = Object.keys(value)
  const known = Object.keys(shape)
  if (names.length !== known.length) return false
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const field = value[name]
    const twin = shape[name]
    if (name !== known[index] || field === undefined || twin === undefined) return false
    const below = typeOfField(type, name)
    if (!below || !hasShape(field, twin, below)) return false
    const zero = type.always.get(name)
    if (zero !== undefined && isZero(field, zero) !== isZero(twin, zero)) return false
  }
  return true
}

function listHasShape(value: JsonValue, shape: ObjectShape, type: ListOf): boolean {
  if (!Array.isArray(value) || !Array.isArray(shape)) return value === null && shape === null
  if (value.length !== shape.length) return false
  for (let index = 0; index < value.length; index++) {
    const [item, twin] = [value[index] as JsonValue, shape[index] as JsonValue]
    if (itemElementOrNone(type, item) !== itemElementOrNone(type, twin) || !hasShape(item, twin, type.items.type))
      return false
  }
  return true
}

function shorten(value: JsonValue, type: FieldType, budget: { left: number }): ObjectShape | undefined {
  if (--budget.left <= 0) return undefined
  const kind = valueKindOf(type, value)
  if (kind === 'map' && type.map?.atomic === false && isJsonObject(value)) return shortenMap(value, type.map, budget)
  if (kind === 'list' && type.list?.atomic === false && Array.isArray(value))
    return shortenList(value as JsonArray, type.list, budget)
  return shortest(value)
}

function shortenMap(map: JsonObject, type: MapOf, budget: { left: number }): ObjectShape | undefined {
  const shape: JsonObjectDraft = {}
  for (const name of Object.keys(map)) {
    const value = getOwn(map, name)
    const below = typeOfField(type, name)
    const short = value === undefined || !below ? undefined : shorten(value, below, budget)
    if (short === undefined) {
      budget.left = 0
      return undefined
    }
    setOwn(shape, name, short)
  }
  return shape
}

// Keys tell items apart, so they stay as they are.
function shortenList(list: JsonArray, type: ListOf, budget: { left: number }): ObjectShape | undefined {
  const shape: JsonValue[] = []
  for (const item of list) {
    const short = shorten(item, type.items.type, budget)
    if (short === undefined) return undefined
    shape.push(isJsonObject(item) && isJsonObject(short) ? withKeys(short, item, type.keys) : item)
  }
  return shape
}

function withKeys(short: JsonObjectDraft, item: JsonObject, keys: readonly string[]): JsonObject {
  for (const key of keys) if (getOwn(item, key) !== undefined) setOwn(short, key, getOwn(item, key))
  return short
}

function shortest(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value === '' ? '' : 'x'
  if (typeof value === 'number') return value === 0 ? 0 : 1
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.length === 0 ? [] : [0]
  return Object.keys(value).length === 0 ? {} : { x: 0 }
}

/** Whether a value is what is written for a field that was not said: null, an empty text, 0, false or `{}`. */
function isZero(value: JsonValue, zero: JsonValue): boolean {
  return value === zero || (isJsonObject(zero) && isJsonObject(value) && Object.keys(value).length === 0)
}
