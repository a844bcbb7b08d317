/**
 * Everything about rules that needs the expression language, in one value: what `loadRules` loads.
 */
import { objectCostMax } from '../expressions/expression.ts'
import type { FieldError } from '../error/field-error.ts'
import { checkRules } from './check.ts'
import { evaluateRules } from './evaluate.ts'
import type { RuleEngine } from './load.ts'
import { ruleTree } from './rule-node.ts'

export const ruleEngine: RuleEngine = {
  compile(schema) {
    const root = ruleTree(schema, { isResource: true })
    return (
      root && { evaluate: (object, { old, warn = ignore } = {}) => evaluateRules(object, root, { old, warn }).errors }
    )
  },

  check: checkRules,

  startDefaults() {
    let left = objectCostMax
    return (value, schema, path): readonly FieldError[] => {
      const root = ruleTree(schema, { isResource: schema['x-kubernetes-embedded-resource'] === true })
      if (!root || left < 0) return []
      // As if it had always been there, and as if it were new: both must be allowed.
      const kept = evaluateRules(value, root, { old: value, path, budget: left })
      const added = kept.errors.length > 0 ? kept : evaluateRules(value, root, { path, budget: left })
      left = Math.min(kept.budget, added.budget)
      return added.errors
    }
  },
}

function ignore(): void {
  // nobody wants to hear what was forgiven
}
