/**
 * Expressions of CEL as Kubernetes speaks it: text in, something that evaluates out.
 *
 *     text ──parse──▶ tree ──check──▶ types ──validate──▶ ──plan──▶ closures ──evaluate──▶ value and cost
 *
 * Compiling is the expensive part and happens once; a compiled expression keeps no state and may be evaluated any number of
 * times. Evaluation is bounded by what it costs, in the units and with the prices of kube-apiserver.
 */
import type { Node } from './ast.ts'
import { checkExpression, type Checked } from './checker.ts'
import type { CountRange } from './cost.ts'
import type { Environment } from './environment.ts'
import { estimateCost, type DeclType } from './estimate.ts'
import { CostExceeded, Frame, PlanError, type Step } from './frame.ts'
import { formatIssues, type Issue } from './issues.ts'
import { parseExpression } from './parser.ts'
import { Planner } from './planner.ts'
import type { Type } from './types.ts'
import { validateExpression } from './validators.ts'
import { EvaluationError, type Value } from './values.ts'

/** What one evaluation of one expression may cost. */
export const callCostMax = 1_000_000

export interface CompileFailure {
  /** Either the text is wrong, or it is fine but can never run, such as `int('x')`. */
  readonly stage: 'compilation' | 'instantiation'
  /** One message, with a line and a marker per mistake. */
  readonly errors: string
}

export interface EvaluateOptions {
  /**
   * What it may cost before it is cut off.
   *
   * @default 1_000_000
   */
  costLimit?: number
}

export type Evaluation =
  | { readonly value: Value; readonly error?: undefined; readonly cost: number }
  | { readonly value?: undefined; readonly error: string; readonly cost: number; readonly costExceeded: boolean }

export interface CompileOptions {
  /**
   * Whether lists and maps written in an expression must hold one type, as Kubernetes demands.
   *
   * @default true
   */
  isStrict?: boolean
  /**
   * Whether variables are bound to values of their types for sure. Otherwise every call looks at what it gets.
   *
   * @default true
   */
  trustsTypes?: boolean
}

export class CompiledExpression {
  readonly text: string
  readonly type: Type
  /** The variables it uses. */
  readonly variables: ReadonlySet<string>
  readonly #node: Node
  readonly #checked: Checked
  readonly #step: Step
  readonly #slotCount: number

  constructor(
    text: string,
    node: Node,
    { checked, step, slotCount }: { checked: Checked; step: Step; slotCount: number },
  ) {
    this.text = text
    this.type = checked.type
    this.variables = checked.variables
    this.#node = node
    this.#checked = checked
    this.#step = step
    this.#slotCount = slotCount
  }

  /** Evaluates with variables by name: JSON for those whose declaration reads JSON, values for others. */
  evaluate(bindings: Readonly<Record<string, unknown>>, { costLimit = callCostMax }: EvaluateOptions = {}): Evaluation {
    const frame = new Frame(bindings, { slotCount: this.#slotCount, costLimit })
    try {
      const value = this.#step(frame)
      if (!(value instanceof EvaluationError)) return { value, cost: frame.cost }
      return { error: value.message, cost: frame.cost, costExceeded: false }
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      return { error: error.message, cost: frame.cost, costExceeded: true }
    }
  }

  /** The bounds of what an evaluation can cost, when `self` is of a type with limits. */
  estimateCost(self?: DeclType): CountRange {
    return estimateCost(this.#node, this.#checked, self)
  }
}

/** Compiles a text, or says all that is wrong with it. */
export function compileExpression(
  text: string,
  environment: Environment,
  { isStrict = true, trustsTypes = true }: CompileOptions = {},
): CompiledExpression | CompileFailure {
  const node = parseExpression(text)
  if ('issues' in node) return compilationFailure(text, node.issues)
  const checked = checkExpression(node, environment)
  if ('issues' in checked) return compilationFailure(text, checked.issues)
  const issues = isStrict ? validateExpression(node, checked) : []
  if (issues.length > 0) return compilationFailure(text, issues)
  try {
    const planner = new Planner(checked, environment, { trustsTypes })
    const step = planner.plan(node).run
    return new CompiledExpression(text, node, { checked, step, slotCount: planner.slotCount })
  } catch (error) {
    if (!(error instanceof PlanError)) throw error
    return { stage: 'instantiation', errors: error.message }
  }
}

function compilationFailure(text: string, issues: readonly Issue[]): CompileFailure {
  return { stage: 'compilation', errors: formatIssues(text, issues) }
}
