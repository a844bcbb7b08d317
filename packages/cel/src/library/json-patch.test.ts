import { expect, test } from 'vitest'
import type { ListValue } from '../collections.ts'
import { CompiledExpression, compileExpression } from '../expression.ts'
import { adaptDynamic, misplacedParts, toJson } from '../json.ts'
import { dynType, formatType } from '../types.ts'
import type { Value } from '../values.ts'
import { baseEnvironment } from './base.ts'
import { patchFunctions, patchMessages, type PatchValue } from './json-patch.ts'

const environment = baseEnvironment.extend(
  { object: { type: dynType, adapt: adaptDynamic } },
  { functions: patchFunctions, messages: patchMessages },
)

function compile(text: string): CompiledExpression | string {
  const compiled = compileExpression(text, environment)
  return compiled instanceof CompiledExpression ? compiled : (compiled.errors.split('\n', 1)[0] ?? '')
}

function evaluate(text: string, object: unknown = {}): Value | string {
  const compiled = compile(text)
  if (typeof compiled === 'string') return compiled
  const { value, error } = compiled.evaluate({ object })
  return error === undefined ? value : error
}

test('Object messages become the JSON they say, data of the object included', () => {
  const made = evaluate(
    'Object{spec: Object.spec{replicas: object.spec.replicas + 1, ratio: 0.5, labels: {"a": "b"}, items: [Object.spec.items{name: "x"}]}}',
    { spec: { replicas: 2 } },
  )
  expect(toJson(made)).toEqual({ spec: { replicas: 3, ratio: 0.5, labels: { a: 'b' }, items: [{ name: 'x' }] } })
  expect(misplacedParts(made)).toEqual([])
})

test('Object messages keep keys that objects have by nature', () => {
  expect(
    Object.entries(
      toJson(evaluate('Object{metadata: Object.metadata{labels: {"__proto__": "x", "constructor": "y"}}}')) as object,
    ),
  ).toEqual([['metadata', expect.anything()]])
  const { metadata } = toJson(evaluate('Object{metadata: Object.metadata{labels: {"__proto__": "x"}}}')) as {
    metadata: { labels: object }
  }
  expect(Object.keys(metadata.labels)).toEqual(['__proto__'])
})

test('misplacedParts finds parts whose names do not say where they are', () => {
  expect(misplacedParts(evaluate('Object{spec: Object.status{}}'))).toEqual([
    'unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type',
  ])
})

test('optional fields of a message are left out when they are empty', () => {
  expect(toJson(evaluate('Object{?spec: object.?spec, ?status: object.?status}', { spec: { a: 1 } }))).toEqual({
    spec: { a: 1 },
  })
})

test('JSONPatch messages hold operations; their texts must be texts', () => {
  const list = evaluate(
    '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b~c"), value: {"x": 1}}]',
  )
  const [operation] = (list as ListValue).values()
  expect(toJson((operation as PatchValue).fields.get('path') ?? null)).toBe('/metadata/labels/a~1b~0c')
  expect(compile('[JSONPatch{op: 1}]')).toBe(
    "ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'",
  )
  expect(evaluate('JSONPatch{op: object.x}', { x: 1 })).toBe("unexpected type int for JSONPatchType 'op' field")
})

test('types of messages show by their names', () => {
  expect(formatType((compile('[JSONPatch{op: "remove"}]') as CompiledExpression).type)).toBe('list(JSONPatch)')
  expect(formatType((compile('Object.spec{}') as CompiledExpression).type)).toBe('Object.spec')
  expect(evaluate('Object{a: 1} == Object{a: 1} && Object{a: 1} != Object{a: 2}')).toBe(true)
  expect(compile('Unknown{a: 1}')).toContain("undeclared reference to 'Unknown'")
})

test('selecting from a message that was made is an error, as upstream', () => {
  expect(evaluate('Object{a: 1}.a == 1')).toBe('no such overload')
})
