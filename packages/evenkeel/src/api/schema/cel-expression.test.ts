import { describe, expect, test } from 'vitest'
import {
  adaptDynamic,
  baseEnvironment,
  CompiledExpression,
  compileExpression,
  dynType,
  Optional,
  optionalOf,
  stringType,
  type DeclType,
  type Environment,
  type EvaluateOptions,
} from '@evenkeel/cel'
import { ruleEstimateMax } from '../rules/rules.ts'
import { schemaDeclType } from './cel-types.ts'
import type { SchemaNode } from './schema.ts'

const string: SchemaNode = { type: 'string' }
const integer: SchemaNode = { type: 'integer' }

function typeOf(properties: Record<string, SchemaNode>): DeclType {
  return schemaDeclType({ root: { type: 'object', properties }, definitions: () => undefined })!
}

function compile(text: string, environment: Environment): CompiledExpression {
  const compiled = compileExpression(text, environment)
  if (!(compiled instanceof CompiledExpression)) throw new Error(compiled.errors)
  return compiled
}

/** Evaluates with `self` of a schema. */
function evaluate(
  text: string,
  properties: Record<string, SchemaNode>,
  { self, ...options }: { self: unknown } & EvaluateOptions,
) {
  return compile(text, baseEnvironment.extend({ self: typeOf(properties) })).evaluate({ self }, options)
}

describe('CompiledExpression.evaluate', () => {
  test('can be called again and again, each time with other data', () => {
    const rule = compile(
      'self.items.map(x, x * 2).sum()',
      baseEnvironment.extend({ self: typeOf({ items: { type: 'array', items: integer } }) }),
    )
    expect([[1, 2], [5], []].map((items) => rule.evaluate({ self: { items } }).value)).toEqual([6, 10, 0])
  })

  test('reads only what the expression asks for', () => {
    const read: string[] = []
    const self = {
      get a() {
        read.push('a')
        return 1
      },
      get b() {
        read.push('b')
        return 2
      },
    }
    expect(evaluate('self.a == 1 || self.b == 2', { a: integer, b: integer }, { self }).value).toBe(true)
    expect(read).toEqual(['a'])
  })

  test.each([
    ['self.n == 1', { n: '1' }, 'invalid data, expected int, got string'],
    ['self.s == ""', { s: 1 }, 'invalid data, expected string, got int64'],
    ['self.l.size() == 0', { l: {} }, 'invalid data, expected an array for the provided schema with type=array'],
    ['self.l[0] == 0', { l: [null] }, 'invalid data, got null for schema with nullable=false'],
    ['self.t > timestamp(0)', { t: 'x' }, 'Invalid date-time formatted string x: cannot parse'],
  ])('%s on %j is an error where the data contradicts its schema', (text, self, error) => {
    const properties = {
      n: integer,
      s: string,
      l: { type: 'array', items: integer },
      t: { ...string, format: 'date-time' },
    } as const
    expect(evaluate(text, properties, { self }).error).toBe(error)
  })

  test('takes a null field for an absent one, unless it is in a map or list that may hold null', () => {
    const properties = {
      a: { ...string, nullable: true },
      m: { type: 'object', additionalProperties: { ...string, nullable: true } },
    } as const
    expect(evaluate('has(self.a)', properties, { self: { a: null } }).value).toBe(false)
    expect(evaluate('dyn(self.m["x"]) == null', properties, { self: { m: { x: null } } }).value).toBe(true)
  })

  test.each([
    ['self.l[0].startsWith("a")', 'no such overload'],
    ['self.l[0].matches("a")', 'no such overload'],
    ['self.l[0] > "a"', 'no such overload: _>_'],
    ['self.l[0] + "a" == ""', 'no such overload: _+_'],
    ['self.l[0].replace("a", "b", 1) == ""', 'no such overload: replace(null_type, string, string, int)'],
  ])('%s is an error where the element is null', (text, error) => {
    expect(
      evaluate(text, { l: { type: 'array', items: { ...string, nullable: true } } }, { self: { l: [null] } }).error,
    ).toBe(error)
  })

  test('compares the insides of data, even with itself', () => {
    expect(evaluate('self == self', { l: { type: 'array', items: string } }, { self: { l: [null] } }).error).toBe(
      'invalid data, got null for schema with nullable=false',
    )
  })

  test('looks at every value where types are not to be trusted', () => {
    const environment = baseEnvironment.extend({ old: { type: optionalOf(stringType) } })
    const rule = compileExpression('old.value().matches("a") && old.value().size() > 1', environment, {
      trustsTypes: false,
    })
    if (!(rule instanceof CompiledExpression)) throw new Error(rule.errors)
    expect(rule.evaluate({ old: Optional.of(5) })).toMatchObject({ error: 'no such overload' })
    expect(rule.evaluate({ old: Optional.of('ab') })).toMatchObject({ value: true })
  })

  test('sees keys that every JavaScript object has only where the data has them', () => {
    const properties = { m: { type: 'object', additionalProperties: string } } as const
    const self = JSON.parse('{"m": {"__proto__": "p", "constructor": "c"}}') as unknown
    expect(evaluate('self.m["__proto__"] + self.m["constructor"]', properties, { self }).value).toBe('pc')
    expect(
      evaluate('"__proto__" in self.m || "toString" in self.m || has(self.m.constructor)', properties, {
        self: { m: {} },
      }).value,
    ).toBe(false)
    expect(evaluate('self.m.map(k, k).sort()', properties, { self }).value).toMatchObject({
      items: ['__proto__', 'constructor'],
    })
    expect(evaluate('self.m.transformMap(k, v, v).size()', properties, { self }).value).toBe(2)
  })

  test('sees fields with such names only where the schema has them', () => {
    const properties = JSON.parse('{"__proto__": {"type": "string"}}') as Record<string, SchemaNode>
    const name = '__underscores__proto__underscores__'
    expect(evaluate(`self.${name}`, properties, { self: JSON.parse('{"__proto__": "p"}') }).value).toBe('p')
    expect(evaluate(`has(self.${name})`, properties, { self: {} }).value).toBe(false)
  })

  test('says which variable nobody bound', () => {
    expect(compile('x == 1', baseEnvironment.extend({ x: { type: dynType } })).evaluate({})).toMatchObject({
      error: 'no such attribute(s): x',
    })
    expect(
      compile('toString == 1', baseEnvironment.extend({ toString: { type: dynType } })).evaluate({}),
    ).toMatchObject({ error: 'no such attribute(s): toString' })
  })

  test('takes values as they are, and JSON without a schema', () => {
    const environment = baseEnvironment.extend({
      old: { type: optionalOf(dynType) },
      params: { type: dynType, adapt: adaptDynamic },
    })
    const rule = compile('old.hasValue() ? 0 : params.max + params.list.size()', environment)
    expect(rule.evaluate({ old: Optional.none, params: { max: 3, list: [1.5, {}] } }).value).toBe(5)
    expect(rule.evaluate({ old: Optional.of(1), params: {} }).value).toBe(0)
  })
})

describe('the price of an evaluation', () => {
  test('is one per variable, selection and call, and more for long texts', () => {
    expect(evaluate('self.a == 1', { a: integer }, { self: { a: 1 } }).cost).toBe(3)
    expect(evaluate('has(self.a)', { a: integer }, { self: { a: 1 } }).cost).toBe(1)
    expect(evaluate('self.s.contains("x")', { s: string }, { self: { s: 'y'.repeat(100) } }).cost).toBe(12)
    expect(evaluate('self.a in [1, 2, 3]', { a: integer }, { self: { a: 1 } }).cost).toBe(2)
  })

  test('ends an evaluation as soon as it is exceeded, even inside of what absorbs errors', () => {
    const result = evaluate(
      'self.l.all(x, self.l.all(y, x + y > 0)) || true',
      { l: { type: 'array', items: integer } },
      { self: { l: new Array(1000).fill(1) }, costLimit: 500 },
    )
    expect(result).toMatchObject({ error: 'operation cancelled: actual cost limit exceeded', costExceeded: true })
    expect(result.cost).toBeLessThan(510)
  })

  test.each([
    'self.l.distinct().size() > 0',
    'self.l.sort().size() > 0',
    'sets.contains(self.l, self.l)',
    'lists.range(1500000).size() > 0',
    'lists.range(1000).map(i, self.s).join().size() > 0',
    'self.s.matches("(a|b)*" + self.s)',
  ])('stops %s before it does the work', (text) => {
    const self = { l: Array.from({ length: 2000 }, (_, index) => String(index)), s: 'a'.repeat(60_000) }
    const result = evaluate(text, { l: { type: 'array', items: string }, s: string }, { self, costLimit: 100_000 })
    expect(result.error).toMatch(/actual cost limit exceeded|too long/)
  })

  test('does not let a text grow beyond what memory holds', () => {
    expect(
      evaluate('self.s.replace("", self.s).size()', { s: string }, { self: { s: 'a'.repeat(60_000) } }).error,
    ).toBe('the resulting text is too long')
  })
})

describe('CompiledExpression.estimateCost', () => {
  const rule = (items: SchemaNode) => {
    const self = typeOf({ items })
    return compile(
      'self.items.all(x, self.items.exists_one(y, x == y))',
      baseEnvironment.extend({ self }),
    ).estimateCost(self)
  }

  test('is beyond the limit of a rule for a loop within a loop over a list without bounds, and within it with bounds', () => {
    expect(rule({ type: 'array', items: string }).max).toBeGreaterThan(ruleEstimateMax)
    expect(rule({ type: 'array', items: { ...string, maxLength: 20 }, maxItems: 50 }).max).toBeLessThan(ruleEstimateMax)
  })

  test('covers what an evaluation costs', () => {
    const { min, max } = rule({ type: 'array', items: { ...string, maxLength: 20 }, maxItems: 3 })
    const self = { items: ['a', 'b', 'c'] }
    const { cost } = evaluate(
      'self.items.all(x, self.items.exists_one(y, x == y))',
      { items: { type: 'array', items: string } },
      { self },
    )
    expect(BigInt(cost)).toBeGreaterThanOrEqual(min)
    expect(BigInt(cost)).toBeLessThanOrEqual(max)
  })
})
