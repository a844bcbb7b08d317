import { expect, test } from 'vitest'
import { formatFieldError } from '../errors/field-error.ts'
import { loadRuleEngine } from './rules.ts'

test('loadRules gives the same language every time, which compiles schemas that have rules', async () => {
  const language = await loadRuleEngine()
  expect(await loadRuleEngine()).toBe(language)
  expect(language.compile({ type: 'object', properties: { a: { type: 'string' } } })).toBeUndefined()
  const rules = language.compile({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.kind == "A"' }] })
  expect(rules?.evaluate({ kind: 'B' }).map(formatFieldError)).toEqual([
    '<nil>: Invalid value: failed rule: self.kind == "A"',
  ])
})
