/**
 * The walk of an object with the rules of its schema.
 *
 * Only places with rules at or below them are visited. Everything is paid from one budget; when that is spent, or one
 * expression costs too much, the walk ends with an error that says so. What has not changed is not refused for a rule
 * that looks at the present alone: then the error becomes a warning.
 */
import { FieldPath } from '../error/field-path.ts'
import { fieldError, formatFieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { CorrelatedValue } from '../custom/correlate.ts'
import { compileSchema } from '../custom/plan.ts'
import { objectCostMax } from '../expressions/expression.ts'
import { adaptDynamic } from '../expressions/value/json-adapter.ts'
import { Optional } from '../expressions/value/value.ts'
import { getOwn, isJsonObject } from '../json.ts'
import type { JsonArray, JsonObject, JsonValue } from '../json.ts'
import type { CompiledRule } from './compile.ts'
import { violationError, evaluateMessage } from './outcome.ts'
import { describeRule } from './rule.ts'
import type { RuleNode } from './rule-node.ts'

type OptionalPath = FieldPath | undefined

interface EvaluateRulesOptions {
  /** What was there before. */
  readonly old?: JsonValue | undefined
  /** Where the value stands. */
  readonly path?: FieldPath
  /**
   * What all expressions may cost together.
   *
   * @default 10_000_000
   */
  readonly budget?: number
  /** Takes errors about what has not changed; without it they are errors like others. */
  readonly warn?: ((text: string) => void) | undefined
}

interface EvaluatedRules {
  readonly errors: readonly FieldError[]
  /** What is left to spend; below 0 when the walk was cut off. */
  readonly budget: number
}

/** Evaluates all rules on a value. */
export function evaluateRules(
  value: JsonValue,
  root: RuleNode,
  { old, path, budget = objectCostMax, warn }: EvaluateRulesOptions = {},
): EvaluatedRules {
  const walk = new RuleEvaluation(budget, warn)
  walk.visit(value, root, {
    path,
    pair: old === undefined ? undefined : new CorrelatedValue(value, old, compileSchema(root.node)),
    nearest: undefined,
    ratcheting: true,
  })
  return { errors: walk.errors, budget: walk.budget }
}

/** Where a value stands. */
interface ValueContext {
  readonly path: OptionalPath
  /** The value together with the one it replaces, where it is known to replace one. */
  readonly pair: CorrelatedValue | undefined
  /** The same of the nearest place above for which it is known. */
  readonly nearest: CorrelatedValue | undefined
  /** Whether what has not changed passes. */
  readonly ratcheting: boolean
}

/** Below this everything ends. */
const budgetExceeded = -1

class RuleEvaluation {
  readonly errors: FieldError[] = []
  readonly #warn: ((text: string) => void) | undefined
  budget: number

  constructor(budget: number, warn: ((text: string) => void) | undefined) {
    this.budget = budget
    this.#warn = warn
  }

  /** Null is never looked at: whether a value may be null is a matter of the place around it. */
  visit(value: JsonValue, node: RuleNode, at: ValueContext): void {
    if (value === null || this.budget < 0) return
    if (node.hasOwnRules) this.#check(value, node, at)
    if (Array.isArray(value)) this.#visitItems(value, node, at)
    else if (isJsonObject(value)) this.#visitFields(value, node, at)
  }

  #visitItems(list: JsonArray, { items }: RuleNode, { path, pair, nearest, ratcheting: forgives }: ValueContext): void {
    if (!items) return
    for (let index = 0; index < list.length && this.budget >= 0; index++) {
      const place = path?.index(index) ?? FieldPath.of(`[${index}]`)
      this.visit(list[index] ?? null, items, {
        path: place,
        pair: pair?.item(index),
        nearest: pair ?? nearest,
        ratcheting: forgives,
      })
    }
  }

  #visitFields(object: JsonObject, { properties, additional }: RuleNode, at: ValueContext): void {
    if (additional) {
      for (const key of Object.keys(object))
        this.#visitField(key, object[key], {
          node: additional,
          at,
          path: at.path?.key(key) ?? FieldPath.of(`[${key}]`),
        })
    }
    for (const [key, node] of properties)
      this.#visitField(key, getOwn(object, key), { node, at, path: at.path?.child(key) ?? FieldPath.of(key) })
  }

  #visitField(
    key: string,
    value: JsonValue | undefined,
    { node, at: { pair, nearest, ratcheting: forgives }, path }: { node: RuleNode; at: ValueContext; path: FieldPath },
  ): void {
    if (value === undefined) return
    // The types of the whole object are never forgiven: old and new were brought to the same version before.
    const isType = pair !== undefined && nearest === undefined && (key === 'apiVersion' || key === 'kind')
    this.visit(value, node, { path, pair: pair?.field(key), nearest: pair ?? nearest, ratcheting: forgives && !isType })
  }

  #check(value: JsonValue, node: RuleNode, at: ValueContext): void {
    const { rules } = node
    if (typeof rules === 'string') {
      this.#refuse(node, at, `rule compiler initialization error: ${rules}`)
      return
    }
    if (this.budget <= 0) {
      this.#end(node, at, overBudget)
      return
    }
    const old = at.pair?.old ?? undefined
    for (const rule of rules) {
      if (rule.error !== undefined) this.#refuse(node, at, `rule compile error: ${rule.error}`)
      else this.#evaluate(rule, value, { node, at, old })
      if (this.budget < 0) return
    }
  }

  #evaluate(compiled: CompiledRule, value: JsonValue, { node, at, old }: EvaluationContext): void {
    const { expression, rule, usesOld } = compiled
    if (!expression || (usesOld && old === undefined && rule.optionalOldSelf !== true)) return
    const result = expression.evaluate(
      usesOld ? { self: value, oldSelf: rule.optionalOldSelf === true ? optional(old, node) : old } : { self: value },
    )
    if (result.cost > this.budget) {
      this.#end(node, at, overBudget)
      return
    }
    this.budget -= result.cost
    if (result.error === undefined) {
      if (result.value !== true) this.#fail(compiled, value, { node, at, old })
    } else if (result.costExceeded) {
      this.#end(
        node,
        at,
        `'${result.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${describeRule(rule)}`,
      )
    } else if (result.error.startsWith('no such overload')) {
      this.#refuse(
        node,
        at,
        `'${result.error}': call arguments did not match a supported operator, function or macro signature for rule: ${describeRule(rule)}`,
      )
    } else this.#refuse(node, at, `${result.error} evaluating rule: ${describeRule(rule)}`)
  }

  /** Says that a rule is broken, in its own words where it has some. */
  #fail(compiled: CompiledRule, value: JsonValue, { node, at, old }: EvaluationContext): void {
    const { fieldPath } = compiled
    const path = fieldPath === '' ? at.path : (at.path?.child(fieldPath) ?? FieldPath.of(fieldPath))
    const bindings = { self: value, ...(old !== undefined && node.usesOld && { oldSelf: old }) }
    const { text, budget, isFatal } = evaluateMessage(compiled, bindings, this.budget)
    this.budget = budget
    if (isFatal) this.#note(fieldError.invalid(path, node.typeName, text), compiled, at)
    else this.#note(violationError(compiled.rule, text, { path, value, isStructure: node.isStructure }), compiled, at)
  }

  #note(error: FieldError, { usesOld }: CompiledRule, { pair, nearest, ratcheting: forgives }: ValueContext): void {
    if (this.#warn && forgives && !usesOld && (pair ?? nearest)?.isSame() === true) this.#warn(formatFieldError(error))
    else this.errors.push(error)
  }

  #refuse(node: RuleNode, { path }: ValueContext, detail: string): void {
    this.errors.push(fieldError.invalid(path, node.typeName, detail))
  }

  #end(node: RuleNode, at: ValueContext, detail: string): void {
    this.#refuse(node, at, detail)
    this.budget = budgetExceeded
  }
}

interface EvaluationContext {
  readonly node: RuleNode
  readonly at: ValueContext
  readonly old: JsonValue | undefined
}

const overBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** Upstream forgets the schema of objects and lists inside an optional: they are read as plain JSON. */
function optional(old: JsonValue | undefined, { adapt }: RuleNode): Optional {
  if (old === undefined) return Optional.none
  return Optional.of(typeof old === 'object' ? adaptDynamic(old) : adapt(old))
}
