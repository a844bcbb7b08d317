import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '@evenkeel/cel/primitives'
import { FieldPath, formatFieldError } from '../errors/field-error.ts'
import { compileSchema } from '../schema/compile.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { validateCustomObject } from '../schema/validate.ts'
import { ruleTree } from './compile.ts'
import { evaluateRules, ruleEngine } from './evaluate.ts'
import { ruleCases } from './objects.fixture.ts'

const objectOf = (spec: JsonValue): JsonObject => ({
  apiVersion: 'g.io/v1',
  kind: 'Foo',
  metadata: { name: 'x' },
  spec,
})
const schemaOf = (spec: SchemaNode): SchemaNode => ({ type: 'object', properties: { spec } })

function judge(spec: SchemaNode, value: JsonValue, old?: JsonValue): { errors: string[]; warnings: string[] } {
  const schema = schemaOf(spec)
  const warnings: string[] = []
  const options = {
    matches: () => true,
    rules: ruleEngine.compile(schema),
    warn: (text: string) => {
      warnings.push(text)
    },
    old: old === undefined ? undefined : objectOf(old),
  }
  return { errors: validateCustomObject(objectOf(value), schema, options).map(formatFieldError), warnings }
}

function texts(errors: ReturnType<typeof evaluateRules>['errors']): string[] {
  return errors.map(formatFieldError)
}

const numbers = (count: number): JsonValue => Array.from({ length: count }, (_, index) => index)

function tree(spec: SchemaNode): NonNullable<ReturnType<typeof ruleTree>> {
  const root = ruleTree(compileSchema(spec), { isResource: false })
  if (!root) throw new Error('no rules')
  return root
}

describe('rules of custom objects', () => {
  test.each(ruleCases)('judge $name', ({ spec, value, old, errors = [], warnings = [] }) => {
    const judged = judge(spec, value, old)
    expect({ errors: judged.errors.sort(), warnings: judged.warnings.sort() }).toEqual({
      errors: [...errors].sort(),
      warnings: [...warnings].sort(),
    })
  })

  test('see fields that are called like something of Object, and nothing else of it', () => {
    const spec = JSON.parse(`{"type":"object","properties":{
      "__proto__":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 4"}]},
      "m":{"type":"object","additionalProperties":{"type":"integer","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}
    },"x-kubernetes-validations":[{"rule":"!('toString' in self.m) && self.m['__proto__'] == 2"}]}`) as SchemaNode
    const value = JSON.parse('{"__proto__":1,"m":{"__proto__":2,"constructor":3}}') as JsonValue
    const old = JSON.parse('{"__proto__":2,"m":{"__proto__":2,"constructor":4}}') as JsonValue
    expect(judge(spec, value, old).errors).toEqual([
      'spec.__proto__: Invalid value: 1: failed rule: self > 4',
      'spec.m[constructor]: Invalid value: 3: failed rule: self == oldSelf',
    ])
    expect(judge(spec, {}).errors).toEqual([
      "spec: Invalid value: \"object\": no such key: m evaluating rule: !('toString' in self.m) && self.m['__proto__'] == 2",
    ])
  })

  test('forgive nothing to apiVersion and kind', () => {
    const schema: SchemaNode = {
      type: 'object',
      properties: {
        kind: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == "Bar"' }, { rule: 'self == oldSelf' }] },
      },
    }
    const rules = ruleEngine.compile(schema)
    expect(rules?.evaluate(objectOf(1), { old: objectOf(1) }).map(formatFieldError)).toEqual([
      'kind: Invalid value: "Foo": failed rule: self == "Bar"',
    ])
  })
})

describe('the budget of rules', () => {
  const list: SchemaNode = { type: 'array', items: { type: 'integer' } }

  test('row 17: ends the walk when one expression costs too much', () => {
    const rule = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0)))'
    const { errors, budget } = evaluateRules(
      numbers(200),
      tree({ ...list, 'x-kubernetes-validations': [{ rule }, { rule: 'false' }] }),
    )
    expect(texts(errors)).toEqual([
      `<nil>: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
    ])
    expect(budget).toBe(-1)
  })

  test('ends the walk when it is spent, in the middle or right before a rule', () => {
    const each: SchemaNode = {
      type: 'array',
      items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 100' }] },
    }
    const spent =
      'Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run'
    const { budget } = evaluateRules(numbers(1), tree(each), { budget: 100 })
    const price = 100 - budget
    expect(texts(evaluateRules(numbers(5), tree(each), { budget: price * 3 }).errors)).toEqual([`[3]: ${spent}`])
    expect(texts(evaluateRules(numbers(5), tree(each), { budget: price * 3 + 1 }).errors)).toEqual([`[3]: ${spent}`])
    expect(evaluateRules(numbers(5), tree(each), { budget: price * 5 })).toEqual({ errors: [], budget: 0 })
  })

  test('lasts for a rule that costs as much as is left', () => {
    const flags: SchemaNode = {
      type: 'array',
      items: { type: 'boolean', 'x-kubernetes-validations': [{ rule: 'self' }] },
    }
    const judged = (budget: number): ReturnType<typeof evaluateRules> =>
      evaluateRules([true, true, true], tree(flags), { budget })
    expect(judged(3)).toEqual({ errors: [], budget: 0 })
    expect(texts(judged(2).errors)).toEqual([expect.stringContaining('[2]: Invalid value: "boolean"')])
  })

  test('is shared by the defaults of a definition, until it is spent', () => {
    const judge = ruleEngine.startDefaults()
    const at = FieldPath.of('default')
    const text: SchemaNode = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == self' }] }
    const flag: SchemaNode = { type: 'boolean', 'x-kubernetes-validations': [{ rule: 'self' }] }
    // A twentieth of the budget: a comparison costs a tenth of the length, and reading both sides 2.
    const long = 'x'.repeat(4_999_980)
    for (let times = 0; times < 20; times++) expect(judge(long, text, at)).toEqual([])
    expect(texts(judge(true, flag, at))).toEqual([expect.stringContaining('running out of cost budget')])
    expect(judge(false, flag, at)).toEqual([])
  })

  test('is also that of messages', () => {
    const messageExpression = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0))) ? "a" : "b"'
    const dear = tree({
      ...list,
      'x-kubernetes-validations': [{ rule: 'size(self) < 3', messageExpression }, { rule: 'false' }],
    })
    expect(texts(evaluateRules(numbers(200), dear).errors)).toEqual([
      `<nil>: Invalid value: "array": no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(messageExpression)}`,
    ])
    expect(texts(evaluateRules(numbers(5), dear, { budget: 100 }).errors)).toEqual([
      '<nil>: Invalid value: "array": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    ])
  })
})

test('evaluateRules forgives exactly what an unchanged object breaks, and nothing that compares', () => {
  const leaf: SchemaNode = {
    type: 'integer',
    'x-kubernetes-validations': [{ rule: 'self > 5' }, { rule: 'self <= oldSelf + 100' }],
  }
  const spec: SchemaNode = {
    type: 'object',
    properties: { a: leaf, m: { type: 'object', additionalProperties: leaf } },
    'x-kubernetes-validations': [{ rule: '!has(self.a) || self.a != 3' }],
  }
  const root = tree(spec)
  const values = fc.record(
    { a: fc.nat(10), m: fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), fc.nat(10)) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(values, values, (value, old) => {
      const fresh = texts(evaluateRules(value, root).errors)
      const warnings: string[] = []
      const same = evaluateRules(value, root, {
        old: value,
        warn: (text) => {
          warnings.push(text)
        },
      })
      expect([same.errors, warnings]).toEqual([[], fresh])
      const heard: string[] = []
      const changed = texts(
        evaluateRules(value, root, {
          old,
          warn: (text) => {
            heard.push(text)
          },
        }).errors,
      )
      expect([...changed, ...heard].sort()).toEqual([...fresh].sort())
    }),
  )
})
