/**
 * Evaluates the CEL rules of a schema on an object, and formats the errors of violated rules.
 *
 * Only values with rules at or below them are visited. All expressions share one cost budget; when the budget is spent,
 * or one expression exceeds its own limit, the evaluation ends with an error. Unchanged values are ratcheted: the
 * violation of a rule that does not use `oldSelf` becomes a warning.
 *
 * A message may be an expression of its own. {@link ruleEngine} contains every function that needs CEL, so that
 * `loadRuleEngine` can load it on demand.
 */
import { adaptDynamic, Optional } from '@evenkeel/cel'
import {
  getOwn,
  isJsonObject,
  quote,
  utf8Length,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, formatFieldError, type FieldError } from '../errors/field-error.ts'
import { fieldCauses } from '../errors/reasons.ts'
import { compileSchema } from '../schema/compile.ts'
import { CorrelatedValue } from '../schema/correlate.ts'
import { checkRules } from './check.ts'
import { ruleTree, type CompiledRule, type RuleNode } from './compile.ts'
import { describeRule, messageOf, objectCostMax, type Rule, type RuleEngine } from './rules.ts'

type OptionalPath = FieldPath | undefined

interface EvaluateRulesOptions {
  /** The old value. */
  readonly old?: JsonValue | undefined
  /** The path of the value. */
  readonly path?: FieldPath
  /**
   * The cost limit of all expressions together.
   *
   * @default 10_000_000
   */
  readonly budget?: number
  /** Receives the errors about unchanged values; without it they are errors as well. */
  readonly warn?: ((text: string) => void) | undefined
}

interface EvaluatedRules {
  readonly errors: readonly FieldError[]
  /** The remaining budget; below 0 when the evaluation was stopped. */
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
    pair: old === undefined ? undefined : new CorrelatedValue(value, old, root.schema),
    nearest: undefined,
    ratcheting: true,
  })
  return { errors: walk.errors, budget: walk.budget }
}

/** The context of a value. */
interface ValueContext {
  readonly path: OptionalPath
  /** The value and its old value, where they can be correlated. */
  readonly pair: CorrelatedValue | undefined
  /** The same for the closest ancestor that can be correlated. */
  readonly nearest: CorrelatedValue | undefined
  /** Whether errors about unchanged values become warnings. */
  readonly ratcheting: boolean
}

/** Below this the evaluation ends. */
const budgetExceeded = -1

class RuleEvaluation {
  readonly errors: FieldError[] = []
  readonly #warn: ((text: string) => void) | undefined
  budget: number

  constructor(budget: number, warn: ((text: string) => void) | undefined) {
    this.budget = budget
    this.#warn = warn
  }

  /** Null has no rules of its own: the parent decides whether a value may be null. */
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
    // The type of the whole object is never ratcheted: old and new object have the same version.
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

  /** Reports a violated rule, with its own message if it has one. */
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

/** Upstream does not use the schema of objects and lists inside an optional: they are read as plain JSON. */
function optional(old: JsonValue | undefined, { adapt }: RuleNode): Optional {
  if (old === undefined) return Optional.none
  return Optional.of(typeof old === 'object' ? adaptDynamic(old) : adapt(old))
}

// Messages and errors of violated rules.

/** The maximum length of a message. */
const messageBytesMax = 5 * 1024

interface RuleMessage {
  readonly text: string
  /** The remaining budget. */
  readonly budget: number
  /** Whether the message exceeded the cost limit, which ends the evaluation. */
  readonly isFatal: boolean
}

/**
 * The message of a violated rule. A message expression without a usable result is ignored; one that exceeds the cost
 * limit is not.
 */
export function evaluateMessage(
  { rule, messageExpression }: CompiledRule,
  bindings: Readonly<Record<string, unknown>>,
  budget: number,
): RuleMessage {
  const otherwise = messageOf(rule)
  if (!messageExpression) return { text: otherwise, budget, isFatal: false }
  const result = messageExpression.evaluate(bindings)
  if (result.cost > budget)
    return fatal(
      'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    )
  if (result.error !== undefined && result.costExceeded) {
    return fatal(
      `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(rule.messageExpression)}`,
    )
  }
  const text = typeof result.value === 'string' ? result.value.trim() : ''
  const isGood = text !== '' && utf8Length(text) <= messageBytesMax && !text.includes('\n')
  return { text: isGood ? text : otherwise, budget: budget - result.cost, isFatal: false }
}

function fatal(text: string): RuleMessage {
  return { text, budget: -1, isFatal: true }
}

interface RuleViolation {
  readonly path: FieldPath | undefined
  readonly value: JsonValue
  /** Objects and lists are not repeated in the error. */
  readonly isStructure: boolean
}

/** The error of a violated rule. */
export function violationError(
  { reason }: Rule,
  text: string,
  { path, value, isStructure }: RuleViolation,
): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return fieldError.forbidden(path, text)
    case 'FieldValueRequired':
      return fieldError.required(path, text)
    case 'FieldValueDuplicate':
      return isStructure
        ? { ...fieldError.duplicate(path, ''), body: fieldCauses.FieldValueDuplicate }
        : fieldError.duplicate(path, value)
    default:
      return isStructure
        ? { ...fieldError.invalid(path, '', text), body: `${fieldCauses.FieldValueInvalid}: ${text}` }
        : fieldError.invalid(path, value, text)
  }
}

// The rule engine.

export const ruleEngine: RuleEngine = {
  compile(schema) {
    const root = ruleTree(compileSchema(schema), { isResource: true })
    return (
      root && { evaluate: (object, { old, warn = ignore } = {}) => evaluateRules(object, root, { old, warn }).errors }
    )
  },

  check: checkRules,

  startDefaults() {
    let left = objectCostMax
    return (value, schema, path): readonly FieldError[] => {
      const compiled = compileSchema(schema)
      const root = ruleTree(compiled, { isResource: compiled.isEmbedded })
      if (!root || left < 0) return []
      // A default must be valid both as an unchanged value and as a new one.
      const kept = evaluateRules(value, root, { old: value, path, budget: left })
      const added = kept.errors.length > 0 ? kept : evaluateRules(value, root, { path, budget: left })
      left = Math.min(kept.budget, added.budget)
      return added.errors
    }
  },
}

function ignore(): void {
  // Ratcheted errors are dropped here.
}
