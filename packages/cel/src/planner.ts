/**
 * The planner: compiles checked nodes to closures, once per expression; evaluation is then a tree of plain function calls.
 *
 * Costs equal those of cel-go exactly, oddities included: a chain of selections costs 1 for its variable and 1 per step; `has`
 * itself is free; constant lists, maps and conversions are computed here and are free; a branch of a conditional that is a
 * chain of selections saves the 1 for its variable.
 */
import { accumulatorName, type ComprehensionNode, type ListNode, type MapNode, type Node } from './ast.ts'
import { planCall } from './calls.ts'
import type { Checked } from './checker.ts'
import { EntryMap, ListValue, MapValue } from './collections.ts'
import { listCreationCost, mapCreationCost } from './cost.ts'
import type { Environment } from './environment.ts'
import { constant, Frame, type Plan, type Step } from './frame.ts'
import { planMessage } from './messages.ts'
import { planIdentifier, planSelect } from './selection.ts'
import { describeValue, typeNameOf } from './type-names.ts'
import { EvaluationError, Optional, type Value } from './values.ts'

export class Planner {
  readonly checked: Checked
  readonly environment: Environment
  /** Whether values are certain to have their checked types. */
  readonly trustsTypes: boolean
  readonly #slots = new Map<string, number>()
  #locals: ReadonlyMap<string, Step> = new Map()
  slotCount = 0

  constructor(checked: Checked, environment: Environment, { trustsTypes = true } = {}) {
    this.checked = checked
    this.environment = environment
    this.trustsTypes = trustsTypes
  }

  plan(node: Node): Plan {
    switch (node.kind) {
      case 'literal':
        return constant(node.value)
      case 'identifier':
        return planIdentifier(this, node)
      case 'select':
        return planSelect(this, node)
      case 'call':
        return planCall(this, node)
      case 'list':
        return planList(this, node)
      case 'map':
        return planMap(this, node)
      case 'comprehension':
        return planComprehension(this, node)
      case 'struct':
        return planMessage(this, node)
    }
  }

  newSlot(): number {
    return this.slotCount++
  }

  /** The slot of a variable bound by the caller. */
  slotOf(name: string): { slot: number; isNew: boolean } {
    const known = this.#slots.get(name)
    if (known !== undefined) return { slot: known, isNew: false }
    const slot = this.newSlot()
    this.#slots.set(name, slot)
    return { slot, isNew: true }
  }

  local(name: string): Step | undefined {
    return this.#locals.get(name)
  }

  /** Plans nodes in the scope of loop variables. */
  withLocals<T>(locals: Readonly<Record<string, Step>>, plan: () => T): T {
    const outer = this.#locals
    this.#locals = new Map([...outer, ...Object.entries(locals)])
    try {
      return plan()
    } finally {
      this.#locals = outer
    }
  }
}

function planList(planner: Planner, { elements, optional }: ListNode): Plan {
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
  return finishAggregate(build, listCreationCost, plans)
}

function planMap(planner: Planner, { entries }: MapNode): Plan {
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
    mapCreationCost,
    plans.flatMap(({ key, value }) => [key, value]),
  )
}

/** Undefined for an empty optional entry. */
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

/** A list or map of constants is created once, when it is planned. */
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

/**
 * The loop behind all macros. The accumulator is initialized on first use. A list or map that starts empty grows in place,
 * because it is not visible outside before the loop ends.
 */
function planComprehension(planner: Planner, node: ComprehensionNode): Plan {
  const range = planner.plan(node.range).run
  const initial = planner.plan(node.initial).run
  const [accumulator, first, second] = [planner.newSlot(), planner.newSlot(), planner.newSlot()]
  // A macro that only names a value must not grow it in place: the expression may use it twice.
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

/** The Go type name of a value that is neither a list nor a map. */
function goTypeOf(value: Value): string {
  const name = value === null ? 'null' : (typeNameOf(value).split('.').at(-1) ?? '')
  return `types.${name.charAt(0).toUpperCase()}${name.slice(1)}`
}
