/**
 * The door to rules in the expression language. The language is large and most servers never meet a rule, so it is
 * loaded when the first one is there; until then only the types of this file are known.
 */
import type { FieldError } from '../error/field-error.ts'
import type { JsonObject } from '../json.ts'
import type { SchemaNode } from '../schema/schema.ts'
import type { ExpressionChecks } from '../structural/schema/schema-of-version.ts'

/** The rules of one schema, compiled. */
export interface RuleEvaluator {
  /** Evaluates all rules on an object that is otherwise right: an error for each that is broken. */
  evaluate(object: JsonObject, options?: RuleEvaluatorOptions): readonly FieldError[]
}

export interface RuleEvaluatorOptions {
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
  return (await import('./language.ts')).ruleEngine
}
