import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { SchemaNode } from '../schema/schema.ts'
import { fieldTypeOf, typeOfField, type FieldType } from './field-type.ts'
import { schemaOf } from './schemas.fixture.ts'

const typeOf = (node: SchemaNode, named: Record<string, SchemaNode> = {}): FieldType | undefined => {
  const type = fieldTypeOf({ root: { type: 'object', properties: { x: node } }, definitions: (name) => named[name] })
  return type.map && typeOfField(type.map, 'x')
}

/** One word per kind a type allows. */
function words(type: FieldType | undefined): string {
  const { scalar, list, map } = type ?? {}
  const lists = list && (list.atomic ? 'atomic list' : list.keys.length > 0 ? `list by ${list.keys.join()}` : 'set')
  const maps = map && `${map.atomic ? 'atomic' : 'granular'} map${map.deduced ? ' of anything' : ''}`
  return [scalar, lists, maps].filter(Boolean).join(' | ')
}

describe('fieldTypeOf', () => {
  const item: SchemaNode = { type: 'object', properties: { n: { type: 'string' } } }
  const rows: [name: string, node: SchemaNode, words: string][] = [
    ['a string', { type: 'string' }, 'string'],
    ['bytes', { type: 'string', format: 'byte' }, 'string'],
    ['a time', { type: 'string', format: 'date-time' }, 'untyped'],
    ['an integer', { type: 'integer' }, 'numeric'],
    ['a number', { type: 'number' }, 'numeric'],
    ['a boolean', { type: 'boolean' }, 'boolean'],
    [
      'int-or-string, as anything',
      { 'x-kubernetes-int-or-string': true },
      'untyped | atomic list | granular map of anything',
    ],
    ['no type, as anything', {}, 'untyped | atomic list | granular map of anything'],
    ['a list without a word', { type: 'array', items: item }, 'atomic list'],
    [
      'an atomic list',
      { type: 'array', items: item, 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-patch-strategy': 'merge' },
      'atomic list',
    ],
    ['a set', { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }, 'set'],
    [
      'a list by keys',
      { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n', 'm'] },
      'list by n,m',
    ],
    [
      'a patch strategy with a key',
      {
        type: 'array',
        items: item,
        'x-kubernetes-patch-strategy': 'merge,retainKeys',
        'x-kubernetes-patch-merge-key': 'n',
      },
      'list by n',
    ],
    [
      'a patch strategy without a key',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-patch-strategy': 'merge' },
      'set',
    ],
    [
      'another patch strategy',
      { type: 'array', items: item, 'x-kubernetes-patch-strategy': 'retainKeys' },
      'atomic list',
    ],
    ['a struct', item, 'granular map'],
    ['an atomic struct', { ...item, 'x-kubernetes-map-type': 'atomic' }, 'atomic map'],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, 'granular map'],
    [
      'a map of int-or-string',
      { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
      'granular map of anything',
    ],
    ['a map of anything', { type: 'object', additionalProperties: true }, 'granular map of anything'],
    ['an object without a word', { type: 'object' }, 'granular map of anything'],
    [
      'unknown fields kept',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      'granular map of anything',
    ],
  ]
  test.each(rows)('takes %s for what it is', (_, node, expected) => {
    assert.equal(words(typeOf(node)), expected)
  })

  test('a field may say otherwise than the type it refers to', () => {
    const named = { 'a.v1.Item': item, 'a.v1.Atomic': { ...item, 'x-kubernetes-map-type': 'atomic' } as SchemaNode }
    assert.equal(words(typeOf({ $ref: 'a.v1.Item' }, named)), 'granular map')
    assert.equal(
      words(typeOf({ allOf: [{ $ref: 'a.v1.Item' }], 'x-kubernetes-map-type': 'atomic' }, named)),
      'atomic map',
    )
    assert.equal(
      words(typeOf({ allOf: [{ $ref: 'a.v1.Atomic' }], 'x-kubernetes-map-type': 'granular' }, named)),
      'granular map',
    )
    assert.equal(words(typeOf({ $ref: 'a.v1.Atomic' }, named)), 'atomic map')
  })

  test('quantities are scalars and raw extensions are leaves, by name', () => {
    const named: Record<string, SchemaNode> = {
      'resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
      'runtime.RawExtension': { type: 'object' },
    }
    assert.equal(words(typeOf({ $ref: 'resource.Quantity' }, named)), 'untyped')
    assert.equal(words(typeOf({ $ref: 'runtime.RawExtension' }, named)), 'untyped | atomic list | atomic map')
  })

  test('unknown fields are kept below whoever keeps them, but not in named types', () => {
    const inner: SchemaNode = { type: 'object', properties: { a: { type: 'string' } } }
    const outer: SchemaNode = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { inner, named: { $ref: 'a.v1.Inner' } },
    }
    const type = typeOf(outer, { 'a.v1.Inner': inner })?.map
    assert.ok(type)
    assert.notEqual(typeOfField(type, 'inner')?.map?.others, undefined)
    assert.equal(typeOfField(type, 'named')?.map?.others, undefined)
    assert.equal(typeOf(inner)?.map?.others, undefined)
  })

  test('structs know what they never leave out, types of custom resources leave out everything', () => {
    const struct: SchemaNode = {
      type: 'object',
      required: ['list', 'name'],
      properties: {
        list: { type: 'array', items: {} },
        name: { type: 'string' },
        sub: { allOf: [{ $ref: 'a.v1.Sub' }], default: {} },
        pointer: { $ref: 'a.v1.Sub' },
      },
    }
    const named = { 'a.v1.Struct': struct, 'a.v1.Sub': { type: 'object', properties: {} } as SchemaNode }
    assert.deepEqual(
      [...(typeOf({ $ref: 'a.v1.Struct' }, named)?.map?.always ?? [])],
      [
        ['list', null],
        ['name', ''],
        ['sub', {}],
      ],
    )
    assert.equal(typeOf(struct, named)?.map?.always.size, 0)
  })

  test('a schema that contains itself is read as far as it is needed', () => {
    const tree: SchemaNode = { type: 'object', properties: { child: { $ref: 'a.v1.Tree' } } }
    let type: FieldType | undefined = fieldTypeOf({ name: 'a.v1.Tree', root: tree, definitions: () => tree })
    for (let depth = 0; depth < 50; depth++) type = type?.map && typeOfField(type.map, 'child')
    assert.equal(words(type), 'granular map')
  })

  test('types are made once per schema, and without a schema deduced', () => {
    const schema = schemaOf({ type: 'object' })
    assert.equal(fieldTypeOf(schema), fieldTypeOf(schema))
    assert.equal(words(fieldTypeOf(undefined)), 'untyped | atomic list | granular map of anything')
  })
})
