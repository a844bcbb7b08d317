import { describe, expect, test } from 'vitest'
import { declareKind } from '#api'
import { ownerUidLabel } from './ownership-labels.ts'
import { prepareChild } from './desired-child.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const Secret = declareKind({ group: '', version: 'v1', kind: 'Secret', statusSubresource: false })
const parent = {
  apiVersion: 'demo.example.com/v1',
  kind: 'Website',
  metadata: { name: 'shop', namespace: 'a', uid: 'u1' },
} as never

describe('prepareChild', () => {
  test('fills in name, namespace, owner reference and the label of the owner, and no annotations', () => {
    const { object, id, isElsewhere } = prepareChild(parent, {}, { kind: ConfigMap, isNamespaced: true })
    expect(object.metadata).toEqual({
      name: 'shop',
      namespace: 'a',
      labels: { [ownerUidLabel]: 'u1' },
      ownerReferences: [expect.objectContaining({ kind: 'Website', name: 'shop', uid: 'u1', controller: true })],
    })
    expect([id, isElsewhere]).toEqual([
      { apiVersion: 'v1', group: '', kind: 'ConfigMap', namespace: 'a', name: 'shop' },
      false,
    ])
  })

  test('prune and revisions are in the object, and prune false is another digest than the default', () => {
    const options = { kind: ConfigMap, isNamespaced: true }
    const digests = [undefined, true, false].map(
      (prune) => prepareChild(parent, {}, { ...options, ...(prune !== undefined && { prune }) }).digest,
    )
    expect(digests[0]).toBe(digests[1])
    expect(digests[0]).not.toBe(digests[2])
    const kept = prepareChild(parent, {}, { ...options, prune: false, revisions: 'config' }).object
    expect(Object.values(kept.metadata.annotations ?? {})).toEqual(['false'])
    expect(Object.values(kept.metadata.labels ?? {})).toEqual(['u1', 'config'])
  })

  test('a child in another namespace names its owner in an annotation instead of a reference', () => {
    const { object, isElsewhere } = prepareChild(
      parent,
      { metadata: { namespace: 'b' } },
      { kind: ConfigMap, isNamespaced: true },
    )
    expect([isElsewhere, object.metadata.ownerReferences]).toEqual([true, undefined])
    expect(Object.keys(object.metadata.annotations ?? {})).toHaveLength(1)
  })

  test('stringData of a Secret is encoded as data, over data of the same name', () => {
    const desired = { data: { a: 'eA==', b: 'eQ==' }, stringData: { a: 'z', c: 'w' } } as never
    const options = { isNamespaced: true }
    expect(prepareChild(parent, desired, { ...options, kind: Secret }).object).toMatchObject({
      data: { a: 'eg==', b: 'eQ==', c: 'dw==' },
    })
    expect(prepareChild(parent, desired, { ...options, kind: Secret }).object).not.toHaveProperty('stringData')
    expect(prepareChild(parent, { data: { a: 'eA==' } } as never, { ...options, kind: Secret }).object).toMatchObject({
      data: { a: 'eA==' },
    })
    expect(prepareChild(parent, {}, { ...options, kind: Secret }).object).not.toHaveProperty('data')
  })

  test('refuses generateName, and a namespaced child of a parent that has no namespace', () => {
    const options = { kind: ConfigMap, isNamespaced: true }
    expect(() => prepareChild(parent, { metadata: { generateName: 'x-' } }, options)).toThrow(
      'a child ConfigMap of Website shop cannot have generateName',
    )
    const global = { ...(parent as object), metadata: { name: 'shop', uid: 'u1' } } as never
    expect(() => prepareChild(global, {}, options)).toThrow('ConfigMap shop needs a namespace')
    expect(prepareChild(global, {}, { ...options, isNamespaced: false }).object.metadata).not.toHaveProperty(
      'namespace',
    )
  })
})
