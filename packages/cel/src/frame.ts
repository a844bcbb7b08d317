/**
 * The state of one evaluation: variables in numbered slots, and the cost so far.
 */
import { EvaluationError, type Value } from './values.ts'

/** A planned node. */
export type Step = (frame: Frame) => Value

/** Ends an evaluation at once; the only exception thrown during an evaluation. */
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
  /** The value, if it is constant. */
  readonly constant?: Value
  /** Set if fields can be selected from it; `resolve` reads it without the cost of the variable at its root. */
  readonly attribute?: { readonly resolve: Step; readonly isConditional: boolean }
}

/** Thrown when a type-checked expression cannot be planned, such as `int('x')`. */
export class PlanError extends Error {}

export function constant(value: Value): Plan {
  if (value instanceof EvaluationError) throw new PlanError(value.message)
  return { run: () => value, constant: value }
}
