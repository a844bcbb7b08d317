import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './namespace.fixture.ts'

for (const each of cases) {
  test(`namespaceRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('namespaceRules make an active namespace with its finalizer and label', () => {
  const { object } = write({
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'z' } },
    },
  })
  expect(object).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'a' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
})

test('namespaceRules let only the finalize subresource change finalizers', () => {
  const old = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' }, spec: { finalizers: ['kubernetes'] } }
  const object = { ...old, spec: {} }
  expect(write({ object, old }).object['spec']).toEqual({ finalizers: ['kubernetes'] })
  expect(write({ object, old, subresource: 'finalize' }).object['spec']).toEqual({})
})
