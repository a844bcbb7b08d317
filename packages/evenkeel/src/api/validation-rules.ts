/**
 * Rules of custom resources in the expression language, which is loaded with the first definition that has some.
 */
import { loadRuleEngine, type RuleEngine, type RuleEvaluator } from './rules/rules.ts'
import type { SchemaNode } from './schema/schema.ts'

// Large, and most servers never need it.
let language: RuleEngine | undefined

/** Makes rules work if a definition has any; must have resolved before it is judged or served. */
export async function loadValidationRules(definition: unknown): Promise<void> {
  if (language === undefined && mentionsRules(definition)) language = await loadRuleEngine()
}

/** The language, once a definition needed it. */
export function loadedRuleLanguage(): RuleEngine | undefined {
  return language
}

/** The rules of a schema, compiled when they are first asked for: many definitions are never written to. */
export function lazyValidationRules(schema: SchemaNode): () => RuleEvaluator | undefined {
  let compiled: { readonly rules: RuleEvaluator | undefined } | undefined
  return () => (compiled ??= { rules: mentionsRules(schema) ? loaded().compile(schema) : undefined }).rules
}

/** Objects must not pass because somebody forgot {@link loadValidationRules}. */
function loaded(): RuleEngine {
  if (language === undefined) throw new Error('rules are to be evaluated, but their language was never loaded')
  return language
}

/** The word may also be data, such as a default; then the language is loaded in vain. */
function mentionsRules(definition: unknown): boolean {
  const found: unknown[] = [definition]
  for (const value of found) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, 'x-kubernetes-validations')) return true
    for (const part of Object.values(value)) if (typeof part === 'object') found.push(part)
  }
  return false
}
