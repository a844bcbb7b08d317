/**
 * Which of two values comes first: numbers by what they are worth, texts by code points, bytes, bools and moments.
 */
import { compareNumbers, isNumber } from './equality.ts'
import { Duration, Timestamp } from './moment.ts'
import { Bytes, EvaluationError, noSuchOverload, type Value } from './value.ts'

/** Below 0, 0 or above 0, or an error when the two have no order. */
export function compare(a: Value, b: Value): number | EvaluationError {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : noSuchOverload
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

/** The order of code points, which is that of UTF-8; JavaScript's own puts U+E000 behind U+1F600. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (left === right) continue
    // A surrogate begins a character beyond all others.
    return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf800) === 0xd800
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
