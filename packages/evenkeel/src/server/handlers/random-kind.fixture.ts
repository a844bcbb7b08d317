/**
 * Random custom kinds, their objects, and patches: every kind of list and map that server-side apply supports.
 *
 * A field named `d…` has a default, so it may exist without an owner.
 */
import * as fc from 'fast-check'
import type { JsonObject, JsonValue, SchemaNode } from '#api'

interface RandomKind {
  readonly spec: SchemaNode
  readonly hasStatus: boolean
}

const names = ['a', 'b', 'c', '__proto__'] as const
const words = fc.constantFrom('x', 'y', 'z')

const scalarNode: fc.Arbitrary<SchemaNode> = fc.constantFrom<SchemaNode>(
  { type: 'string' },
  { type: 'integer' },
  { type: 'boolean' },
  { 'x-kubernetes-int-or-string': true },
)

function nodeOf(depth: number): fc.Arbitrary<SchemaNode> {
  if (depth === 0) return scalarNode
  const inside = nodeOf(depth - 1)
  return fc.oneof(
    scalarNode,
    structOf(inside),
    mapOf(inside),
    listOf(inside),
    fc.constant<SchemaNode>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  )
}

function structOf(inside: fc.Arbitrary<SchemaNode>): fc.Arbitrary<SchemaNode> {
  const fields = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inside), {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 3,
  })
  return fc
    .record({ fields, atomic: fc.integer({ min: 0, max: 5 }), hasDefault: fc.boolean() })
    .map(({ fields: chosen, atomic, hasDefault }) => ({
      type: 'object',
      properties: Object.fromEntries([
        ...chosen,
        ...(hasDefault ? [['d', { type: 'integer', default: 1 }] as const] : []),
      ]),
      ...(atomic === 0 && { 'x-kubernetes-map-type': 'atomic' as const }),
    }))
}

function mapOf(inside: fc.Arbitrary<SchemaNode>): fc.Arbitrary<SchemaNode> {
  return fc
    .record({ inside, atomic: fc.integer({ min: 0, max: 5 }) })
    .map(({ inside: additionalProperties, atomic }) => ({
      type: 'object',
      additionalProperties,
      ...(atomic === 0 && { 'x-kubernetes-map-type': 'atomic' as const }),
    }))
}

function listOf(inside: fc.Arbitrary<SchemaNode>): fc.Arbitrary<SchemaNode> {
  const atomic = inside.map((items): SchemaNode => ({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' }))
  const set = fc
    .constantFrom<SchemaNode>({ type: 'string' }, { type: 'integer' })
    .map((items): SchemaNode => ({ type: 'array', items, 'x-kubernetes-list-type': 'set' }))
  const keyed = fc
    .record({ inside, keys: fc.constantFrom(['name'], ['name', 'dport']) })
    .map(({ inside: v, keys }): SchemaNode => ({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, dport: { type: 'integer', default: 1 }, v, w: { type: 'string' } },
      },
    }))
  return fc.oneof(atomic, set, { arbitrary: keyed, weight: 2 })
}

export const randomKind: fc.Arbitrary<RandomKind> = fc.record({
  spec: structOf(nodeOf(2)).map((node) => ({ ...node, 'x-kubernetes-map-type': 'granular' as const })),
  hasStatus: fc.boolean(),
})

/** A value that fits a schema. */
export function valueFor(node: SchemaNode): fc.Arbitrary<JsonValue> {
  if (node['x-kubernetes-int-or-string']) return fc.oneof(words, fc.integer({ min: 0, max: 2 }))
  if (node['x-kubernetes-preserve-unknown-fields'])
    return fc.constantFrom<JsonValue>({ a: { b: 1 } }, { a: { b: 2, c: [1] } }, { c: [1, 2] }, {})
  switch (node.type) {
    case 'integer':
      return fc.integer({ min: 0, max: 2 })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return itemsFor(node)
    case 'object':
      return node.properties
        ? fieldsFor(node)
        : fc.dictionary(fc.constantFrom('k', 'l', 'constructor'), valueFor(node.additionalProperties as SchemaNode), {
            maxKeys: 2,
            noNullPrototype: true,
          })
    default:
      return words
  }
}

function fieldsFor({ properties = {}, required = [] }: SchemaNode): fc.Arbitrary<JsonObject> {
  const fields = Object.entries(properties).map(([name, place]) => {
    const value = valueFor(place).map((chosen) => [name, chosen] as const)
    return required.includes(name) ? value : fc.option(value, { nil: undefined })
  })
  return fc.tuple(...fields).map((chosen) => Object.fromEntries(chosen.filter((field) => field !== undefined)))
}

function itemsFor(node: SchemaNode): fc.Arbitrary<JsonValue> {
  const item = valueFor(node.items as SchemaNode)
  if (node['x-kubernetes-list-type'] === 'atomic') return fc.array(item, { maxLength: 2 })
  const keys = node['x-kubernetes-list-map-keys']
  const selector = (value: JsonValue): string =>
    keys ? JSON.stringify(keys.map((key) => (value as JsonObject)[key] ?? 1)) : JSON.stringify(value)
  // An empty list that is merged by item has no owner: it has no items to own.
  return fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector })
}
