import { expect, test } from 'vitest'
import { toStructuralSchema } from './structural.ts'

test('toStructural keeps what is said and drops what says nothing', () => {
  expect(
    toStructuralSchema({
      type: 'object',
      description: '',
      nullable: false,
      'x-kubernetes-map-type': 'atomic',
      properties: {
        a: { type: 'string', format: 'uri', default: null, 'x-unknown': 1 },
        b: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      },
    }),
  ).toEqual({
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    properties: {
      a: { type: 'string', format: 'uri' },
      b: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    },
  })
})

test('toStructural gives a frozen node', () => {
  const node = toStructuralSchema({ type: 'object', properties: { a: { type: 'string' } } })
  expect([node, node.properties, node.properties?.['a']].every(Object.isFrozen)).toBe(true)
})

test('toStructural refuses a schema that was not validated', () => {
  expect(() => toStructuralSchema({ type: 5 as unknown as string })).toThrow(
    'cannot read the schema of a CRD: openAPIV3Schema.type: Invalid value: 5: is of the wrong type',
  )
  expect(() => toStructuralSchema({ type: 'object', properties: { a: { $ref: '#/x' } } })).toThrow(
    "the schema of a CRD is not structural: OpenAPIV3Schema '$ref' is not supported",
  )
  expect(() => toStructuralSchema({ type: 'object', dependencies: { a: ['b'] } })).toThrow(
    "the schema of a CRD is not structural: OpenAPIV3Schema 'dependencies' is not supported",
  )
  expect(() => toStructuralSchema({ type: 'object', 'x-kubernetes-validations': 'text' as never })).toThrow(
    'openAPIV3Schema.x-kubernetes-validations: Invalid value: "text": is of the wrong type',
  )
})
