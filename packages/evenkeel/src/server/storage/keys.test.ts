import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyPrefix, objectKey } from './storage.ts'

const pods = { group: '', plural: 'pods', version: 'v1', kind: 'Pod' }
const roles = { group: 'rbac.authorization.k8s.io', plural: 'clusterroles', version: 'v1', kind: 'ClusterRole' }

test('objectKey of a namespaced and of a cluster-scoped object', () => {
  expect(objectKey('main', pods, { namespace: 'a', name: 'b' })).toBe('/main/core/pods/a/b')
  expect(objectKey('main', roles, { name: 'system:node' })).toBe(
    '/main/rbac.authorization.k8s.io/clusterroles/system:node',
  )
})

test('keyPrefix covers a namespace and no other that begins alike', () => {
  expect(keyPrefix('main', pods, { namespace: 'a' })).toBe('/main/core/pods/a/')
  expect(keyPrefix('main', pods)).toBe('/main/core/pods/')
})

test('objectKey keeps names apart and within what a store allows', () => {
  const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((text) => !/[/%]/.test(text))
  fc.assert(
    fc.property(name, name, (a, b) => {
      const [first, second] = [a, b].map((text) => objectKey('c', roles, { name: text }))
      expect(first).toMatch(/^[!-~]+$/)
      expect(first === second).toBe(Buffer.from(a).equals(Buffer.from(b)))
    }),
  )
})
