import { describe, expect, test } from 'vitest'
import { escapeName, fieldNamed, formatType, unescapeName } from '@evenkeel/cel'
import { schemaDeclType } from './cel-types.ts'
import type { SchemaNode } from './schema.ts'

const typed = (root: SchemaNode, options = {}) => schemaDeclType({ root, definitions: () => undefined }, options)

describe('schemaType', () => {
  test.each<[SchemaNode, string, number, number]>([
    [{ type: 'integer' }, 'int', 0, 1],
    [{ type: 'number' }, 'double', 0, 1],
    [{ type: 'boolean' }, 'bool', 0, 4],
    [{ type: 'string' }, 'string', 3_145_726, 2],
    [{ type: 'string', maxLength: 10 }, 'string', 40, 2],
    [{ type: 'string', enum: ['a', 'äöü'] }, 'string', 6, 2],
    [{ type: 'string', format: 'byte', maxLength: 10 }, 'bytes', 10, 2],
    [{ type: 'string', format: 'date-time' }, 'timestamp', 32, 21],
    [{ type: 'string', format: 'date' }, 'timestamp', 12, 12],
    [{ type: 'string', format: 'duration' }, 'duration', 32, 3],
    [{ 'x-kubernetes-int-or-string': true }, 'dyn', 3_145_726, 1],
    [{ type: 'array', items: { type: 'string' } }, 'list(string)', 1_048_575, 2],
    [{ type: 'array', items: { type: 'string' }, maxItems: 7 }, 'list(string)', 7, 2],
    [{ type: 'array', items: { type: 'string' }, maxItems: 0 }, 'list(string)', 0, 2],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, 'map(string, int)', 449_389, 2],
    [{ type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 3 }, 'map(string, int)', 3, 2],
  ])('reads %j as %s of at most %d', (schema, ...wanted) => {
    const found = typed(schema)!
    expect([formatType(found.type), found.maxElements, found.minSerializedSize]).toEqual(wanted)
  })

  test('counts required fields without defaults into the smallest size', () => {
    const a: SchemaNode = { type: 'integer' }
    expect(
      typed({ type: 'object', properties: { ab: a, cd: { ...a, default: 1 }, ef: a }, required: ['ab', 'cd'] })!
        .minSerializedSize,
    ).toBe(2 + 2 + 1 + 4)
  })

  test('hides what has no type, and what is made of it', () => {
    const hidden: SchemaNode = { 'x-kubernetes-preserve-unknown-fields': true }
    expect(typed(hidden)).toBeUndefined()
    expect(typed({ type: 'array', items: hidden })).toBeUndefined()
    expect([...typed({ type: 'object', properties: { a: hidden, b: { type: 'string' } } })!.fields!.keys()]).toEqual([
      'b',
    ])
  })

  test('shows kind and names of resources, whatever the schema says', () => {
    expect([...typed({ type: 'object' }, { isResource: true })!.fields!.keys()]).toEqual([
      'kind',
      'apiVersion',
      'metadata',
    ])
    const embedded: SchemaNode = {
      type: 'object',
      properties: { pod: { type: 'object', 'x-kubernetes-embedded-resource': true } },
    }
    expect([...typed(embedded)!.fields!.get('pod')!.fields!.get('metadata')!.fields!.keys()]).toEqual([
      'name',
      'generateName',
    ])
  })

  test('follows references, and sees anything where a schema contains itself', () => {
    const node: SchemaNode = {
      type: 'object',
      properties: { name: { type: 'string' }, child: { $ref: '#/definitions/Node' } },
    }
    const found = schemaDeclType({
      root: { $ref: '#/definitions/Node' },
      definitions: (name) => (name === 'Node' ? node : undefined),
    })!
    expect(formatType(found.fields!.get('child')!.type)).toBe('dyn')
  })
})

describe('escapeName', () => {
  test.each([
    ['plain', 'plain'],
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['a___b', 'a__underscores___b'],
    ['in', '__in__'],
    ['namespace', '__namespace__'],
    ['_a', '_a'],
    ['__proto__', '__underscores__proto__underscores__'],
  ])('turns %s into %s and back', (name, identifier) => {
    expect(escapeName(name)).toBe(identifier)
    expect(unescapeName(identifier)).toBe(name)
  })

  test('has no identifier for other characters', () => {
    expect(['', '1a', 'a b', 'ä', 'a$'].map(escapeName)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(['a__nope__b', 'x__in__'].map(unescapeName)).toEqual([undefined, undefined])
  })
})

test('fieldNamed finds a word that CEL keeps for itself with and without its escape, and nothing else by half a name', () => {
  const fields = new Map([
    ['__namespace__', 1],
    ['a__dash__b', 2],
    ['plain', 3],
  ])
  expect(['namespace', '__namespace__', 'plain', 'a-b', 'dash', 'if'].map((name) => fieldNamed(fields, name))).toEqual([
    1,
    1,
    3,
    undefined,
    undefined,
    undefined,
  ])
})
