/**
 * `+ - * / %` and negation on whatever values come; operands that do not go together are an error.
 */
import {
  addInts,
  addUints,
  divideInts,
  divideUints,
  moduloInts,
  moduloUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  subtractInts,
  subtractUints,
} from '../value/integer.ts'
import { listKey } from '../value/equality.ts'
import { ListValue } from '../value/list.ts'
import { Duration, Timestamp, addDuration, durationBetween, durationOf } from '../value/moment.ts'
import { Bytes, Double, Uint, isInt, noSuchOverload, type Value } from '../value/value.ts'

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

export function subtract(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? subtractInts(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value - b.value) : noSuchOverload
  if (a instanceof Uint) return b instanceof Uint ? subtractUints(a, b) : noSuchOverload
  if (a instanceof Duration) return b instanceof Duration ? durationOf(a.nanos - b.nanos) : noSuchOverload
  if (!(a instanceof Timestamp)) return noSuchOverload
  if (b instanceof Timestamp) return durationBetween(a, b)
  return b instanceof Duration ? addDuration(a, -b.nanos) : noSuchOverload
}

export function multiply(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? multiplyInts(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value * b.value) : noSuchOverload
  return a instanceof Uint && b instanceof Uint ? multiplyUints(a, b) : noSuchOverload
}

export function divide(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? divideInts(a, b) : noSuchOverload
  if (a instanceof Double) return b instanceof Double ? new Double(a.value / b.value) : noSuchOverload
  return a instanceof Uint && b instanceof Uint ? divideUints(a, b) : noSuchOverload
}

export function modulo(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? moduloInts(a, b) : noSuchOverload
  return a instanceof Uint && b instanceof Uint ? moduloUints(a, b) : noSuchOverload
}

export function negate(a: Value): Value {
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

/** A list that its schema calls a set takes only what it lacks; one with keys lets the other's elements replace its own. */
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
