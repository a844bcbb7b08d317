/**
 * Optional values, and the map insertion of two-variable macros. `or` and `orValue` evaluate their second operand only if
 * necessary, so the planner implements them.
 */
import { EntryMap, ListValue, MapValue } from '../collections.ts'
import { member, overload, type Library } from '../environment.ts'
import { Duration, Timestamp } from '../timestamps.ts'
import { describeValue } from '../type-names.ts'
import { boolType, listOf, mapOf, optionalOf, parameterType } from '../types.ts'
import { Bytes, Double, EvaluationError, noSuchOverload, Optional, Uint, type Value } from '../values.ts'

const k = parameterType('K')
const v = parameterType('V')
const optionalOfV = optionalOf(v)
const listOfV = listOf(v)
const mapOfKV = mapOf(k, v)
const noValue = new EvaluationError('optional.none() dereference')

export const optionals: Library = {
  'optional.of': [overload('optional_of', [v], { to: optionalOfV, run: Optional.of })],
  'optional.ofNonZeroValue': [
    overload('optional_ofNonZeroValue', [v], {
      to: optionalOfV,
      run: (value: Value) => (isZero(value) ? Optional.none : Optional.of(value)),
    }),
  ],
  'optional.none': [overload('optional_none', [], { to: optionalOfV, run: () => Optional.none })],
  'optional.unwrap': [overload('optional_unwrap', [listOf(optionalOfV)], { to: listOfV, run: unwrap })],
  unwrapOpt: [member('optional_unwrapOpt', [listOf(optionalOfV)], { to: listOfV, run: unwrap })],
  value: [
    member('optional_value', [optionalOfV], {
      to: v,
      run: ({ value }: Optional) => value ?? (value === undefined ? noValue : value),
    }),
  ],
  hasValue: [
    member('optional_hasValue', [optionalOfV], { to: boolType, run: ({ value }: Optional) => value !== undefined }),
  ],
  or: [member('optional_or_optional', [optionalOfV, optionalOfV], { to: optionalOfV })],
  orValue: [member('optional_orValue_value', [optionalOfV, v], { to: v })],
  first: [
    member('list_first', [listOfV], {
      to: optionalOfV,
      run: (list: ListValue) => (list.size === 0 ? Optional.none : Optional.of(list.at(0))),
    }),
  ],
  last: [
    member('list_last', [listOfV], {
      to: optionalOfV,
      run: (list: ListValue) => (list.size === 0 ? Optional.none : Optional.of(list.at(list.size - 1))),
    }),
  ],
  'cel.@mapInsert': [
    overload('@mapInsert_map_key_value', [mapOfKV, k, v], { to: mapOfKV, run: insert }),
    overload('@mapInsert_map_map', [mapOfKV, mapOfKV], { to: mapOfKV, run: insertAll }),
  ],
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Bytes) return value.value.length === 0
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0
  if (value instanceof Duration) return value.nanos === 0n
  // The zero time of Go is the start of the year 1.
  return value instanceof Timestamp ? value.seconds === -62_135_596_800 && value.nanos === 0 : value === Optional.none
}

function unwrap(list: ListValue): Value {
  const values: Value[] = []
  for (const value of list.values()) {
    if (!(value instanceof Optional)) return noSuchOverload
    if (value.value !== undefined) values.push(value.value)
  }
  return ListValue.of(values)
}

function insert(map: MapValue, key: Value, value: Value): Value {
  return map instanceof EntryMap ? map.insert(key, value, describeValue) : noSuchOverload
}

function insertAll(map: MapValue, others: MapValue): Value {
  let result: Value = map
  for (const key of others.keys()) {
    if (!(result instanceof MapValue)) return result
    result = insert(result, key, others.find(key) ?? null)
  }
  return result
}
