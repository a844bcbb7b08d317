import { describe, expect, test } from 'vitest'
import { CompiledExpression, compileExpression } from './expression.ts'
import { baseEnvironment } from './library/base.ts'
import { boolType, dynType, formatType, intType, listOf, mapOf, objectType, optionalOf, stringType } from './types.ts'

const spec = objectType(
  'Spec',
  new Map([
    ['replicas', intType],
    ['name', stringType],
    ['tags', listOf(stringType)],
    ['labels', mapOf(stringType, stringType)],
  ]),
)
const environment = baseEnvironment.extend({
  self: {
    type: objectType(
      'Root',
      new Map([
        ['spec', spec],
        ['enabled', boolType],
      ]),
    ),
  },
  any: { type: dynType },
  maybe: { type: optionalOf(spec) },
})

describe('the type checker', () => {
  test.each([
    ['self.spec.replicas + 1', 'int'],
    ['self.spec', 'Spec'],
    ['self.spec.tags.map(t, t.size())', 'list(int)'],
    ['self.spec.labels.transformMap(k, v, v.size())', 'map(string, int)'],
    ['self.spec.tags.filter(t, t != "")', 'list(string)'],
    ['self.?spec.?name', 'optional_type(string)'],
    ['maybe.name', 'optional_type(string)'],
    ['maybe.?name.orValue("x")', 'string'],
    ['any.x.y[0] + 1', 'int'],
    ['any + any', 'dyn'],
    ['[]', 'list(dyn)'],
    ['{"a": []}', 'map(string, list(dyn))'],
    ['true ? 1 : any', 'dyn'],
    ['type(1)', 'type(int)'],
    ['quantity("1").add(1)', 'kubernetes.Quantity'],
    ['[1, 2].first()', 'optional_type(int)'],
    ['1 < 2.0', 'bool'],
  ])('finds the type of %s', (text, type) => {
    const compiled = compileExpression(text, environment)
    expect(compiled instanceof CompiledExpression ? formatType(compiled.type) : compiled.errors).toBe(type)
  })

  test.each([
    ['foo', "undeclared reference to 'foo' (in container '')"],
    ['self.spec.nope', "undefined field 'nope'"],
    ['self.spec.name.nope', "type 'string' does not support field selection"],
    ['1 + "a"', "found no matching overload for '_+_' applied to '(int, string)'"],
    ['"a".startsWith(1)', "found no matching overload for 'startsWith' applied to 'string.(int)'"],
    ['1 && true', "expected type 'bool' but found 'int'"],
    [
      'self.spec.replicas.all(x, true)',
      "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    ['[1, "a"]', "expected type 'int' but found 'string'"],
    ['{"a": 1, "b": true}', "expected type 'int' but found 'bool'"],
    ['Foo{a: 1}', "undeclared reference to 'Foo' (in container '')"],
    ['duration("x")', 'invalid duration argument'],
    ['timestamp("x")', 'invalid timestamp argument'],
    ['"a".matches("(")', 'invalid matches argument'],
    ['"%d".format(["a"])', 'error during formatting: decimal clause can only be used on integers, was given string'],
    ['"%s".format([])', 'index 0 out of range'],
    ['"x".format([1])', 'too many arguments supplied to string.format (expected 0, got 1)'],
    ['[?1]', "expected type 'optional_type(int)' but found 'int'"],
  ])('refuses %s', (text, message) => {
    const compiled = compileExpression(text, environment)
    expect(compiled).toMatchObject({ stage: 'compilation' })
    expect(compiled instanceof CompiledExpression ? '' : compiled.errors.split('\n')[0]).toContain(message)
  })

  test('reports every mistake that does not follow from another, in order', () => {
    const compiled = compileExpression('foo.x + bar\n && self.nope', environment)
    expect(
      compiled instanceof CompiledExpression
        ? []
        : compiled.errors.split('\n').filter((line) => line.startsWith('ERROR')),
    ).toEqual([
      "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')",
      "ERROR: <input>:1:9: undeclared reference to 'bar' (in container '')",
      "ERROR: <input>:2:9: undefined field 'nope'",
    ])
  })

  test('refuses before running what can never run', () => {
    expect(compileExpression('int("x") > 1', environment)).toEqual({
      stage: 'instantiation',
      errors: "type conversion error from 'string' to 'int'",
    })
  })

  test('lets an environment hide a variable of the one below, and leaves that one as it was', () => {
    const inner = environment.extend({ self: { type: intType } })
    expect(compileExpression('self + 1', inner)).toBeInstanceOf(CompiledExpression)
    expect(compileExpression('self + 1', environment)).not.toBeInstanceOf(CompiledExpression)
  })

  test('tells which variables an expression uses, not those of its loops', () => {
    const compiled = compileExpression('any.all(self, self > 1) && maybe.hasValue()', environment)
    expect(compiled instanceof CompiledExpression && [...compiled.variables]).toEqual(['any', 'maybe'])
  })
})
