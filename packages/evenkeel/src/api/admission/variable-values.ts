/**
 * `variables` of a policy as a map whose values are computed when somebody asks for them, once.
 */
import { MapValue } from '../expressions/value/map.ts'
import { EvaluationError } from '../expressions/value/value.ts'
import type { Value } from '../expressions/value/value.ts'
import type { CompiledAdmissionExpression } from './compiler.ts'

export class VariableValues extends MapValue {
  readonly #variables: ReadonlyMap<string, CompiledAdmissionExpression>
  readonly #bindings: () => Readonly<Record<string, unknown>>
  readonly #known = new Map<string, Value>()
  #cost = 0

  constructor(
    variables: ReadonlyMap<string, CompiledAdmissionExpression>,
    bindings: () => Readonly<Record<string, unknown>>,
  ) {
    super()
    this.#variables = variables
    this.#bindings = bindings
  }

  get size(): number {
    return this.#variables.size
  }

  keys(): readonly Value[] {
    return [...this.#variables.keys()]
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const variable = this.#variables.get(key)
    if (variable === undefined) return undefined
    const value = this.#evaluate(key, variable)
    this.#known.set(key, value)
    return value
  }

  /** What variables have cost since this was last asked. */
  takeCost(): number {
    const cost = this.#cost
    this.#cost = 0
    return cost
  }

  #evaluate(name: string, { expression, error: mistake }: CompiledAdmissionExpression): Value {
    if (expression === undefined)
      return new EvaluationError(`composited variable ${JSON.stringify(name)} fails to compile: ${mistake ?? ''}`)
    const result = expression.evaluate(this.#bindings())
    this.#cost += result.cost
    return result.error === undefined
      ? result.value
      : new EvaluationError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${result.error}`)
  }
}
