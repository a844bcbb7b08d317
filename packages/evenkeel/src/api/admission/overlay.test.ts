import { describe, expect, test } from 'vitest'
import { deepFreeze, type JsonObject } from '@evenkeel/cel/primitives'
import type { Schema, SchemaNode } from '../schema/schema.ts'
import { loadAdmissionEngine } from './expressions.ts'
import { overlay } from './overlay.ts'

const text: SchemaNode = { type: 'string' }
const root: SchemaNode = {
  type: 'object',
  properties: {
    labels: { type: 'object', additionalProperties: text },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        properties: { name: text, size: { type: 'integer' }, words: { type: 'array', items: text } },
      },
    },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text } },
  },
}
const schema: Schema = { root, definitions: () => undefined }
const object: JsonObject = deepFreeze({
  labels: { a: '1' },
  parts: [
    { name: 'x', size: 1 },
    { name: 'y', size: 2 },
  ],
})

describe('overlay', () => {
  test('merges maps by key and lists by what tells their items apart', () => {
    expect(
      overlay(
        object,
        {
          labels: { b: '2' },
          parts: [
            { name: 'y', size: 3 },
            { name: 'z', size: 4 },
          ],
        },
        schema,
      ),
    ).toEqual({
      json: {
        labels: { a: '1', b: '2' },
        parts: [
          { name: 'x', size: 1 },
          { name: 'y', size: 3 },
          { name: 'z', size: 4 },
        ],
      },
    })
  })

  test('says what does not fit', () => {
    expect(overlay(object, { nothing: 1 }, schema)).toEqual({
      error: 'failed to convert patch object to typed object: .nothing: field not declared in schema',
    })
    expect(overlay(object, { labels: { a: 1 } }, schema)).toMatchObject({
      error: expect.stringContaining('.labels.a: expected string') as string,
    })
  })

  test('touches nothing that is one piece', () => {
    expect(overlay(object, { whole: { a: 'x' }, parts: [{ name: 'x', words: ['w'] }] }, schema)).toEqual({
      error: 'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .whole, .parts[0].words',
    })
  })

  test('keeps keys that objects have by nature', () => {
    const part = JSON.parse('{"labels": {"__proto__": "x", "constructor": "y"}}') as JsonObject
    const { json } = overlay(object, part, schema) as { json: { labels: object } }
    expect(Object.keys(json.labels)).toEqual(['a', '__proto__', 'constructor'])
  })
})

describe('what expressions of mutating policies make', () => {
  async function evaluate(expression: string): Promise<unknown> {
    const compiler = (await loadAdmissionEngine()).compiler({ hasPatches: true })
    const { value } = (await compiler.start({ request: {}, object }).evaluate(compiler.compile(expression))) as {
      value: unknown
    }
    return value
  }

  test('is a configuration', async () => {
    const language = await loadAdmissionEngine()
    expect(language.configurationOf(await evaluate('Object{labels: object.labels, n: 1}'))).toEqual({
      json: { labels: { a: '1' }, n: 1 },
    })
    expect(language.configurationOf(await evaluate('Object{a: Object.b{}}'))).toMatchObject({
      error: expect.stringMatching(/^type mismatch: unexpected type name "Object.b"/) as string,
    })
    expect(language.configurationOf(await evaluate('Object{a: quantity("1")}'))).toMatchObject({
      error: expect.stringContaining('type conversion not supported') as string,
    })
    expect(language.configurationOf(await evaluate('1'))).toEqual({
      error: 'unsupported return type from ApplyConfiguration expression',
    })
  })

  test('is a patch', async () => {
    const language = await loadAdmissionEngine()
    expect(
      language.patchOf(
        await evaluate(
          '[JSONPatch{op: "copy", from: "/a", path: "/b"}, JSONPatch{op: "add", path: "/c", value: [1, 2].map(x, x + 1)}]',
        ),
      ),
    ).toEqual({
      json: [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/c', value: [2, 3] },
      ],
    })
    expect(
      language.patchOf(await evaluate('[JSONPatch{op: "add", path: "/c", value: Object.a{b: Object.c{}}}]')),
    ).toMatchObject({ error: expect.stringMatching(/^type mismatch/) as string })
    expect(language.patchOf(await evaluate('[1]'))).toEqual({
      error: 'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
    })
    expect(language.patchOf(await evaluate('1'))).toEqual({
      error: 'type mismatch: JSONPatchType.expression should evaluate to array',
    })
  })
})
