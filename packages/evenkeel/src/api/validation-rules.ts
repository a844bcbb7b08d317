/**
 * The CEL rules of custom resources. CEL is loaded with the first CRD that has rules.
 */
import { loadRuleEngine, type RuleEngine, type RuleEvaluator } from './rules/rules.ts'
import type { SchemaNode } from './schema/schema.ts'

// Large, and most servers never need it.
let language: RuleEngine | undefined

/** Loads CEL if a CRD has rules; must have resolved before the CRD is validated or served. */
export async function loadValidationRules(definition: unknown): Promise<void> {
  if (language === undefined && mentionsRules(definition)) language = await loadRuleEngine()
}

/** The rule engine, once it is loaded. */
export function loadedRuleLanguage(): RuleEngine | undefined {
  return language
}

/** The rules of a schema, compiled at their first use: the objects of many CRDs are never written. */
export function lazyValidationRules(schema: SchemaNode): () => RuleEvaluator | undefined {
  let compiled: { readonly rules: RuleEvaluator | undefined } | undefined
  return () => (compiled ??= { rules: mentionsRules(schema) ? loaded().compile(schema) : undefined }).rules
}

/** Throws when {@link loadValidationRules} was not called, so that no object passes without validation. */
function loaded(): RuleEngine {
  if (language === undefined) throw new Error('rules are to be evaluated, but their language was never loaded')
  return language
}

/** The word may also occur in data, such as a default; then CEL is loaded without need. */
function mentionsRules(definition: unknown): boolean {
  const found: unknown[] = [definition]
  for (const value of found) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, 'x-kubernetes-validations')) return true
    for (const part of Object.values(value)) if (typeof part === 'object') found.push(part)
  }
  return false
}
