import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'

const kind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }

test('customResourceDefinitionRules derive names and convert nothing unless told', () => {
  const spec = { group: 'a.b', names: { plural: 'shapes', kind: 'Shape' } }
  const { object, errors } = write({ object: { ...kind, metadata: { name: 'shapes.a.b' }, spec } })
  expect(errors).toEqual([])
  expect(object['spec']).toEqual({
    group: 'a.b', names: { plural: 'shapes', kind: 'Shape', singular: 'shape', listKind: 'ShapeList' }, conversion: { strategy: 'None' },
  })
})

test('customResourceDefinitionRules refuse a name that is not plural and group', () => {
  const spec = { group: 'a.b', names: { plural: 'shapes', kind: 'Shape' } }
  expect(write({ object: { ...kind, metadata: { name: 'shape.a.b' }, spec } }).errors)
    .toEqual(['metadata.name: Invalid value: "shape.a.b": must be spec.names.plural+"."+spec.group'])
})
