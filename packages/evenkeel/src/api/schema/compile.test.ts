import { describe, expect, test } from 'vitest'
import { compile, compileSchema, type CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema.ts'

const nodes = new Map<string, SchemaNode>([
  ['a.v1.Thing', { type: 'object', properties: { self: { $ref: 'a.v1.Thing' } } }],
  ['a.v1.Alias', { $ref: 'a.v1.Thing' }],
  ['a.v1.Circle', { allOf: [{ $ref: 'a.v1.Circle' }] }],
])
let asked = 0
const definitions = (name: string): SchemaNode | undefined => {
  asked++
  return nodes.get(name)
}
const compiled = (root: SchemaNode): CompiledSchema => compile({ root, definitions })
const thing = compiled({ $ref: 'a.v1.Thing' }).target

describe('references', () => {
  test('a node without one is its own target and has no name', () => {
    const schema = compiled({ type: 'string' })
    expect(schema.target).toBe(schema)
    expect(schema.typeName).toBe('')
  })

  test('are followed, with and without the path of an OpenAPI document', () => {
    for (const $ref of ['a.v1.Thing', '#/components/schemas/a.v1.Thing']) {
      const schema = compiled({ $ref })
      expect(schema.target.node).toBe(nodes.get('a.v1.Thing'))
      expect(schema.typeName).toBe('a.v1.Thing')
    }
  })

  test('are followed through their wrapper; the last definition gives the name, the first node the default', () => {
    const schema = compiled({ allOf: [{ $ref: 'a.v1.Alias' }], default: {} })
    expect(schema.target).toBe(thing)
    expect(schema.typeName).toBe('a.v1.Thing')
    expect(schema.default).toEqual({})
  })

  test('a root that has a name is known by it', () => {
    const schema = compile({ name: 'a.v1.Thing', root: nodes.get('a.v1.Thing') ?? {}, definitions })
    expect(schema.typeName).toBe('a.v1.Thing')
    expect(schema.target).toBe(thing)
  })

  test('an allOf of conditions is none', () => {
    for (const node of [
      { type: 'object', allOf: [{ required: ['a'] }] },
      { allOf: [{ required: ['a'] }, { required: ['b'] }] },
    ] as const) {
      const schema = compiled(node)
      expect(schema.target).toBe(schema)
      expect(schema.isReference).toBe(false)
    }
  })

  test('are looked up once, when the target is first read', () => {
    const before = asked
    const schema = compiled({ properties: { a: { $ref: 'a.v1.Alias' } } }).properties?.get('a')
    expect(asked).toBe(before)
    expect(schema?.target).toBe(thing)
    expect(asked).toBe(before + 2)
    expect(schema?.target).toBe(thing)
    expect(asked).toBe(before + 2)
  })

  test('may lead to the schema that contains them', () => {
    expect(thing.properties?.get('self')?.target).toBe(thing)
  })

  test('that lead nowhere or in a circle are refused', () => {
    expect(() => compiled({ $ref: 'a.v1.Nothing' }).target).toThrow('no definition named a.v1.Nothing')
    expect(() => compiled({ $ref: 'a.v1.Circle' }).target).toThrow('leads in a circle')
  })
})

describe('nodes', () => {
  test('are compiled once', () => {
    const node: SchemaNode = { type: 'object', properties: { a: { type: 'string' } } }
    expect(compileSchema(node)).toBe(compileSchema(node))
    const root: SchemaNode = { items: node }
    expect(compileSchema(root).items).toBe(compileSchema(node))
  })

  test('know what is below them', () => {
    const quiet = compileSchema({ type: 'object', properties: { a: { type: 'string', default: null } } })
    expect([quiet.hasDefaults, quiet.hasListTypes, quiet.hasEmbedded]).toEqual([false, false, false])
    const items: SchemaNode = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { a: { type: 'array', 'x-kubernetes-list-type': 'set' }, b: { default: 1 } },
    }
    const busy = compileSchema({ additionalProperties: { type: 'array', items } })
    expect([busy.hasDefaults, busy.hasListTypes, busy.hasEmbedded]).toEqual([true, true, true])
  })

  test.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'string', minLength: 1 }, undefined],
    [{ type: 'string', anyOf: [{ pattern: 'a' }] }, undefined],
    [{ type: 'integer' }, undefined],
  ] as const)('%j is plain: %s', (node, plain) => {
    // A clone, because compiled schemas are cached by their node.
    expect(compileSchema(structuredClone(node)).plain).toBe(plain)
  })

  test.each([
    [{}, undefined],
    [{ additionalProperties: false }, false],
    [{ additionalProperties: true }, true],
    [{ additionalProperties: { type: 'string' } }, true],
  ] as const)('%j allows more fields: %s', (node, allows) => {
    expect(compileSchema(node).allowsAdditional).toBe(allows)
  })
})
