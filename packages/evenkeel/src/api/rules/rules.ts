/**
 * The door to rules in the expression language. The language is large and most servers never meet a rule, so it is
 * loaded when the first one is there; until then only the types of this file are known.
 */
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import type { ExpressionChecks } from '../crd/version-schema.ts'
import type { FieldError } from '../errors/field-error.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import type { SchemaNode } from '../schema/schema.ts'

/** The rules of one schema, compiled. */
export interface RuleEvaluator {
  /** Evaluates all rules on an object that is otherwise right: an error for each that is broken. */
  evaluate(object: JsonObject, options?: RuleEvaluatorOptions): readonly FieldError[]
}

interface RuleEvaluatorOptions {
  /** The object that is to be replaced. */
  readonly old?: JsonObject | undefined
  /**
   * Hears of rules that are broken by what has not changed, which is no error.
   *
   * @default nobody does
   */
  readonly warn?: ((text: string) => void) | undefined
}

/** What the expression language can do for definitions and their objects. */
export interface RuleEngine extends ExpressionChecks {
  /** The rules of a structural schema; `undefined` when it has none. What is compiled is kept, so call this once per schema. */
  compile(schema: SchemaNode): RuleEvaluator | undefined
}

/** Loads the expression language; every call gives the same. */
export async function loadRuleEngine(): Promise<RuleEngine> {
  return (await import('./evaluate.ts')).ruleEngine
}

/** What all expressions on one object may cost together. */
export const objectCostMax = 10_000_000

/** What the estimate for one rule may be. */
export const ruleEstimateMax = 10_000_000n

/** What the estimates for all rules of a definition may be together. */
export const crdEstimateMax = 100_000_000n

/*
 * One entry of `x-kubernetes-validations`, read without trusting its types, and what errors call it.
 */

export interface Rule {
  readonly text: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string | undefined
  /** The field that errors are about, from the place of the rule. */
  readonly fieldPath: string
  /** Whether `oldSelf` is an optional, so that the rule also holds for what is new; `undefined` when nothing is said. */
  readonly optionalOldSelf: boolean | undefined
}

/** The rules of a schema node, in order. */
export function readRules({ rules }: CompiledSchema): readonly Rule[] {
  return rules.map(readRule)
}

/** What errors say of a rule: its message if it has one. */
export function describeRule({ text, message }: Rule): string {
  return (message === '' ? text : message).trim()
}

/** What a broken rule says when no expression says it better. */
export function messageOf(rule: Rule): string {
  return rule.message === '' ? `failed rule: ${describeRule(rule)}` : describeRule(rule)
}

/** A rule as errors about definitions show it: by the names of its fields in Go. */
export function showRule({ text, message, messageExpression, reason, fieldPath, optionalOldSelf }: Rule): JsonObject {
  return {
    Rule: text,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  }
}

function readRule(value: JsonValue): Rule {
  const fields = isJsonObject(value) ? value : {}
  const textOf = (key: string): string | undefined => {
    const found = getOwn(fields, key)
    return typeof found === 'string' ? found : undefined
  }
  const optional = getOwn(fields, 'optionalOldSelf')
  return {
    text: textOf('rule') ?? '',
    message: textOf('message') ?? '',
    messageExpression: textOf('messageExpression') ?? '',
    reason: textOf('reason'),
    fieldPath: textOf('fieldPath') ?? '',
    optionalOldSelf: typeof optional === 'boolean' ? optional : undefined,
  }
}
