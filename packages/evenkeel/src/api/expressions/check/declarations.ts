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
  readonly prepare?: { readonly operand: number, readonly run: (constant: Value) => Run | EvaluationError }
}

export type Run = (...values: Value[]) => Value

export interface Variable {
  readonly type: Type
  /** Turns what a caller binds into a value; missing: it is one already. */
  readonly adapt?: Adapt
}

export class Environment {
  readonly #parent: Environment | undefined
  readonly #variables: ReadonlyMap<string, Variable>
  readonly #functions: ReadonlyMap<string, readonly Overload[]>

  constructor({ parent, variables = new Map(), functions = new Map() }: {
    parent?: Environment
    variables?: ReadonlyMap<string, Variable>
    functions?: ReadonlyMap<string, readonly Overload[]>
  }) {
    this.#parent = parent
    this.#variables = variables
    this.#functions = functions
  }

  variable(name: string): Variable | undefined {
    return this.#variables.get(name) ?? this.#parent?.variable(name)
  }

  /** All overloads of a name. A child that declares a name again replaces it. */
  overloads(name: string): readonly Overload[] | undefined {
    return this.#functions.get(name) ?? this.#parent?.overloads(name)
  }

  /** The same with more variables; a name that exists is hidden. */
  extend(variables: Readonly<Record<string, Variable>>): Environment {
    return new Environment({ parent: this, variables: new Map(Object.entries(variables)) })
  }
}
