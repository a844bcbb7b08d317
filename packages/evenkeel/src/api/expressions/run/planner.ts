/**
 * Checked nodes to closures, once per expression; evaluation is then a tree of plain function calls.
 *
 * What costs what follows upstream to the unit, oddities included: a chain of selections costs 1 for its variable and 1 per
 * step; `has` costs nothing for itself; constant lists, maps and conversions are computed here and cost nothing; a branch of
 * a conditional that is a chain of selections saves the 1 for its variable.
 */
import type { Checked } from '../check/checker.ts'
import type { Environment } from '../check/declarations.ts'
import type { Node } from '../syntax/tree.ts'
import { planList, planMap } from './aggregates.ts'
import { planCall } from './calls.ts'
import { planComprehension } from './comprehension.ts'
import type { Step } from './frame.ts'
import { planMessage } from './messages.ts'
import { planIdentifier, planSelect } from './selection.ts'
import { EvaluationError, type Value } from '../value/value.ts'

export interface Plan {
  readonly run: Step
  /** Known before anything runs. */
  readonly constant?: Value
  /** A place that can be selected from further; reading it through `resolve` does not pay for the variable at its root. */
  readonly attribute?: { readonly resolve: Step; readonly isConditional: boolean }
}

/** Thrown when an expression that type-checks cannot be made ready to run, such as `int('x')`. */
export class PlanError extends Error {}

export class Planner {
  readonly checked: Checked
  readonly environment: Environment
  /** Whether values are sure to be of the types that were checked. */
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

  /** The slot of a variable that the caller binds. */
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

  /** Plans something in which some names are variables of a loop. */
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

export function constant(value: Value): Plan {
  if (value instanceof EvaluationError) throw new PlanError(value.message)
  return { run: () => value, constant: value }
}
