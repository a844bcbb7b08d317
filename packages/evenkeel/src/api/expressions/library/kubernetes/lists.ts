/**
 * What Kubernetes adds to lists: sums, extremes, order and places.
 */
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listOf,
  parameterType,
  stringType,
  timestampType,
  uintType,
  type Type,
} from '../../check/type.ts'
import { equal } from '../../value/equality.ts'
import type { ListValue } from '../../value/list.ts'
import { Duration } from '../../value/moment.ts'
import { Double, EvaluationError, Uint, type Value } from '../../value/value.ts'
import { add } from '../arithmetic.ts'
import { member, type Library } from '../declare.ts'
import { compare } from '../../value/order.ts'

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

/** The element that no other beats; `beaten` is the sign of the order in which another one is better. */
function extreme(list: ListValue, name: string, beaten: 1 | -1): Value {
  let best: Value | undefined
  for (const value of list.values()) {
    if (value instanceof EvaluationError) return value
    const order = best === undefined ? beaten : compare(best, value)
    if (typeof order === 'number' && Math.sign(order) === beaten) best = value
  }
  return best === undefined ? new EvaluationError(`${name} called on empty list`) : best
}
