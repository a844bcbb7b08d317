/**
 * The state of one evaluation: variables in numbered slots, and what it has cost so far.
 */
import { EvaluationError, type Value } from './values.ts'

/** A node made ready to run. */
export type Step = (frame: Frame) => Value

/** Ends an evaluation at once, whatever it is inside of; the only thing thrown while an expression runs. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

export class Frame {
  readonly slots: (Value | undefined)[]
  readonly bindings: Readonly<Record<string, unknown>>
  readonly #costLimit: number
  cost = 0

  constructor(
    bindings: Readonly<Record<string, unknown>>,
    { slotCount, costLimit }: { slotCount: number; costLimit: number },
  ) {
    this.bindings = bindings
    this.slots = new Array<Value | undefined>(slotCount).fill(undefined)
    this.#costLimit = costLimit
  }

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.#costLimit) throw new CostExceeded()
  }
}

export interface Plan {
  readonly run: Step
  /** Known before anything runs. */
  readonly constant?: Value
  /** A place that can be selected from further; reading it through `resolve` does not pay for the variable at its root. */
  readonly attribute?: { readonly resolve: Step; readonly isConditional: boolean }
}

/** Thrown when an expression that type-checks cannot be made ready to run, such as `int('x')`. */
export class PlanError extends Error {}

export function constant(value: Value): Plan {
  if (value instanceof EvaluationError) throw new PlanError(value.message)
  return { run: () => value, constant: value }
}
