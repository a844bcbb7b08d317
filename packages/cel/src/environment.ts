/**
 * What an expression may use: functions with their overloads, variables and names of types.
 *
 * Environments are chains of small maps: extending one copies nothing, so an environment per rule costs nothing.
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
  /** What it does. It gets values, never errors, of the kinds its parameters say. Operators have none: the planner knows them. */
  readonly run?: Run
  /** It looks at the kinds of its values itself, so nobody else has to before calling it. */
  readonly isUnguarded?: boolean
  /** It stops at the first operand that is an error, even with two operands, and then costs nothing. */
  readonly stopsEarly?: boolean
  /** Makes a faster `run` when an operand is a constant, or says why that constant is wrong. */
  readonly prepare?: { readonly operand: number; readonly run: (constant: Value) => Run | EvaluationError }
}

export type Run = (...values: Value[]) => Value

export interface Variable {
  readonly type: Type
  /** Turns what a caller binds into a value; missing: it is one already. */
  readonly adapt?: Adapt
}

/** A message that can be written in an expression, such as `Object.spec{replicas: 1}`. */
export interface MessageType {
  readonly type: Type
  /** The type of a field; undefined when there is none of that name. */
  field(name: string): Type | undefined
  /** What the message is worth, or an error. */
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

  /** A message by name, beside those that come with CEL. */
  message(name: string): MessageType | undefined {
    return this.#messages?.(name) ?? this.#parent?.message(name)
  }

  /** The same with more variables, functions and messages; a name that exists is hidden. */
  extend(variables: Readonly<Record<string, Variable>>, declarations: Declarations = {}): Environment {
    return new Environment({ parent: this, variables: new Map(Object.entries(variables)), ...declarations })
  }
}

/*
 * Short ways to write down what a function takes and gives.
 */

/** Functions by name. */
export type Library = Readonly<Record<string, readonly Overload[]>>

/** `name(a, b)`. */
export function overload<A extends readonly Value[]>(
  id: string,
  parameters: readonly Type[],
  { to, run }: { to: Type; run?: (...values: A) => Value },
): Overload {
  // The guard before a call makes sure the values are what `parameters` says, which is what A must say too.
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

/** Overloads that share one implementation, which looks at its values itself. */
export function unguarded(run: Run, overloads: readonly Overload[]): Overload[] {
  return overloads.map((each) => ({ ...each, run, isUnguarded: true }))
}

/*
 * The messages of protobuf that can be written in an expression, such as `google.protobuf.Int32Value{value: 1}`.
 *
 * Kubernetes has no messages of its own, but these come with CEL. None of them is a message once it is made: each stands for
 * a plain value, and the type here is the one of that value.
 */

type WellKnownMessage = Pick<MessageType, 'type' | 'field'>

const anyMap = mapOf(stringType, dynType)
const anyList = listOf(dynType)
const moment = { seconds: intType, nanos: intType }

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
  message('Duration', durationType, moment),
  message('Timestamp', timestampType, moment),
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

/** The message of a name as it is written, absolute (`.google...`) or not. */
export function wellKnownMessage(written: string): WellKnownMessage | undefined {
  return messages.get(written.replace(/^\./, ''))
}

function message(name: string, type: Type, fields: Readonly<Record<string, Type>>): [string, WellKnownMessage] {
  const types = new Map(Object.entries(fields))
  return [`google.protobuf.${name}`, { type, field: (field) => types.get(field) }]
}
