/**
 * What an expression may use: functions with their overloads, variables and names of types.
 *
 * Environments are chains of small maps: extending one copies nothing, so an environment per rule costs nothing.
 */
import type { Adapt } from '../value/list.ts'
import type { EvaluationError, Value } from '../value/value.ts'
import type { Type } from './type.ts'

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
