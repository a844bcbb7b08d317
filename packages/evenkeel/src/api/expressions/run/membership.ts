/**
 * `x in [constants]` as one look into a set.
 */
import { ListValue } from '../value/list.ts'
import { canonicalKey } from '../value/map.ts'
import { constant, type Plan } from './planner.ts'
import { Bytes, Double, EvaluationError, Uint, type Value } from '../value/value.ts'

/** Undefined when the list holds something that is no simple value. */
export function planMembership({ run }: Plan, values: Value): Plan | undefined {
  if (!(values instanceof ListValue)) return undefined
  if (values.size === 0) return constant(false)
  const known = new Set<unknown>()
  for (const value of values.values()) {
    if (!isSimple(value)) return undefined
    known.add(keyOf(value))
  }
  return {
    run: (frame) => {
      const value = run(frame)
      return value instanceof EvaluationError ? value : known.has(keyOf(value))
    },
  }
}

function keyOf(value: Value): unknown {
  // A double with a fraction equals nothing but the same double, and a NaN not even itself.
  if (value instanceof Double && !Number.isInteger(value.value))
    return Number.isNaN(value.value) ? {} : `double ${value.value}`
  if (typeof value === 'string') return `"${value}`
  return canonicalKey(value) ?? value
}

function isSimple(value: Value): boolean {
  return (
    value !== null &&
    (typeof value !== 'object' || value instanceof Double || value instanceof Uint) &&
    !(value instanceof Bytes)
  )
}
