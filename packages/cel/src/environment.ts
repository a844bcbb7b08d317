/**
 * The environment of an expression: functions with their overloads, variables, type names and messages.
 *
 * Environments are chains of small maps: extending one copies nothing, so an environment per rule is cheap.
 */
import type { Adapt } from './collections.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
  uintType,
  wrapperOf,
  type Type,
} from './types.ts'
import type { EvaluationError, Value } from './values.ts'

/** One signature of a function. */
export interface Overload {
  readonly id: string
  /** Called as `target.name(...)`; the target is the first parameter. */
  readonly isMember: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  /** The implementation. It gets values of its parameter types, never errors. Operators have none: the planner implements them. */
  readonly run?: Run
  /** The implementation checks the types of its values itself. */
  readonly isUnguarded?: boolean
  /** Evaluation stops at the first operand that is an error, even with two operands, and the call is then free. */
  readonly stopsEarly?: boolean
  /** Creates a faster `run` for a constant operand, or an error for an invalid constant. */
  readonly prepare?: { readonly operand: number; readonly run: (constant: Value) => Run | EvaluationError }
}

export type Run = (...values: Value[]) => Value

export interface Variable {
  readonly type: Type
  /** Converts the bound JSON to a value; absent when callers bind values. */
  readonly adapt?: Adapt
}

/** A message that an expression can construct, such as `Object.spec{replicas: 1}`. */
export interface MessageType {
  readonly type: Type
  /** The type of a field; undefined for an unknown field. */
  field(name: string): Type | undefined
  /** The value of the message, or an error. */
  make(fields: ReadonlyMap<string, Value>): Value
}

/** Finds messages by name. */
export type Messages = (name: string) => MessageType | undefined

interface Declarations {
  readonly functions?: ReadonlyMap<string, readonly Overload[]>
  readonly messages?: Messages
}

export class Environment {
  readonly #parent: Environment | undefined
  readonly #variables: ReadonlyMap<string, Variable>
  readonly #functions: ReadonlyMap<string, readonly Overload[]>
  readonly #messages: Messages | undefined

  constructor({
    parent,
    variables = new Map(),
    functions = new Map(),
    messages,
  }: Declarations & {
    parent?: Environment
    variables?: ReadonlyMap<string, Variable>
  }) {
    this.#parent = parent
    this.#variables = variables
    this.#functions = functions
    this.#messages = messages
  }

  variable(name: string): Variable | undefined {
    return this.#variables.get(name) ?? this.#parent?.variable(name)
  }

  /** All overloads of a name. A child that declares a name again replaces it. */
  overloads(name: string): readonly Overload[] | undefined {
    return this.#functions.get(name) ?? this.#parent?.overloads(name)
  }

  /** A message by name, in addition to those of CEL. */
  message(name: string): MessageType | undefined {
    return this.#messages?.(name) ?? this.#parent?.message(name)
  }

  /** An environment with more variables, functions and messages, which hide existing ones of the same name. */
  extend(variables: Readonly<Record<string, Variable>>, declarations: Declarations = {}): Environment {
    return new Environment({ parent: this, variables: new Map(Object.entries(variables)), ...declarations })
  }
}

/** Functions by name. */
export type Library = Readonly<Record<string, readonly Overload[]>>

/** `name(a, b)`. */
export function overload<A extends readonly Value[]>(
  id: string,
  parameters: readonly Type[],
  { to, run }: { to: Type; run?: (...values: A) => Value },
): Overload {
  // Values are checked against `parameters` before a call, and A must match `parameters`.
  return { id, isMember: false, parameters, result: to, ...(run && { run: run as unknown as Run }) }
}

/** `a.name(b)`. */
export function member<A extends readonly Value[]>(
  id: string,
  parameters: readonly Type[],
  { to, run }: { to: Type; run?: (...values: A) => Value },
): Overload {
  return { ...overload(id, parameters, { to, ...(run && { run }) }), isMember: true }
}

/** Overloads that share one implementation, which checks its values itself. */
export function unguarded(run: Run, overloads: readonly Overload[]): Overload[] {
  return overloads.map((each) => ({ ...each, run, isUnguarded: true }))
}

const parameterNames = new WeakMap<Overload, readonly string[]>()

/** The names of the type parameters of an overload. */
export function typeParameters(overload: Overload): readonly string[] {
  const known = parameterNames.get(overload)
  if (known) return known
  const names = new Set<string>()
  const collect = (type: Type): void => {
    if (type.kind === 'parameter') names.add(type.name)
    type.parameters.forEach(collect)
  }
  overload.parameters.forEach(collect)
  collect(overload.result)
  parameterNames.set(overload, [...names])
  return [...names]
}

/** A protobuf message of CEL, such as `google.protobuf.Int32Value{value: 1}`. It evaluates to a plain value of type `type`. */
type WellKnownMessage = Pick<MessageType, 'type' | 'field'>

const anyMap = mapOf(stringType, dynType)
const anyList = listOf(dynType)
const timeFields = { seconds: intType, nanos: intType }

const messages: ReadonlyMap<string, WellKnownMessage> = new Map([
  message('BoolValue', wrapperOf(boolType), { value: boolType }),
  message('BytesValue', wrapperOf(bytesType), { value: bytesType }),
  message('DoubleValue', wrapperOf(doubleType), { value: doubleType }),
  message('FloatValue', wrapperOf(doubleType), { value: doubleType }),
  message('Int32Value', wrapperOf(intType), { value: intType }),
  message('Int64Value', wrapperOf(intType), { value: intType }),
  message('StringValue', wrapperOf(stringType), { value: stringType }),
  message('UInt32Value', wrapperOf(uintType), { value: uintType }),
  message('UInt64Value', wrapperOf(uintType), { value: uintType }),
  message('Duration', durationType, timeFields),
  message('Timestamp', timestampType, timeFields),
  message('ListValue', anyList, { values: anyList }),
  message('Struct', anyMap, { fields: anyMap }),
  message('Value', dynType, {
    null_value: intType,
    number_value: doubleType,
    string_value: stringType,
    bool_value: boolType,
    struct_value: anyMap,
    list_value: anyList,
  }),
])

/** A message of CEL by its name, absolute (`.google...`) or relative. */
export function wellKnownMessage(written: string): WellKnownMessage | undefined {
  return messages.get(written.replace(/^\./, ''))
}

function message(name: string, type: Type, fields: Readonly<Record<string, Type>>): [string, WellKnownMessage] {
  const types = new Map(Object.entries(fields))
  return [`google.protobuf.${name}`, { type, field: (field) => types.get(field) }]
}
