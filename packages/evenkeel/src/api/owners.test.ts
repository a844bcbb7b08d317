import { describe, expect, test } from 'vitest'
import { deepFreeze } from '@evenkeel/cel/primitives'
import { FieldPath, formatFieldError } from './errors/field-error.ts'
import type { ObjectMeta, OwnerReference } from './object.ts'
import {
  AlreadyOwnedError,
  dedupeOwnerReferences,
  getControllerOf,
  isAlreadyOwned,
  isControlledBy,
  isOwnedBy,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
  validateOwnerReferences,
} from './owners.ts'

const owner = {
  apiVersion: 'demo.example.com/v1',
  kind: 'Website',
  metadata: { name: 'site', uid: 'u1', namespace: 'web' },
}
const twin = { ...owner, metadata: { ...owner.metadata, uid: 'u2' } }
const clusterOwner = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u9' } }
const child = (metadata: ObjectMeta = {}): { apiVersion: string; kind: string; metadata: ObjectMeta; data: object } =>
  deepFreeze({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'web', ...metadata }, data: {} })
const reference: OwnerReference = { apiVersion: 'demo.example.com/v1', kind: 'Website', name: 'site', uid: 'u1' }
const controllerReference: OwnerReference = { ...reference, controller: true, blockOwnerDeletion: true }

describe('setControllerReference', () => {
  test('adds a blocking controller reference and shares the rest', () => {
    const before = child()
    const after = setControllerReference(owner, before)
    expect(after.metadata).toEqual({ name: 'c', namespace: 'web', ownerReferences: [controllerReference] })
    expect(after.data).toBe(before.data)
    expect(before.metadata.ownerReferences).toBeUndefined()
  })

  test('changes nothing when it is there already', () => {
    const owned = setControllerReference(owner, child())
    expect(setControllerReference(owner, owned)).toBe(owned)
  })

  test('blockOwnerDeletion can be turned off, also later', () => {
    const owned = setControllerReference(owner, child())
    expect(setControllerReference(owner, owned, { blockOwnerDeletion: false }).metadata.ownerReferences).toEqual([
      { ...controllerReference, blockOwnerDeletion: false },
    ])
  })

  test('turns a plain reference to the same owner into the controller, in its place', () => {
    const object = child({ ownerReferences: [reference, { ...reference, uid: 'u5', name: 'five' }] })
    expect(setControllerReference(owner, object).metadata.ownerReferences).toEqual([
      controllerReference,
      { ...reference, uid: 'u5', name: 'five' },
    ])
  })

  test('refuses a second controller', () => {
    const owned = child({ ownerReferences: [{ ...controllerReference, name: 'rival', uid: 'u7' }] })
    const attempt = (): unknown => setControllerReference(owner, owned)
    expect(attempt).toThrow(AlreadyOwnedError)
    expect(attempt).toThrow('Object web/c is already owned by another Website controller rival')
    expect(thrownBy(attempt)).toMatchObject({ owner: { name: 'rival', uid: 'u7' } })
    expect(isAlreadyOwned(thrownBy(attempt))).toBe(true)
    expect(isAlreadyOwned(new Error('x'))).toBe(false)
  })

  test('does not let a recreated owner of the same name inherit', () => {
    expect(() => setControllerReference(twin, setControllerReference(owner, child()))).toThrow(AlreadyOwnedError)
  })

  test.each<[string, object, string]>([
    [
      'cluster-scoped child',
      { name: 'c', namespace: undefined },
      "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace web",
    ],
    [
      'other namespace',
      { name: 'c', namespace: 'db' },
      "cross-namespace owner references are disallowed, owner's namespace web, obj's namespace db",
    ],
  ])('refuses: %s', (_name, metadata, message) => {
    for (const set of [setControllerReference, setOwnerReference])
      expect(() => set(owner, child(metadata as ObjectMeta))).toThrow(message)
  })

  test('a cluster-scoped owner may own anything', () => {
    expect(isOwnedBy(setControllerReference(clusterOwner, child()), clusterOwner)).toBe(true)
    const clusterChild = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' } }
    expect(isOwnedBy(setOwnerReference(clusterOwner, clusterChild), clusterOwner)).toBe(true)
  })

  test.each([
    { ...owner, apiVersion: '' },
    { ...owner, kind: '' },
    { ...owner, metadata: { ...owner.metadata, uid: '' } },
    { ...owner, metadata: { ...owner.metadata, name: '' } },
  ])('refuses an owner with a part missing: %j', (incomplete) => {
    expect(() => setControllerReference(incomplete, child())).toThrow(
      'an owner needs apiVersion, kind, metadata.name and metadata.uid',
    )
  })
})

describe('setOwnerReference', () => {
  test('adds, updates and keeps', () => {
    const owned = setOwnerReference(owner, child())
    expect(owned.metadata.ownerReferences).toEqual([reference])
    expect(setOwnerReference(owner, owned)).toBe(owned)
    expect(setOwnerReference(owner, owned, { blockOwnerDeletion: true }).metadata.ownerReferences).toEqual([
      { ...reference, blockOwnerDeletion: true },
    ])
    expect(setOwnerReference(twin, owned).metadata.ownerReferences).toEqual([reference, { ...reference, uid: 'u2' }])
  })
})

describe('removeOwnerReference', () => {
  test('goes by UID', () => {
    const both = setOwnerReference(twin, setOwnerReference(owner, child()))
    expect(removeOwnerReference(owner, both).metadata.ownerReferences).toEqual([{ ...reference, uid: 'u2' }])
    expect(removeOwnerReference(clusterOwner, both)).toBe(both)
  })

  test('leaves no empty list behind', () => {
    expect(removeOwnerReference(owner, setOwnerReference(owner, child())).metadata).toEqual({
      name: 'c',
      namespace: 'web',
    })
  })
})

test('getControllerOf, isOwnedBy, isControlledBy', () => {
  const owned = child({
    ownerReferences: [
      { ...reference, controller: false },
      { ...controllerReference, uid: 'u2' },
    ],
  })
  expect(getControllerOf(owned)?.uid).toBe('u2')
  expect(getControllerOf(child())).toBeUndefined()
  expect([isOwnedBy(owned, owner), isOwnedBy(owned, clusterOwner), isOwnedBy(child(), owner)]).toEqual([
    true,
    false,
    false,
  ])
  expect([isControlledBy(owned, owner), isControlledBy(owned, twin), isControlledBy(child(), owner)]).toEqual([
    false,
    true,
    false,
  ])
})

describe('validateOwnerReferences', () => {
  const path = FieldPath.of('metadata', 'ownerReferences')
  const complaints = (...references: OwnerReference[]): string[] =>
    validateOwnerReferences(references, path).map(formatFieldError)

  test('is content with good ones', () =>
    expect(complaints(controllerReference, { ...reference, uid: 'u2', controller: false })).toEqual([]))

  test.each<[Partial<OwnerReference>, string]>([
    [{ apiVersion: '' }, 'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty'],
    [
      { apiVersion: 'group/' },
      'metadata.ownerReferences.apiVersion: Invalid value: "group/": version must not be empty',
    ],
    [{ apiVersion: 'a/b/c' }, 'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    [{ kind: '' }, 'metadata.ownerReferences.kind: Invalid value: "": must not be empty'],
    [{ name: '' }, 'metadata.ownerReferences.name: Invalid value: "": must not be empty'],
    [{ uid: '' }, 'metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
    [
      { apiVersion: 'v1', kind: 'Event' },
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"site","uid":"u1"}: /v1, Kind=Event is disallowed from being an owner',
    ],
  ])('complains about %j', (change, complaint) => expect(complaints({ ...reference, ...change })).toEqual([complaint]))

  test('an Event of the newer group may own', () =>
    expect(complaints({ ...reference, apiVersion: 'events.k8s.io/v1', kind: 'Event' })).toEqual([]))

  test('complains about every controller after the first', () => {
    const errors = complaints(
      controllerReference,
      { ...controllerReference, uid: 'u2', name: 'b' },
      { ...controllerReference, uid: 'u3', name: 'c' },
    )
    expect(errors).toHaveLength(2)
    expect(errors[0]).toMatch(
      /Only one reference can have Controller set to true\. Found "true" in references for Website\/site and Website\/b$/,
    )
    expect(errors[1]).toMatch(/for Website\/site and Website\/c$/)
  })
})

test('dedupeOwnerReferences drops exact repetitions only', () => {
  const rival = { ...reference, controller: true }
  expect(dedupeOwnerReferences([reference, rival, { ...reference }, rival])).toEqual({
    kept: [reference, rival],
    duplicateUids: ['u1', 'u1'],
  })
  const distinct = [reference, rival]
  expect(dedupeOwnerReferences(distinct)).toEqual({ kept: distinct, duplicateUids: [] })
  expect(dedupeOwnerReferences(distinct).kept).toBe(distinct)
})

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

test('isAlreadyOwned is false for anything else that can be thrown', () => {
  for (const thrown of [null, undefined, 'text', 5, {}, new Error('another')])
    expect(isAlreadyOwned(thrown)).toBe(false)
})
