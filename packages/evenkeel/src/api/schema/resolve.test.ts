import { describe, expect, test } from 'vitest'
import { resolveSchema, type SchemaNode } from './schema.ts'

const nodes = new Map<string, SchemaNode>([
  ['a.v1.Thing', { type: 'object' }],
  ['a.v1.Alias', { $ref: 'a.v1.Thing' }],
  ['a.v1.Circle', { allOf: [{ $ref: 'a.v1.Circle' }] }],
])
let asked = 0
const definitions = (name: string): SchemaNode | undefined => {
  asked++
  return nodes.get(name)
}

describe('resolve', () => {
  test('gives a node that stands for itself', () => {
    const node: SchemaNode = { type: 'string' }
    expect(resolveSchema(node, definitions)).toEqual({ node })
  })

  test('follows references, with and without the path of an OpenAPI document', () => {
    const node = nodes.get('a.v1.Thing')
    expect(resolveSchema({ $ref: 'a.v1.Thing' }, definitions)).toEqual({ node, name: 'a.v1.Thing' })
    expect(resolveSchema({ $ref: '#/components/schemas/a.v1.Thing' }, definitions)).toEqual({
      node,
      name: 'a.v1.Thing',
    })
  })

  test('follows the wrapper of a reference and names the last definition', () => {
    expect(resolveSchema({ allOf: [{ $ref: 'a.v1.Alias' }], default: {} }, definitions)).toEqual({
      node: { type: 'object' },
      name: 'a.v1.Thing',
    })
  })

  test('leaves allOf alone where it adds conditions', () => {
    const conditions: SchemaNode = { type: 'object', allOf: [{ required: ['a'] }] }
    const several: SchemaNode = { allOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(resolveSchema(conditions, definitions).node).toBe(conditions)
    expect(resolveSchema(several, definitions).node).toBe(several)
  })

  test('looks a place up once', () => {
    const place: SchemaNode = { $ref: 'a.v1.Alias' }
    resolveSchema(place, definitions)
    const before = asked
    expect(resolveSchema(place, definitions).node).toBe(nodes.get('a.v1.Thing'))
    expect(asked).toBe(before)
  })

  test('refuses references that lead nowhere or in a circle', () => {
    expect(() => resolveSchema({ $ref: 'a.v1.Nothing' }, definitions)).toThrow('there is no schema a.v1.Nothing')
    expect(() => resolveSchema({ $ref: 'a.v1.Circle' }, definitions)).toThrow('leads in a circle')
  })
})
