/**
 * Plans reads: variables, fields, elements, presence tests, and conditionals, which can be selected from too.
 *
 * Selecting from an optional returns an optional: an empty one stays empty, and a missing field becomes an empty one.
 */
import type { CallNode, IdentifierNode, SelectNode } from './ast.ts'
import { JsonMap, ListValue, MapValue } from './collections.ts'
import { unescapeName } from './escape.ts'
import { constant, type Frame, type Plan, type Step } from './frame.ts'
import type { Planner } from './planner.ts'
import { getOwn } from './primitives/json.ts'
import { describeValue, typeNameOf } from './type-names.ts'
import { Double, EvaluationError, noSuchOverload, Opaque, Optional, TypeValue, Uint, type Value } from './values.ts'

export function planIdentifier(planner: Planner, node: IdentifierNode | SelectNode): Plan {
  const written = node.kind === 'identifier' ? node.name : ''
  const local = planner.local(written)
  const name = planner.checked.names.get(node)
  if (local && name === undefined) return attributeOf(local)
  return planVariable(planner, name ?? written)
}

function planVariable(planner: Planner, name: string): Plan {
  const variable = planner.environment.variable(name)
  if (variable?.type.kind === 'type' && variable.type.parameters[0])
    return constant(new TypeValue(variable.type.parameters[0].name))
  const { slot } = planner.slotOf(name)
  const adapt = variable?.adapt
  return attributeOf((frame) => {
    const known = frame.slots[slot]
    return known === undefined ? (frame.slots[slot] = readBinding(frame, name, adapt)) : known
  })
}

function readBinding({ bindings }: Frame, name: string, adapt: ((json: unknown) => Value) | undefined): Value {
  const bound = getOwn(bindings, name)
  if (bound === undefined) return new EvaluationError(`no such attribute(s): ${name}`)
  return adapt ? adapt(bound) : (bound as Value)
}

/** `operand.field` and `has(operand.field)`. */
export function planSelect(planner: Planner, node: SelectNode): Plan {
  if (planner.checked.names.has(node)) return planIdentifier(planner, node)
  const operand = planner.plan(node.operand)
  const read = new Reader(node.field)
  const base = operand.attribute?.resolve ?? operand.run
  if (!node.testOnly)
    return extend(
      operand,
      qualify(base, () => read),
    )
  return { run: (frame) => testPresence(base(frame), read, frame) }
}

/** `operand[index]`, `operand[?index]` and `operand.?field`. */
export function planIndex(planner: Planner, node: CallNode): Plan {
  const operand = planner.plan(node.arguments[0]!)
  const index = planner.plan(node.arguments[1]!)
  const isOptional = node.name !== '_[_]'
  const base = operand.attribute?.resolve ?? operand.run
  if (index.constant !== undefined) {
    const read = new Reader(index.constant)
    return extend(
      operand,
      qualify(base, () => read, isOptional),
    )
  }
  const key = index.attribute?.resolve ?? index.run
  return extend(
    operand,
    qualify(
      base,
      (frame) => {
        const value = key(frame)
        return value instanceof EvaluationError ? value : new Reader(value)
      },
      isOptional,
    ),
  )
}

/** `condition ? yes : no`. */
export function planConditional(planner: Planner, node: CallNode): Plan {
  const [condition, yes, no] = node.arguments.map((argument) => planner.plan(argument))
  const [test, whenTrue, whenFalse] = [
    condition!.run,
    yes!.attribute?.resolve ?? yes!.run,
    no!.attribute?.resolve ?? no!.run,
  ]
  const resolve: Step = (frame) => {
    const value = test(frame)
    if (value === true) return whenTrue(frame)
    if (value === false) return whenFalse(frame)
    return value instanceof EvaluationError ? value : noSuchOverload
  }
  return { run: resolve, attribute: { resolve, isConditional: true } }
}

function attributeOf(resolve: Step): Plan {
  return { run: (frame) => paid(frame, resolve(frame)), attribute: { resolve, isConditional: false } }
}

function extend(operand: Plan, resolve: Step): Plan {
  const isConditional = operand.attribute?.isConditional ?? false
  return {
    run: isConditional ? resolve : (frame) => paid(frame, resolve(frame)),
    attribute: { resolve, isConditional },
  }
}

function paid(frame: Frame, value: Value): Value {
  frame.spend(1)
  return value
}

function qualify(base: Step, readerOf: (frame: Frame) => Reader | EvaluationError, isOptional = false): Step {
  return (frame) => {
    const value = base(frame)
    if (value instanceof EvaluationError || value === Optional.none) return value
    const read = readerOf(frame)
    if (isOptional || value instanceof Optional)
      return read instanceof EvaluationError ? read : qualifyOptional(value, read, frame)
    frame.spend(1)
    if (read instanceof EvaluationError) return read
    const found = read.find(value)
    return found === undefined ? read.missing(value) : found
  }
}

function qualifyOptional(value: Value, read: Reader, frame: Frame): Value {
  const found = read.find(value instanceof Optional ? value.value! : value)
  if (found === undefined) return Optional.none
  return paid(frame, found instanceof EvaluationError ? found : Optional.of(found))
}

function testPresence(value: Value, read: Reader, frame: Frame): Value {
  if (value instanceof EvaluationError) return value
  if (value === Optional.none) return false
  const found = read.find(value instanceof Optional ? value.value! : value)
  if (found !== undefined || !(value instanceof Optional)) frame.spend(1)
  // Data that contradicts its schema is present.
  return found !== undefined
}

/** Reads one key from values; undefined when it is absent. */
class Reader {
  readonly #key: Value
  readonly #property: string | undefined

  constructor(key: Value) {
    this.#key = key
    this.#property = typeof key === 'string' ? unescapeName(key) : undefined
  }

  find(value: Value): Value | undefined {
    if (value instanceof JsonMap && value.isObject && typeof this.#key === 'string') {
      return this.#property === undefined ? undefined : value.property(this.#property)
    }
    if (value instanceof MapValue) return value.find(this.#key)
    return value instanceof ListValue ? listElement(value, this.#key) : undefined
  }

  missing(value: Value): EvaluationError {
    if (value instanceof ListValue) return new EvaluationError(`index out of bounds: ${describeValue(this.#key)}`)
    return value instanceof Opaque ? noSuchOverload : new EvaluationError(`no such key: ${describeValue(this.#key)}`)
  }
}

/** The element at an index, which may be any integral number; undefined when out of bounds; an error for an invalid index. */
function listElement(list: ListValue, index: Value): Value | undefined {
  const position = wholeNumber(index)
  if (position === undefined) return new EvaluationError(`unsupported index type '${typeNameOf(index)}' in list`)
  return position >= 0 && position < list.size ? list.at(position) : undefined
}

function wholeNumber(index: Value): number | undefined {
  if (typeof index === 'number') return index
  if (typeof index === 'bigint') return -1
  if (index instanceof Uint) return Number(index.value)
  return index instanceof Double && Number.isInteger(index.value) ? index.value : undefined
}
