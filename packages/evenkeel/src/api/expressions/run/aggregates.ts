/**
 * Lists and maps written in an expression. Made of constants only, they are made once.
 */
import type { ListNode, MapNode } from '../syntax/tree.ts'
import { Frame, type Step } from './frame.ts'
import { ListValue } from '../value/list.ts'
import { EntryMap } from '../value/map.ts'
import { describeValue } from '../value/names.ts'
import { constant, type Plan, type Planner } from './planner.ts'
import { EvaluationError, Optional, type Value } from '../value/value.ts'

const listCost = 10
const mapCost = 30

export function planList(planner: Planner, { elements, optional }: ListNode): Plan {
  const plans = elements.map((element) => planner.plan(element))
  const steps = plans.map((plan) => plan.run)
  const build: Step = (frame) => {
    const values: Value[] = []
    for (const [index, step] of steps.entries()) {
      const value = step(frame)
      if (value instanceof EvaluationError) return value
      if (!optional.has(index)) values.push(value)
      else if (!(value instanceof Optional))
        return new EvaluationError(
          `cannot initialize optional list element from non-optional value ${describeValue(value)}`,
        )
      else if (value.value !== undefined) values.push(value.value)
    }
    return ListValue.of(values)
  }
  return finishAggregate(build, listCost, plans)
}

export function planMap(planner: Planner, { entries }: MapNode): Plan {
  const plans = entries.map(({ key, value, optional }) => ({
    key: planner.plan(key),
    value: planner.plan(value),
    optional,
  }))
  const build: Step = (frame) => {
    const pairs: [Value, Value][] = []
    for (const { key, value, optional } of plans) {
      const pair = entryOf(key.run(frame), () => value.run(frame), optional)
      if (pair instanceof EvaluationError) return pair
      if (pair) pairs.push(pair)
    }
    return EntryMap.from(pairs)
  }
  return finishAggregate(
    build,
    mapCost,
    plans.flatMap(({ key, value }) => [key, value]),
  )
}

/** Undefined when an optional entry holds nothing. */
function entryOf(key: Value, valueOf: () => Value, optional: boolean): [Value, Value] | EvaluationError | undefined {
  if (key instanceof EvaluationError) return key
  const value = valueOf()
  if (value instanceof EvaluationError) return value
  if (!optional) return [key, value]
  if (!(value instanceof Optional))
    return new EvaluationError(
      `cannot initialize optional entry '${describeValue(key)}' from non-optional value ${describeValue(value)}`,
    )
  return value.value === undefined ? undefined : [key, value.value]
}

function finishAggregate(build: Step, cost: number, parts: readonly Plan[]): Plan {
  if (parts.every((part) => part.constant !== undefined))
    return constant(build(new Frame({}, { slotCount: 0, costLimit: 0 })))
  return {
    run: (frame) => {
      const value = build(frame)
      frame.spend(cost)
      return value
    },
  }
}
