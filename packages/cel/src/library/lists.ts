/**
 * The list extension, version 3; the list library of Kubernetes; the set extension.
 */
import { ListValue } from '../collections.ts'
import { compare, equal, isComparable, listContains } from '../comparison.ts'
import { member, overload, unguarded, type Library } from '../environment.ts'
import { Duration } from '../timestamps.ts'
import { typeNameOf } from '../type-names.ts'
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
  type Type,
} from '../types.ts'
import { Double, EvaluationError, noSuchOverload, Uint, type Int, type Value } from '../values.ts'
import { add } from './operators.ts'

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

/** The nesting of lists is bounded by the depth of the JSON or the expression that created them. */
const depthMax = 1000

function flatten(list: ListValue, depth: number): Value[] {
  return list
    .values()
    .flatMap((value) => (value instanceof ListValue && depth > 0 ? flatten(value, depth - 1) : [value]))
}

/** More elements would exceed the cost limit of any evaluation; cel-go creates the list first and charges afterwards. */
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
    // Strings and bools equal only themselves; other values are compared one by one.
    const isSimple = typeof value === 'string' || typeof value === 'boolean'
    if (isSimple ? seen.has(value) : kept.some((other) => equal(value, other) === true)) continue
    if (isSimple) seen.add(value)
    kept.push(value)
  }
  return ListValue.of(kept)
}

// The list library of Kubernetes: sum, min, max, isSorted, indexOf.

const a = parameterType('A')
const summable: readonly (readonly [string, Type, Value])[] = [
  ['int', intType, 0],
  ['uint', uintType, new Uint(0n)],
  ['double', doubleType, new Double(0)],
  ['duration', durationType, new Duration(0n)],
]
const comparableTypes: readonly (readonly [string, Type])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
]

export const kubernetesLists: Library = {
  isSorted: comparableTypes.map(([name, type]) =>
    member(`list_${name}_is_sorted_bool`, [listOf(type)], { to: boolType, run: isSorted }),
  ),
  sum: summable.map(([name, type, zero]) =>
    member(`list_${name}_sum_${name}`, [listOf(type)], { to: type, run: (list: ListValue) => sum(list, zero) }),
  ),
  max: comparableTypes.map(([name, type]) =>
    member(`list_${name}_max_${name}`, [listOf(type)], {
      to: type,
      run: (list: ListValue) => extreme(list, 'max', -1),
    }),
  ),
  min: comparableTypes.map(([name, type]) =>
    member(`list_${name}_min_${name}`, [listOf(type)], { to: type, run: (list: ListValue) => extreme(list, 'min', 1) }),
  ),
  indexOf: [
    member('list_a_index_of_int', [listOf(a), a], {
      to: intType,
      run: (list: ListValue, value: Value) => list.values().findIndex((element) => equal(element, value) === true),
    }),
  ],
  lastIndexOf: [
    member('list_a_last_index_of_int', [listOf(a), a], {
      to: intType,
      run: (list: ListValue, value: Value) => list.values().findLastIndex((element) => equal(element, value) === true),
    }),
  ],
}

function isSorted(list: ListValue): Value {
  let previous: Value | undefined
  for (const value of list.values()) {
    if (value instanceof EvaluationError) return value
    const order = previous === undefined ? 0 : compare(previous, value)
    if (typeof order === 'number' && order > 0) return false
    previous = value
  }
  return true
}

function sum(list: ListValue, zero: Value): Value {
  let total = zero
  for (const value of list.values()) {
    total = value instanceof EvaluationError ? value : add(total, value)
    if (total instanceof EvaluationError) return total
  }
  return total
}

/** The smallest or largest element; `beaten` is the sign of a comparison that prefers the other element. */
function extreme(list: ListValue, name: string, beaten: 1 | -1): Value {
  let best: Value | undefined
  for (const value of list.values()) {
    if (value instanceof EvaluationError) return value
    const order = best === undefined ? beaten : compare(best, value)
    if (typeof order === 'number' && Math.sign(order) === beaten) best = value
  }
  return best === undefined ? new EvaluationError(`${name} called on empty list`) : best
}

// The set extension: lists compared as sets.

const setOfT = listOf(parameterType('T'))
const twoSets = [setOfT, setOfT]

export const sets: Library = {
  'sets.contains': [overload('list_sets_contains_list', twoSets, { to: boolType, run: contains })],
  'sets.equivalent': [overload('list_sets_equivalent_list', twoSets, { to: boolType, run: equivalent })],
  'sets.intersects': [
    overload('list_sets_intersects_list', twoSets, {
      to: boolType,
      run: (a: ListValue, b: ListValue) => a.values().some((value) => listContains(b, value) === true),
    }),
  ],
}

function contains(whole: ListValue, part: ListValue): boolean | EvaluationError {
  for (const value of part.values()) {
    const found = listContains(whole, value)
    if (found !== true) return found
  }
  return true
}

function equivalent(a: ListValue, b: ListValue): boolean | EvaluationError {
  const found = contains(a, b)
  return found === true ? contains(b, a) : found
}
