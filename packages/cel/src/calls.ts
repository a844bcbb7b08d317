/**
 * Plans calls: operators that choose which operands to evaluate, and functions, which evaluate all of them.
 *
 * If the types leave one overload, it is called directly. Otherwise the overload is chosen by the values at run time; of lists
 * and maps only the first element is checked, as in cel-go.
 */
import type { CallNode } from './ast.ts'
import { canonicalKey, ListValue, MapValue } from './collections.ts'
import { equal } from './comparison.ts'
import { callCost, comparisonCost, type CallCost } from './cost.ts'
import type { Overload, Run } from './environment.ts'
import { constant, PlanError, type Frame, type Plan, type Step } from './frame.ts'
import type { Planner } from './planner.ts'
import { planConditional, planIndex } from './selection.ts'
import { typeNameOf } from './type-names.ts'
import type { Type } from './types.ts'
import { Bytes, Double, EvaluationError, noSuchOverload, Optional, TypeValue, Uint, type Value } from './values.ts'

export function planCall(planner: Planner, node: CallNode): Plan {
  const name = planner.checked.names.get(node) ?? node.name
  switch (name) {
    case '_&&_':
    case '_||_':
      return planLogical(planner, node, name === '_||_')
    case '_?_:_':
      return planConditional(planner, node)
    case '_[_]':
    case '_[?_]':
    case '_?._':
      return planIndex(planner, node)
    case '_==_':
    case '_!=_':
      return planEquality(planner, node, name === '_!=_')
    case 'or':
    case 'orValue':
      return planAlternative(planner, node, name === 'orValue')
    default:
      return planFunction(planner, node, name)
  }
}

const conversions = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
])

/** `&&` and `||`: a deciding operand wins, even against an error on the other side. */
function planLogical(planner: Planner, node: CallNode, decisive: boolean): Plan {
  const [left, right] = node.arguments.map((argument) => planner.plan(argument).run)
  return {
    run: (frame) => {
      const a = left!(frame)
      if (a === decisive) return decisive
      const b = right!(frame)
      if (b === decisive) return decisive
      if (typeof a !== 'boolean') return a instanceof EvaluationError ? a : noSuchOverload
      if (typeof b !== 'boolean') return b instanceof EvaluationError ? b : noSuchOverload
      return !decisive
    },
  }
}

function planEquality(planner: Planner, node: CallNode, negated: boolean): Plan {
  const [left, right] = node.arguments.map((argument) => planner.plan(argument).run)
  return {
    run: (frame) => {
      const a = left!(frame)
      const b = right!(frame)
      frame.spend(comparisonCost(a, b))
      if (a instanceof EvaluationError) return a
      if (b instanceof EvaluationError) return b
      const result = equal(a, b)
      return negated ? result !== true : result
    },
  }
}

/** `a.or(b)` and `a.orValue(b)`: b is evaluated only when a is empty. */
function planAlternative(planner: Planner, node: CallNode, unwrap: boolean): Plan {
  const first = planner.plan(node.target!).run
  const second = planner.plan(node.arguments[0]!).run
  return {
    run: (frame) => {
      const value = first(frame)
      if (!(value instanceof Optional)) return value
      if (value.value === undefined) return second(frame)
      return unwrap ? value.value : value
    },
  }
}

function planFunction(planner: Planner, node: CallNode, name: string): Plan {
  const isQualified = planner.checked.names.has(node)
  const operands = node.target && !isQualified ? [node.target, ...node.arguments] : node.arguments
  const overloads = planner.checked.overloads.get(node) ?? []
  const plans = operands.map((operand) => planner.plan(operand))
  const only = overloads.length === 1 ? overloads[0]! : undefined
  if (name === '@in' && only?.id === 'in_list' && plans[1]?.constant !== undefined) {
    const membership = planMembership(plans[0]!, plans[1].constant)
    if (membership) return membership
  }
  const types = operands.map((operand) => planner.checked.types.get(operand)!)
  const prepared = prepareConstant(overloads, plans)
  const dispatch = dispatcher(name, overloads)
  const certain = prepared ?? (only && isCertain(only, types) ? only.run! : undefined)
  const run = certain
    ? guard(certain, { only, dispatch: prepared ? () => noSuchOverload : dispatch, trustsTypes: planner.trustsTypes })
    : dispatch
  const call = { steps: plans.map((plan) => plan.run), run, cost: callCost(name, only?.id ?? '') }
  if (conversions.has(name) && plans.length === 1 && plans[0]!.constant !== undefined)
    return constant(run(plans[0]!.constant))
  const picksByValue = !only && !overloads[0]?.isUnguarded
  const stopsEarly = prepared !== undefined || plans.length > 2 || picksByValue || (only?.stopsEarly ?? false)
  return {
    run: stopsEarly
      ? callInOrder(call)
      : callByCount(
          call,
          overloads.some(({ id }) => id === 'not_strictly_false'),
        ),
  }
}

interface Call {
  readonly steps: readonly Step[]
  readonly run: Run
  readonly cost: CallCost
}

function callByCount({ steps, run, cost }: Call, takesErrors: boolean): Step {
  const [first, second] = steps
  const pay = meteredRun(cost)
  if (!first) return (frame) => pay(frame, [], run)
  if (second)
    return typeof cost === 'number'
      ? callWithTwo({ first, second, run, cost })
      : callWithTwoMetered({ first, second, run, pay })
  const guarded: Run = takesErrors ? run : (value) => (value instanceof EvaluationError ? value : run(value))
  return typeof cost === 'number' ? callWithOne(first, guarded, cost) : (frame) => pay(frame, [first(frame)], guarded)
}

function callWithOne(first: Step, run: Run, cost: number): Step {
  return (frame) => {
    const value = first(frame)
    frame.spend(cost)
    return run(value)
  }
}

/** Both operands are evaluated and charged, even when the first is an error. */
function callWithTwo({ first, second, run, cost }: { first: Step; second: Step; run: Run; cost: number }): Step {
  return (frame) => {
    const a = first(frame)
    const b = second(frame)
    frame.spend(cost)
    if (a instanceof EvaluationError) return a
    return b instanceof EvaluationError ? b : run(a, b)
  }
}

function callWithTwoMetered({
  first,
  second,
  run,
  pay,
}: {
  first: Step
  second: Step
  run: Run
  pay: MeteredRun
}): Step {
  const guarded: Run = (a, b) => (a instanceof EvaluationError ? a : b instanceof EvaluationError ? b : run(a, b))
  return (frame) => pay(frame, [first(frame), second(frame)], guarded)
}

function callInOrder({ steps, run, cost }: Call): Step {
  const pay = meteredRun(cost)
  return (frame) => {
    const values: Value[] = []
    for (const step of steps) {
      const value = step(frame)
      values.push(value)
      if (!(value instanceof EvaluationError)) continue
      return values.length === steps.length ? pay(frame, values, () => value) : value
    }
    return pay(frame, values, run)
  }
}

type MeteredRun = (frame: Frame, values: readonly Value[], run: Run) => Value

/** Charges and runs a call. A cost that does not depend on the result is charged first, so that a call over the limit never starts. */
function meteredRun(cost: CallCost): MeteredRun {
  if (typeof cost !== 'number' && cost.length > 1) {
    return (frame, values, run) => {
      const result = run(...values)
      frame.spend(cost(values, result))
      return result
    }
  }
  return (frame, values, run) => {
    frame.spend(typeof cost === 'number' ? cost : cost(values, null))
    return run(...values)
  }
}

function prepareConstant(overloads: readonly Overload[], plans: readonly Plan[]): Run | undefined {
  const prepare = overloads[0]?.prepare
  const value = prepare && plans[prepare.operand]?.constant
  if (!prepare || value === undefined) return undefined
  const run = prepare.run(value)
  if (run instanceof EvaluationError) throw new PlanError(run.message)
  return run
}

interface GuardOptions {
  readonly only: Overload | undefined
  readonly dispatch: Run
  readonly trustsTypes: boolean
}

/** Checks values before a direct call: an element of a list or map may be null whatever its type, and without trusted types it may be anything. */
function guard(run: Run, { only, dispatch, trustsTypes }: GuardOptions): Run {
  if (only?.isUnguarded) return dispatch
  if (!trustsTypes) return (...values) => (only && !acceptsAll(only, values) ? dispatch(...values) : run(...values))
  if (only?.parameters.length === 1) return (value) => (value === null ? dispatch(value) : run(value))
  if (only?.parameters.length === 2) return (a, b) => (a === null || b === null ? dispatch(a, b) : run(a, b))
  return (...values) => (values.includes(null) ? dispatch(...values) : run(...values))
}

/** Operators that name themselves in the error when their first operand is null. */
const selfDescribingOperators = new Set(['_+_', '_-_', '_*_', '_/_', '_%_', '-_', '_<_', '_<=_', '_>_', '_>=_'])

/** Chooses the first overload that accepts the values. */
function dispatcher(name: string, overloads: readonly Overload[]): Run {
  const [first] = overloads
  if (first?.isUnguarded) {
    const run = first.run!
    if (!selfDescribingOperators.has(name)) return run
    const refused = new EvaluationError(`no such overload: ${name}`)
    return (a, b) => (a === null ? refused : run(a, b!))
  }
  return (...values) => {
    const overload = overloads.find((candidate) => acceptsAll(candidate, values))
    return overload
      ? overload.run!(...values)
      : new EvaluationError(`no such overload: ${name}(${values.map(typeNameOf).join(', ')})`)
  }
}

function acceptsAll({ parameters }: Overload, values: readonly Value[]): boolean {
  return parameters.length === values.length && parameters.every((type, index) => accepts(type, values[index]!))
}

/** Whether the operand types guarantee that the values match the overload. */
function isCertain({ run, isUnguarded, parameters }: Overload, types: readonly Type[]): boolean {
  return (
    run !== undefined &&
    (isUnguarded === true ||
      parameters.every(
        (wanted, index) =>
          wanted.kind === 'parameter' ||
          (types[index]!.kind === wanted.kind &&
            wanted.kind !== 'list' &&
            wanted.kind !== 'map' &&
            wanted.kind !== 'opaque'),
      ))
  )
}

function accepts(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return !(value instanceof EvaluationError)
    case 'list':
      return value instanceof ListValue && (value.size === 0 || accepts(type.parameters[0]!, value.at(0)))
    case 'map':
      return value instanceof MapValue && acceptsFirstEntry(type, value)
    case 'opaque':
      return type.name === 'optional_type' ? value instanceof Optional : typeNameOf(value) === type.name
    case 'type':
      return value instanceof TypeValue
    default:
      return typeNameOf(value) === type.name
  }
}

function acceptsFirstEntry({ parameters }: Type, map: MapValue): boolean {
  const [key] = map.keys()
  return key === undefined || (accepts(parameters[0]!, key) && accepts(parameters[1]!, map.find(key) ?? null))
}

/** `x in [constants]` as a set lookup; undefined when the list contains a value that is not simple. */
function planMembership({ run }: Plan, values: Value): Plan | undefined {
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
  // A double with a fraction equals only the same double; NaN does not even equal itself.
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
