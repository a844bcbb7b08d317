/**
 * The operators and their signatures. Operators that choose which operands to evaluate have no implementation here: the planner
 * implements them.
 */
import { ListValue, MapValue } from '../collections.ts'
import { compare, listContains, listKey } from '../comparison.ts'
import { overload, unguarded, type Library, type Overload } from '../environment.ts'
import { addDuration, Duration, durationBetween, durationOf, Timestamp } from '../timestamps.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  parameterType,
  stringType,
  timestampType,
  uintType,
  type Type,
} from '../types.ts'
import {
  addInts,
  addUints,
  Bytes,
  divideInts,
  divideUints,
  Double,
  EvaluationError,
  isInt,
  moduloInts,
  moduloUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  noSuchOverload,
  subtractInts,
  subtractUints,
  Uint,
  type Value,
} from '../values.ts'

const a = parameterType('A')
const b = parameterType('B')
const listOfA = listOf(a)
const mapOfAB = mapOf(a, b)

const named: readonly (readonly [string, Type])[] = [
  ['bool', boolType],
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
]
const numeric = named.filter(([name]) => name === 'int64' || name === 'uint64' || name === 'double')

export const operators: Library = {
  '_?_:_': [overload('conditional', [boolType, a, a], { to: a })],
  '_&&_': [overload('logical_and', [boolType, boolType], { to: boolType })],
  '_||_': [overload('logical_or', [boolType, boolType], { to: boolType })],
  '!_': unguarded(
    (value) => (typeof value === 'boolean' ? !value : noSuchOverload),
    [overload('logical_not', [boolType], { to: boolType })],
  ),
  '@not_strictly_false': unguarded(
    (value) => value instanceof EvaluationError || typeof value !== 'boolean' || value,
    [overload('not_strictly_false', [boolType], { to: boolType })],
  ),
  '_==_': [overload('equals', [a, a], { to: boolType })],
  '_!=_': [overload('not_equals', [a, a], { to: boolType })],
  '_+_': unguarded(add, [
    same('add_bytes', bytesType),
    same('add_double', doubleType),
    same('add_duration_duration', durationType),
    overload('add_duration_timestamp', [durationType, timestampType], { to: timestampType }),
    overload('add_timestamp_duration', [timestampType, durationType], { to: timestampType }),
    same('add_int64', intType),
    same('add_list', listOfA),
    same('add_string', stringType),
    same('add_uint64', uintType),
  ]),
  '_-_': unguarded(subtract, [
    same('subtract_double', doubleType),
    same('subtract_duration_duration', durationType),
    same('subtract_int64', intType),
    overload('subtract_timestamp_duration', [timestampType, durationType], { to: timestampType }),
    overload('subtract_timestamp_timestamp', [timestampType, timestampType], { to: durationType }),
    same('subtract_uint64', uintType),
  ]),
  '_*_': unguarded(multiply, [
    same('multiply_double', doubleType),
    same('multiply_int64', intType),
    same('multiply_uint64', uintType),
  ]),
  '_/_': unguarded(divide, [
    same('divide_double', doubleType),
    same('divide_int64', intType),
    same('divide_uint64', uintType),
  ]),
  '_%_': unguarded(modulo, [same('modulo_int64', intType), same('modulo_uint64', uintType)]),
  '-_': unguarded(negate, [
    overload('negate_double', [doubleType], { to: doubleType }),
    overload('negate_int64', [intType], { to: intType }),
  ]),
  '_<_': relation('less', (order) => order < 0),
  '_<=_': relation('less_equals', (order) => order <= 0),
  '_>_': relation('greater', (order) => order > 0),
  '_>=_': relation('greater_equals', (order) => order >= 0),
  '@in': unguarded(contains, [
    overload('in_list', [a, listOfA], { to: boolType }),
    overload('in_map', [a, mapOfAB], { to: boolType }),
  ]),
  '_[_]': [
    overload('index_list', [listOfA, intType], { to: a }),
    overload('index_map', [mapOfAB, a], { to: b }),
    overload('optional_list_index_int', [optionalOf(listOfA), intType], { to: optionalOf(a) }),
    overload('optional_map_index_value', [optionalOf(mapOfAB), a], { to: optionalOf(b) }),
  ],
  '_[?_]': [
    overload('list_optindex_optional_int', [listOfA, intType], { to: optionalOf(a) }),
    overload('optional_list_optindex_optional_int', [optionalOf(listOfA), intType], { to: optionalOf(a) }),
    overload('map_optindex_optional_value', [mapOfAB, a], { to: optionalOf(b) }),
    overload('optional_map_optindex_optional_value', [optionalOf(mapOfAB), a], { to: optionalOf(b) }),
  ],
  '_?._': [overload('select_optional_field', [dynType, stringType], { to: optionalOf(a) })],
}

function same(id: string, type: Type): Overload {
  return overload(id, [type, type], { to: type })
}

/** The overloads of `<`, `<=`, `>` and `>=`: every type with itself, every number type with every other. */
function relation(name: string, holds: (order: number) => boolean): Overload[] {
  const run = (left: Value, right: Value): Value => {
    const order = compare(left, right)
    return order instanceof EvaluationError ? order : holds(order)
  }
  const overloads = named.map(([type, declared]) => overload(`${name}_${type}`, [declared, declared], { to: boolType }))
  for (const [left, leftType] of numeric) {
    for (const [right, rightType] of numeric) {
      if (left !== right) overloads.push(overload(`${name}_${left}_${right}`, [leftType, rightType], { to: boolType }))
    }
  }
  return unguarded(run, overloads)
}

function contains(value: Value, container: Value): Value {
  if (container instanceof ListValue) return listContains(container, value)
  if (!(container instanceof MapValue)) return noSuchOverload
  const found = container.find(value)
  return found instanceof EvaluationError ? found : found !== undefined
}

// Arithmetic on values of any type; incompatible operands are an error.

export function add(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? addInts(a, b) : noSuchOverload
  if (typeof a === 'string') return typeof b === 'string' ? a + b : noSuchOverload
  if (a instanceof ListValue) return b instanceof ListValue ? addLists(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value + b.value) : noSuchOverload
  if (a instanceof Uint) return b instanceof Uint ? addUints(a, b) : noSuchOverload
  if (a instanceof Bytes) return b instanceof Bytes ? concatenate(a, b) : noSuchOverload
  if (a instanceof Timestamp) return b instanceof Duration ? addDuration(a, b.nanos) : noSuchOverload
  if (!(a instanceof Duration)) return noSuchOverload
  if (b instanceof Timestamp) return addDuration(b, a.nanos)
  return b instanceof Duration ? durationOf(a.nanos + b.nanos) : noSuchOverload
}

function subtract(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? subtractInts(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value - b.value) : noSuchOverload
  if (a instanceof Uint) return b instanceof Uint ? subtractUints(a, b) : noSuchOverload
  if (a instanceof Duration) return b instanceof Duration ? durationOf(a.nanos - b.nanos) : noSuchOverload
  if (!(a instanceof Timestamp)) return noSuchOverload
  if (b instanceof Timestamp) return durationBetween(a, b)
  return b instanceof Duration ? addDuration(a, -b.nanos) : noSuchOverload
}

function multiply(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? multiplyInts(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value * b.value) : noSuchOverload
  return a instanceof Uint && b instanceof Uint ? multiplyUints(a, b) : noSuchOverload
}

function divide(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? divideInts(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value / b.value) : noSuchOverload
  return a instanceof Uint && b instanceof Uint ? divideUints(a, b) : noSuchOverload
}

function modulo(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? moduloInts(a, b) : noSuchOverload
  return a instanceof Uint && b instanceof Uint ? moduloUints(a, b) : noSuchOverload
}

function negate(a: Value): Value {
  if (isInt(a)) return negateInt(a)
  if (a instanceof Double) return new Double(-a.value)
  return a instanceof Duration ? durationOf(-a.nanos) : noSuchOverload
}

function concatenate(a: Bytes, b: Bytes): Bytes {
  const result = new Uint8Array(a.value.length + b.value.length)
  result.set(a.value)
  result.set(b.value, a.value.length)
  return new Bytes(result)
}

/** Addition of lists with a list type: a set adds the missing elements only; a keyed list replaces elements with the same key. */
function addLists(a: ListValue, b: ListValue): ListValue {
  const { semantics } = a
  if (!semantics || !a.adapt) return a.append(b)
  if (semantics.kind === 'set') {
    const known = new Set(a.items)
    return ListValue.ofJson([...a.items, ...b.items.filter((item) => !known.has(item) && known.add(item))], a.adapt, {
      semantics,
    })
  }
  const items = new Map(a.items.map((item) => [listKey(item, semantics.keys), item]))
  for (const item of b.items) items.set(listKey(item, semantics.keys), item)
  return ListValue.ofJson([...items.values()], a.adapt, { semantics })
}
