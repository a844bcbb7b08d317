import assert from 'node:assert/strict'
import { deepCopy, deepFreeze, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Schema, SchemaNode } from '../schema/schema.ts'
import { excludeFields } from './field-manager.ts'
import { fieldTypeOf } from './field-type.ts'
import { garden } from './schemas.fixture.ts'
import { managedFieldsAfterUpdate } from './track-update.ts'
import { hasShape, objectShapeOf, RecentCache } from './update-cache.ts'

/** A struct as Go has them, whose fields are never left out. */
const struct: SchemaNode = {
  type: 'object',
  required: ['count', 'label', 'list'],
  properties: {
    count: { type: 'integer' },
    label: { type: 'string' },
    list: { type: 'array', items: { type: 'string' } },
    part: { allOf: [{ $ref: 'Part' }], default: {} },
  },
}
const root: SchemaNode = { ...garden, properties: { ...garden.properties, struct: { $ref: 'Struct' } } }

/** The same schema every time, but a new one: nothing can be remembered of it. */
function freshSchema(): Schema {
  const nodes: Readonly<Record<string, SchemaNode>> = {
    Struct: struct,
    Part: { type: 'object', properties: { x: { type: 'string' } } },
  }
  const copies = new Map(Object.entries(nodes).map(([name, node]) => [name, deepCopy(node as JsonValue) as SchemaNode]))
  return { root: deepCopy(root as JsonValue) as SchemaNode, definitions: (name) => copies.get(name) }
}

const schema = freshSchema()
const type = fieldTypeOf(schema)

const words = fc.constantFrom('a', 'b', 'c')
const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 2 })
const port = fc.record(
  { port: fc.integer({ min: 0, max: 2 }), protocol: fc.constantFrom('TCP', 'UDP'), label: words },
  { requiredKeys: ['port'] },
)
const content = fc
  .record({
    name: some(words),
    size: some(fc.integer({ min: 0, max: 1 })),
    amount: some(fc.oneof(words, fc.nat(1))),
    box: some(
      fc.oneof(
        fc.constant(null),
        fc.record({ a: words, inner: fc.record({ c: words }, { requiredKeys: [] }) }, { requiredKeys: [] }),
      ),
    ),
    bees: some(fc.uniqueArray(words, { maxLength: 2 })),
    plants: some(fc.array(words, { maxLength: 2 })),
    colour: some(fc.record({ red: fc.nat(1) }, { requiredKeys: [] })),
    ports: some(fc.array(port, { maxLength: 2 })),
    anything: some(fc.oneof(words, fc.nat(1), fc.constant({ a: 1 }), fc.constant([]))),
    notes: some(fc.dictionary(words, words, { maxKeys: 2, noNullPrototype: true })),
    struct: some(
      fc.record(
        {
          count: fc.nat(1),
          label: fc.constantFrom('', 'x'),
          list: fc.constantFrom(null, [], ['x']),
          part: fc.constantFrom({}, { x: 'y' }),
        },
        { requiredKeys: [] },
      ),
    ),
    status: some(fc.record({ count: fc.nat(1) })),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as JsonObject)
const writes = fc.array(fc.record({ content, manager: words, status: fc.boolean() }), { minLength: 2, maxLength: 6 })

const filters = { '': excludeFields(['status']), status: excludeFields(['size']) } as const

function object(fields: JsonObject, more: JsonObject = {}): JsonObject {
  return deepFreeze({
    apiVersion: 'example.io/v1',
    kind: 'Garden',
    metadata: { name: 'g', labels: { l: '1' }, ...more },
    ...fields,
  })
}

describe('managedAfter', () => {
  test('says the same of what it has seen before as of what it has not', () => {
    fc.assert(
      fc.property(writes, (steps) => {
        let live: JsonObject | undefined
        for (const [index, { content: fields, manager, status }] of steps.entries()) {
          const next = object(fields, live && { uid: 'u' })
          const subresource = live && status ? 'status' : ''
          const request = {
            manager,
            apiVersion: 'example.io/v1',
            nowMs: index * 1000,
            filter: filters[subresource],
            ...(subresource !== '' && { subresource }),
            live,
            next,
          }
          const expected = managedFieldsAfterUpdate({ ...request, schema: freshSchema() })
          for (let turn = 0; turn < 3; turn++)
            assert.deepEqual(
              managedFieldsAfterUpdate({ ...request, live: live && (deepCopy(live) as JsonObject), schema }),
              expected,
            )
          live = object(fields, { uid: 'u', ...(expected && { managedFields: expected as never }) })
        }
      }),
      { numRuns: 150 },
    )
  })
})

describe('hasShape', () => {
  test('an object has its own shape, and one that has it gives the same fields', () => {
    const fieldsOf = (value: JsonObject): unknown =>
      managedFieldsAfterUpdate({
        manager: 'm',
        apiVersion: 'v',
        nowMs: 0,
        schema: freshSchema(),
        live: undefined,
        next: value,
      })?.[0]?.fieldsV1
    fc.assert(
      fc.property(content, content, (one, other) => {
        const shape = objectShapeOf(one, type)
        assert.ok(shape !== undefined && hasShape(one, shape, type))
        if (hasShape(other, shape, type)) assert.deepEqual(fieldsOf(other), fieldsOf(one))
      }),
      { numRuns: 300 },
    )
  })

  test('what is large, or fits no schema, has none worth keeping', () => {
    assert.equal(
      objectShapeOf({ notes: Object.fromEntries([...Array(600).keys()].map((n) => [`k${n}`, 'x'])) }, type),
      undefined,
    )
    assert.equal(objectShapeOf({ nowhere: 1 }, type), undefined)
  })

  test('a list with other items or of another length does not have it', () => {
    const bees = (...names: string[]): JsonObject => ({ bees: names })
    const shape = objectShapeOf(bees('a', 'b'), type) ?? null
    assert.equal(hasShape(bees('a', 'b'), shape, type), true)
    assert.equal(hasShape(bees('a'), shape, type), false)
    assert.equal(hasShape(bees('a', 'c'), shape, type), false)
  })

  test('__proto__ is a name like any other', () => {
    const odd = JSON.parse('{"notes":{"__proto__":"x"}}') as JsonObject
    const shape = objectShapeOf(odd, type) ?? null
    assert.equal(hasShape(odd, shape, type), true)
    assert.equal(hasShape({ notes: {} }, shape, type), false)
  })
})

describe('Recent', () => {
  test('finds the latest few, and brings forward what is found', () => {
    const [recent, key] = [new RecentCache<object, number>(3), {}]
    for (const item of [1, 2, 3, 4]) recent.add(key, item)
    const is = (wanted: number) => (item: number) => item === wanted
    assert.equal(recent.find(key, is(1)), undefined)
    assert.equal(recent.find(key, is(2)), 2)
    assert.equal(recent.find(key, is(2)), 2)
    recent.add(key, 5)
    assert.equal(recent.find(key, is(2)), 2)
    assert.equal(recent.find(key, is(3)), undefined)
    assert.equal(recent.find({}, is(2)), undefined)
  })
})
