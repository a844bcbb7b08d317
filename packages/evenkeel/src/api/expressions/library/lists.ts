/**
 * The list extension, version 3.
 */
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../check/type.ts'
import { equal } from '../value/equality.ts'
import type { Int } from '../value/integer.ts'
import { ListValue } from '../value/list.ts'
import { typeNameOf } from '../value/names.ts'
import { EvaluationError, noSuchOverload, type Value } from '../value/value.ts'
import { member, overload, unguarded, type Library } from './declare.ts'
import { compare, isComparable } from '../value/order.ts'

const t = parameterType('T')
const listOfT = listOf(t)
const comparable = [intType, uintType, doubleType, boolType, durationType, timestampType, stringType, bytesType]

export const lists: Library = {
  slice: [member('list_slice', [listOfT, intType, intType], { to: listOfT, run: slice })],
  flatten: unguarded(
    (list, depth = 1) =>
      list instanceof ListValue && typeof depth === 'number' ? flattened(list, depth) : noSuchOverload,
    [
      member('list_flatten', [listOf(listOfT)], { to: listOfT }),
      member('list_flatten_int', [listOf(dynType), intType], { to: listOf(dynType) }),
    ],
  ),
  sort: unguarded(
    (list) => (list instanceof ListValue ? sortByKeys(list, list) : noSuchOverload),
    comparable.map((type) => member(`list_${type.name}_sort`, [listOf(type)], { to: listOf(type) })),
  ),
  '@sortByAssociatedKeys': unguarded(
    (list, keys) => (list instanceof ListValue && keys instanceof ListValue ? sortByKeys(list, keys) : noSuchOverload),
    comparable.map((type) =>
      member(`list_${type.name}_sortByAssociatedKeys`, [listOfT, listOf(type)], { to: listOfT }),
    ),
  ),
  'lists.range': [overload('lists_range', [intType], { to: listOf(intType), run: range })],
  reverse: [
    member('list_reverse', [listOfT], {
      to: listOfT,
      run: (list: ListValue) => ListValue.of([...list.values()].reverse()),
    }),
  ],
  distinct: [member('list_distinct', [listOfT], { to: listOfT, run: distinct })],
}

function slice(list: ListValue, start: Int, end: Int): Value {
  if (start < 0 || end < 0) return new EvaluationError(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end)
    return new EvaluationError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
  if (list.size < end) return new EvaluationError(`cannot slice(${start}, ${end}), list is length ${list.size}`)
  return ListValue.of(list.values().slice(Number(start), Number(end)))
}

function flattened(list: ListValue, depth: number): Value {
  return depth < 0
    ? new EvaluationError('level must be non-negative')
    : ListValue.of(flatten(list, Math.min(depth, depthMax)))
}

/** Lists in lists cannot be deeper than what made them, JSON or an expression, and both are bounded. */
const depthMax = 1000

function flatten(list: ListValue, depth: number): Value[] {
  return list
    .values()
    .flatMap((value) => (value instanceof ListValue && depth > 0 ? flatten(value, depth - 1) : [value]))
}

/** More elements than this cost more than any evaluation may; upstream makes the list first and counts afterwards. */
const rangeMax = 2_000_000

function range(count: Int): Value {
  if (count > rangeMax) return new EvaluationError(`lists.range(${count}) is too large`)
  return ListValue.of(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => index))
}

function sortByKeys(list: ListValue, keys: ListValue): Value {
  if (list.size !== keys.size) {
    return new EvaluationError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    )
  }
  if (list.size === 0) return list
  const wanted = keys.values()
  const type = typeNameOf(wanted[0]!)
  if (!isComparable(wanted[0]!)) return new EvaluationError('list elements must be comparable')
  if (wanted.some((key) => typeNameOf(key) !== type))
    return new EvaluationError('list elements must have the same type')
  const order = wanted.map((_, index) => index)
  order.sort((a, b) => {
    const result = compare(wanted[a]!, wanted[b]!)
    return typeof result === 'number' ? result : 0
  })
  return ListValue.of(order.map((index) => list.at(index)))
}

function distinct(list: ListValue): Value {
  const kept: Value[] = []
  const seen = new Set<Value>()
  for (const value of list.values()) {
    // Texts and bools equal only themselves; the rest is compared one by one.
    const isSimple = typeof value === 'string' || typeof value === 'boolean'
    if (isSimple ? seen.has(value) : kept.some((other) => equal(value, other) === true)) continue
    if (isSimple) seen.add(value)
    kept.push(value)
  }
  return ListValue.of(kept)
}
