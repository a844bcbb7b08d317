/**
 * The types of CEL rules, and the loader of the rule engine.
 *
 * CEL is large and most servers have no rules, so it is loaded with the first rule. This file does not import it. A
 * rule is one entry of `x-kubernetes-validations`, decoded without trusting its types.
 */
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import type { ExpressionChecks } from '../crd/version-schema.ts'
import type { FieldError } from '../errors/field-error.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import type { SchemaNode } from '../schema/schema.ts'

/** The rules of one schema, compiled. */
export interface RuleEvaluator {
  /** Evaluates all rules on an object that is otherwise valid: one error for each violated rule. */
  evaluate(object: JsonObject, options?: RuleEvaluatorOptions): readonly FieldError[]
}

interface RuleEvaluatorOptions {
  /** The old object. */
  readonly old?: JsonObject | undefined
  /**
   * Receives the errors about unchanged values, which become warnings.
   *
   * @default they are dropped
   */
  readonly warn?: ((text: string) => void) | undefined
}

/** The functions of CEL for CRDs and custom resources. */
export interface RuleEngine extends ExpressionChecks {
  /**
   * The rules of a structural schema; `undefined` when it has none. Compiled rules are cached in the result, so call
   * this once per schema.
   */
  compile(schema: SchemaNode): RuleEvaluator | undefined
}

/** Loads CEL; every call returns the same engine. */
export async function loadRuleEngine(): Promise<RuleEngine> {
  return (await import('./evaluate.ts')).ruleEngine
}

/** The cost limit of all expressions on one object together. */
export const objectCostMax = 10_000_000

/** The limit of the cost estimate of one rule. */
export const ruleEstimateMax = 10_000_000n

/** The limit of the cost estimates of all rules of a CRD together. */
export const crdEstimateMax = 100_000_000n

// Rules as they stand in a schema.

export interface Rule {
  readonly text: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string | undefined
  /** The field that errors name, relative to the node of the rule. */
  readonly fieldPath: string
  /** Whether `oldSelf` is an optional, so that the rule also applies to new values; `undefined` when not set. */
  readonly optionalOldSelf: boolean | undefined
}

/** The rules of a schema node, in order. */
export function readRules({ rules }: CompiledSchema): readonly Rule[] {
  return rules.map(readRule)
}

/** The description of a rule in errors: its message if it has one. */
export function describeRule({ text, message }: Rule): string {
  return (message === '' ? text : message).trim()
}

/** The message of a violated rule without a message expression. */
export function messageOf(rule: Rule): string {
  return rule.message === '' ? `failed rule: ${describeRule(rule)}` : describeRule(rule)
}

/** A rule in the errors of a CRD: with the Go names of its fields. */
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
