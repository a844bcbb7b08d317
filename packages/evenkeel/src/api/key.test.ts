import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultCluster, equalKeys, formatKey, keyOf, parseKey } from './key.ts'
import type { ObjectKey } from './key.ts'

const part = fc.oneof(
  fc.constantFrom('', 'a', 'b', '/', '%', '%2F', '%25', '%2', '\n', '\ud800', '__proto__', 'system:node/x', '..'),
  fc.string({ unit: 'binary' }),
)
const anyKey: fc.Arbitrary<ObjectKey> = fc
  .record({ cluster: part, group: part, kind: part, namespace: part, name: part })
  .map(({ namespace, ...rest }) => (namespace === '' ? rest : { ...rest, namespace }))

describe('formatKey', () => {
  test.each<[ObjectKey, string]>([
    [
      { cluster: 'default', group: 'apps', kind: 'Deployment', namespace: 'web', name: 'front' },
      'default/apps/Deployment/web/front',
    ],
    [{ cluster: 'default', group: '', kind: 'Node', name: 'worker-1' }, 'default//Node//worker-1'],
    [
      { cluster: 'eu/1', group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:50%' },
      'eu%2F1/rbac.authorization.k8s.io/ClusterRole//system:50%25',
    ],
  ])('%j', (key, text) => {
    expect(formatKey(key)).toBe(text)
    expect(parseKey(text)).toEqual(key)
  })

  test('round-trips every key', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        expect(parseKey(formatKey(key))).toEqual(key)
      }),
    )
  })

  test('5, 7 two keys have the same text exactly when they are equal', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        expect(formatKey(a) === formatKey(b)).toBe(equalKeys(a, b))
        expect(equalKeys(a, { ...a })).toBe(true)
      }),
    )
  })

  test('6 an empty namespace is the same as none', () => {
    const key = { cluster: 'c', group: 'g', kind: 'K', name: 'n' }
    expect(formatKey({ ...key, namespace: '' })).toBe(formatKey(key))
    expect(equalKeys({ ...key, namespace: '' }, key)).toBe(true)
    expect('namespace' in parseKey(formatKey(key))).toBe(false)
  })
})

test.each(['', 'a/b/c/d', 'a/b/c/d/e/f', 'a/b/c/d/%', 'a/b/c/d/%2f', 'a/b/c/d/%41'])('parseKey refuses %j', (text) => {
  expect(() => parseKey(text)).toThrow(RangeError)
})

test.each(['cluster', 'group', 'kind', 'namespace', 'name'])('equalKeys sees a different %s', (member) => {
  const key: ObjectKey = { cluster: 'c', group: 'g', kind: 'K', namespace: 'ns', name: 'n' }
  expect(equalKeys(key, { ...key, [member]: 'other' })).toBe(false)
})

describe('keyOf', () => {
  test('takes the group from apiVersion and leaves the version out', () => {
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'front', namespace: 'web' } }
    expect(keyOf(object)).toEqual({
      cluster: defaultCluster,
      group: 'apps',
      kind: 'Deployment',
      namespace: 'web',
      name: 'front',
    })
    expect(keyOf({ ...object, apiVersion: 'apps/v1beta1' })).toEqual(keyOf(object))
  })

  test('knows the core group, cluster-scoped objects and other clusters', () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
    expect(keyOf(node, { cluster: 'eu' })).toEqual({ cluster: 'eu', group: '', kind: 'Node', name: 'n1' })
  })

  test('refuses an object without a name', () => {
    expect(() => keyOf({ apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'x-' } })).toThrow(
      'this Pod has no metadata.name',
    )
  })
})
