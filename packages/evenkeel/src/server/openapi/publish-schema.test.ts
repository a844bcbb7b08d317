import { expect, test } from 'vitest'
import type { SchemaNode } from '#api'
import { publishSchema } from './schemas.ts'

function publish(node: SchemaNode, form: 'v2' | 'v3', custom = true) {
  const references: string[] = []
  return { schema: publishSchema(node, { form, custom, onReference: (name) => references.push(name) }), references }
}

test('publishSchema gives references their published names and reports them', () => {
  const node: SchemaNode = {
    type: 'object',
    properties: { spec: { allOf: [{ $ref: 'core.v1.PodSpec' }], default: {} } },
  }
  expect(publish(node, 'v3', false)).toEqual({
    schema: {
      type: 'object',
      properties: { spec: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodSpec' }], default: {} } },
    },
    references: ['core.v1.PodSpec'],
  })
})

test('publishSchema leaves names of custom types alone, but not those of metadata', () => {
  const node: SchemaNode = {
    properties: {
      items: { type: 'array', items: { $ref: 'com.example.v1.Foo' } },
      metadata: { $ref: 'meta.v1.ListMeta' },
    },
  }
  expect(publish(node, 'v3').schema).toEqual({
    properties: {
      items: { type: 'array', items: { $ref: '#/components/schemas/com.example.v1.Foo' } },
      metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta' },
    },
  })
})

test('publishSchema in v2 unwraps references of built-in types, drops defaults and calls a choice of scalars a string', () => {
  expect(publish({ allOf: [{ $ref: 'core.v1.PodSpec' }], default: {} }, 'v2', false).schema).toEqual({
    $ref: '#/definitions/io.k8s.api.core.v1.PodSpec',
  })
  expect(
    publish({ format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }, 'v2', false).schema,
  ).toEqual({ type: 'string', format: 'int-or-string' })
})

test('publishSchema in v2 says nothing about custom fields that may be null or anything', () => {
  const string: SchemaNode = { type: 'string' }
  const reduced: readonly [SchemaNode, SchemaNode][] = [
    [{ type: 'object', nullable: true, properties: { x: string } }, {}],
    [{ type: 'array', nullable: true, items: string }, {}],
    [
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { x: string } },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      { type: 'array', 'x-kubernetes-preserve-unknown-fields': true, items: string },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, string] },
      { 'x-kubernetes-int-or-string': true },
    ],
    [{ type: 'object', oneOf: [{ required: ['a'] }], not: { required: ['b'] } }, { type: 'object' }],
  ]
  for (const [node, expected] of reduced) expect(publish(node, 'v2').schema).toEqual(expected)
})

test('publishSchema in v2 does not require a field that may be null', () => {
  const properties: Record<string, SchemaNode> = { a: { type: 'string' }, b: { type: 'string', nullable: true } }
  expect(publish({ type: 'object', required: ['a', 'b'], properties }, 'v2').schema).toMatchObject({ required: ['a'] })
  expect(publish({ type: 'object', required: ['b'], properties }, 'v2').schema).not.toHaveProperty('required')
})

test('publishSchema keeps everything that v3 can say', () => {
  const node: SchemaNode = {
    type: 'object',
    nullable: true,
    oneOf: [{ required: ['a'] }],
    additionalProperties: false,
    properties: {
      a: { type: 'integer', minimum: 1, exclusiveMinimum: true },
      m: { type: 'object', additionalProperties: { type: 'string' } },
    },
    'x-kubernetes-validations': [{ rule: 'self.a > 0' }],
  }
  expect(publish(node, 'v3').schema).toEqual(node)
})

test('publishSchema gives an embedded object a kind and metadata of its own', () => {
  const node: SchemaNode = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    required: ['kind'],
    properties: { spec: { type: 'object' } },
  }
  for (const form of ['v2', 'v3'] as const) {
    const { schema, references } = publish(node, form)
    expect(schema).toMatchObject({
      required: ['kind', 'apiVersion'],
      properties: { spec: {}, apiVersion: { type: 'string' }, kind: { type: 'string' } },
    })
    expect(references).toEqual(['meta.v1.ObjectMeta'])
  }
  const open = { ...node, 'x-kubernetes-preserve-unknown-fields': true }
  expect(publish(open, 'v2').schema).not.toHaveProperty('properties')
  expect(publish(open, 'v3').schema).toHaveProperty('properties.metadata')
})

test('publishSchema takes any name for a property', () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"string"},"constructor":{"type":"string"},"properties":{"type":"integer"}}',
  ) as Record<string, SchemaNode>
  for (const form of ['v2', 'v3'] as const)
    expect(JSON.stringify(publish({ properties }, form).schema['properties'])).toBe(JSON.stringify(properties))
})
