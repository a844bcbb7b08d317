/**
 * The loop behind all macros.
 *
 * The accumulator is computed when it is first asked for. A list or map that starts empty grows in place, since nobody else
 * can see it before the loop ends.
 */
import { accumulatorName, type ComprehensionNode } from '../syntax/tree.ts'
import type { Frame } from './frame.ts'
import { ListValue } from '../value/list.ts'
import { EntryMap, MapValue } from '../value/map.ts'
import { typeNameOf } from '../value/names.ts'
import type { Plan, Planner } from './planner.ts'
import { EvaluationError, type Value } from '../value/value.ts'

export function planComprehension(planner: Planner, node: ComprehensionNode): Plan {
  const range = planner.plan(node.range).run
  const initial = planner.plan(node.initial).run
  const [accumulator, first, second] = [planner.newSlot(), planner.newSlot(), planner.newSlot()]
  // A macro that only names a value must not let it grow: the expression may use it twice.
  const start = node.accumulator === accumulatorName ? (frame: Frame) => startAccumulating(initial(frame)) : initial
  const outer = {
    [node.accumulator]: (frame: Frame) => {
      const value = frame.slots[accumulator]
      return value === undefined ? (frame.slots[accumulator] = start(frame)) : value
    },
  }
  const inner = {
    ...outer,
    [node.variable]: (frame: Frame) => frame.slots[first]!,
    ...(node.secondVariable !== undefined && { [node.secondVariable]: (frame: Frame) => frame.slots[second]! }),
  }
  const condition = planner.withLocals(inner, () => planner.plan(node.condition))
  const step = planner.withLocals(inner, () => planner.plan(node.step).run)
  const result = planner.withLocals(outer, () => planner.plan(node.result).run)
  const isEndless = condition.constant === true
  const advance = (frame: Frame, a: Value, b: Value | undefined): boolean => {
    frame.slots[first] = a
    frame.slots[second] = b
    if (!isEndless && condition.run(frame) === false) return false
    frame.slots[accumulator] = step(frame)
    return true
  }
  const loop = node.secondVariable === undefined ? loopOverOne : loopOverTwo
  return {
    run: (frame) => {
      const values = range(frame)
      if (values instanceof EvaluationError) return values
      frame.slots[accumulator] = undefined
      const problem = loop(values, (a, b) => advance(frame, a, b))
      return problem ?? finishComprehension(result(frame))
    },
  }
}

type Advance = (first: Value, second?: Value) => boolean

function loopOverOne(values: Value, advance: Advance): EvaluationError | undefined {
  if (values instanceof ListValue) {
    for (let index = 0; index < values.size; index++) if (!advance(values.at(index))) return undefined
    return undefined
  }
  if (!(values instanceof MapValue)) return new EvaluationError(`got '${goTypeOf(values)}', expected iterable type`)
  for (const key of values.keys()) if (!advance(key)) return undefined
  return undefined
}

function loopOverTwo(values: Value, advance: Advance): EvaluationError | undefined {
  if (values instanceof ListValue) {
    for (let index = 0; index < values.size; index++) if (!advance(index, values.at(index))) return undefined
    return undefined
  }
  if (!(values instanceof MapValue))
    return new EvaluationError(`unsupported comprehension range type: ${typeNameOf(values)}`)
  for (const key of values.keys()) if (!advance(key, values.find(key) ?? null)) return undefined
  return undefined
}

function startAccumulating(value: Value): Value {
  if (value instanceof ListValue && value.size === 0) return ListValue.growing()
  if (!(value instanceof EntryMap) || value.size > 0) return value
  const result = new EntryMap()
  result.growing = true
  return result
}

function finishComprehension(value: Value): Value {
  if (value instanceof ListValue || value instanceof EntryMap) value.growing = false
  return value
}

/** What Go calls the type of a value that is no list and no map. */
function goTypeOf(value: Value): string {
  const name = value === null ? 'null' : (typeNameOf(value).split('.').at(-1) ?? '')
  return `types.${name.charAt(0).toUpperCase()}${name.slice(1)}`
}
