import { expect, test } from 'vitest'
import { Duration, EvaluationError } from '@evenkeel/cel'
import { jsonAdapter, withObjectMeta } from './cel-values.ts'
import { compileSchema } from './compile.ts'
import type { SchemaNode } from './schema.ts'

const read = (node: SchemaNode, json: unknown): unknown => jsonAdapter(compileSchema(node))(json as never)
const hour = 3_600_000_000_000n

test.each([
  ['1.5h', (3n * hour) / 2n],
  ['-1h', -hour],
  ['3 days', 72n * hour],
  ['1 hour 30 minutes', (3n * hour) / 2n],
])('jsonAdapter reads the duration %s', (text, nanos) => {
  const found = read({ type: 'string', format: 'duration' }, text)
  expect(found instanceof Duration && found.nanos).toBe(nanos)
})

test('jsonAdapter refuses a text that is no duration', () => {
  expect(read({ type: 'string', format: 'duration' }, 'soon')).toBeInstanceOf(EvaluationError)
})

test('jsonAdapter reads large integers alike, however JSON was parsed', () => {
  expect(read({ type: 'integer' }, 2n ** 60n)).toEqual(read({ type: 'integer' }, 2 ** 60))
  expect(read({ type: 'integer' }, 5)).toBe(5)
})

test('withObjectMeta adds the fields of a resource only where they are not declared', () => {
  const text: SchemaNode = { type: 'string' }
  const resource = (metadata: Record<string, SchemaNode>): SchemaNode => ({
    type: 'object',
    properties: { apiVersion: text, kind: text, metadata: { type: 'object', properties: metadata } },
  })
  const declared = compileSchema(resource({ name: text, generateName: text }))
  expect(withObjectMeta(declared)).toBe(declared)
  const undeclared = compileSchema(resource({ generateName: text }))
  expect(withObjectMeta(undeclared)).not.toBe(undeclared)
})
