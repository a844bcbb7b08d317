/**
 * CEL expressions in the dialect of Kubernetes: compiles text to an expression that can be evaluated.
 *
 *     text ──parse──▶ tree ──check──▶ types ──validate──▶ ──plan──▶ closures ──evaluate──▶ value and cost
 *
 * Compilation is the expensive part and happens once; a compiled expression has no state and can be evaluated any number of
 * times. A cost limit bounds evaluation, in the units of kube-apiserver.
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

/** The cost limit of one evaluation of one expression. */
export const callCostMax = 1_000_000

export interface CompileFailure {
  /** `compilation`: a syntax or type error. `instantiation`: a valid expression that can never run, such as `int('x')`. */
  readonly stage: 'compilation' | 'instantiation'
  /** One message, with a line and a marker per issue. */
  readonly errors: string
}

export interface EvaluateOptions {
  /**
   * The cost at which the evaluation is aborted.
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
   * Whether list and map literals must have elements of one type, as Kubernetes requires.
   *
   * @default true
   */
  isStrict?: boolean
  /**
   * Whether variables are guaranteed to have values of their types. Otherwise every call checks its values.
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

  /** Evaluates with variables by name: JSON for variables with an `adapt` function, values for others. */
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

  /** The minimum and maximum cost of an evaluation; `self` is the type of the variable `self`, with the limits of its schema. */
  estimateCost(self?: DeclType): CountRange {
    return estimateCost(this.#node, this.#checked, self)
  }
}

/** Compiles an expression, or returns all its issues. */
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
