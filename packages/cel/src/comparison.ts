/**
 * Equality and order of values. Numbers of different types compare by value; values of other different types are never equal.
 *
 * Lists and objects from JSON with a schema are stricter than those created by an expression: comparing them with a value of
 * another kind is an error, not false. Lists with `x-kubernetes-list-type` compare as sets or by their keys.
 */
import { JsonMap, ListValue, MapValue } from './collections.ts'
import { deepEqual, getOwn } from './primitives/json.ts'
import { compareUtf8 } from './primitives/text.ts'
import { Duration, Timestamp } from './timestamps.ts'
import {
  Bytes,
  Double,
  EvaluationError,
  isInt,
  noSuchOverload,
  Opaque,
  Optional,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

/** true, false, or an error when the two cannot be compared. */
export function equal(a: Value, b: Value): boolean | EvaluationError {
  if (a === null || b === null) return a === b
  if (a === b && typeof a !== 'object') return true
  switch (typeof a) {
    case 'boolean':
    case 'string':
      return false
    case 'number':
    case 'bigint':
      return typeof b === 'object' && numbersEqual(a, b)
    default:
      return objectsEqual(a, b)
  }
}

/** Whether the list has an element that equals the value. */
export function listContains(list: ListValue, value: Value): boolean | EvaluationError {
  let error: EvaluationError | undefined
  for (let index = 0; index < list.size; index++) {
    const result = equal(list.at(index), value)
    if (result === true) return true
    if (result instanceof EvaluationError) error ??= list.hasSchema ? result : undefined
  }
  return error ?? false
}

/** Below 0, 0, above 0, or NaN when one of them is NaN. */
function compareNumbers(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (a instanceof Double || b instanceof Double) return compareDoubles(asDouble(a), asDouble(b))
  const [left, right] = [whole(a), whole(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

function isNumber(value: Value): boolean {
  return isInt(value) || value instanceof Double || value instanceof Uint
}

/** An integer is compared with a double as a double, even where that loses precision, as in cel-go. */
function asDouble(value: Value): number {
  return Number(value instanceof Double || value instanceof Uint ? value.value : value)
}

function compareDoubles(a: number, b: number): number {
  if (a === b) return 0
  return a < b ? -1 : a > b ? 1 : NaN
}

function whole(value: Value): bigint {
  return value instanceof Uint ? value.value : BigInt(value as number | bigint)
}

function numbersEqual(a: Value, b: Value): boolean {
  return isNumber(b) && compareNumbers(a, b) === 0
}

function objectsEqual(a: object, b: Value): boolean | EvaluationError {
  if (a instanceof ListValue) return listsEqual(a, b)
  if (a instanceof MapValue) return mapsEqual(a, b)
  if (a instanceof Double || a instanceof Uint) return numbersEqual(a, b)
  if (a instanceof Bytes)
    return (
      b instanceof Bytes && a.value.length === b.value.length && a.value.every((byte, index) => byte === b.value[index])
    )
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Optional) return b instanceof Optional && optionalsEqual(a, b)
  if (a instanceof Opaque) return b instanceof Opaque && b.typeName === a.typeName ? a.equals(b) : noSuchOverload
  return a instanceof EvaluationError ? a : noSuchOverload
}

function optionalsEqual(a: Optional, b: Optional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equal(a.value, b.value) === true
}

function listsEqual(a: ListValue, b: Value): boolean | EvaluationError {
  if (!(b instanceof ListValue)) return a.hasSchema ? incomparable(b) : false
  if (a.size !== b.size) return false
  if (a.semantics?.kind === 'set') return setsEqual(a, b)
  if (a.semantics?.kind === 'map') return keyedListsEqual(a, b, a.semantics.keys)
  for (let index = 0; index < a.size; index++) {
    const result = equal(a.at(index), b.at(index))
    if (result !== true) return result
  }
  return true
}

/** An error in the data is returned unchanged. */
function incomparable(value: Value): EvaluationError {
  return value instanceof EvaluationError ? value : noSuchOverload
}

function setsEqual(a: ListValue, b: ListValue): boolean {
  const known = new Set(a.items)
  return b.items.every((item) => known.has(item))
}

function keyedListsEqual(a: ListValue, b: ListValue, keys: readonly string[]): boolean | EvaluationError {
  const byKey = new Map(a.items.map((item, index) => [listKey(item, keys), index]))
  for (let index = 0; index < b.size; index++) {
    const mine = byKey.get(listKey(b.items[index], keys))
    if (mine === undefined) return false
    const result = equal(a.at(mine), b.at(index))
    if (result !== true) return result
  }
  return true
}

/** The identity of an element of a keyed list. */
export function listKey(item: unknown, keys: readonly string[]): string {
  const source =
    item instanceof MapValue
      ? keys.map((key) => item.find(key))
      : keys.map((key) => getOwn((item ?? {}) as Record<string, unknown>, key))
  return JSON.stringify(source)
}

function mapsEqual(a: MapValue, b: Value): boolean | EvaluationError {
  if (!(b instanceof MapValue)) return hasSchema(a) ? incomparable(b) : false
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const [mine, theirs] = [a.find(key), b.find(key)]
    if (mine === undefined && theirs === undefined) continue
    if (mine === undefined || theirs === undefined) return false
    const result = equal(mine, theirs)
    if (result !== true) return hasSchema(a) ? result : false
  }
  return !hasSchema(a) || unknownFieldsEqual(a, b)
}

function hasSchema(map: MapValue): map is JsonMap {
  return map instanceof JsonMap && map.hasSchema
}

/** Fields outside the schema are compared as JSON if both objects have them. */
function unknownFieldsEqual(a: JsonMap, b: MapValue): boolean | EvaluationError {
  for (const [name, json] of Object.entries(a.json)) {
    if (a.knows(name)) continue
    if (!(b instanceof JsonMap)) return noSuchOverload
    const other = getOwn(b.json, name)
    if (other !== undefined && !deepEqual(json, other)) return false
  }
  return true
}

/** Below 0, 0 or above 0, or an error when the values have no order. Numbers compare by value, strings by code points. */
export function compare(a: Value, b: Value): number | EvaluationError {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string') return typeof b === 'string' ? compareUtf8(a, b) : noSuchOverload
  if (isNumber(a)) return isNumber(b) ? numberOrder(compareNumbers(a, b)) : noSuchOverload
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : noSuchOverload
  if (a instanceof Timestamp)
    return b instanceof Timestamp ? a.seconds - b.seconds || a.nanos - b.nanos : noSuchOverload
  if (a instanceof Duration) return b instanceof Duration ? sign(a.nanos - b.nanos) : noSuchOverload
  return a instanceof Bytes && b instanceof Bytes ? compareBytes(a.value, b.value) : noSuchOverload
}

export function isComparable(value: Value): boolean {
  return !(compare(value, value) instanceof EvaluationError) || isNumber(value)
}

function numberOrder(order: number): number | EvaluationError {
  return Number.isNaN(order) ? new EvaluationError('NaN values cannot be ordered') : order
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = a[index]! - b[index]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0
}
