import { expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { chainAuthorizers, type AuthorizationAttributes } from '../authz/authorizer.ts'
import { Registry } from '../registry/registry.ts'
import { ReinvocationContext, type AdmissionAttributes } from './admission.ts'
import { ownerReferencesPlugin } from './owner-references.ts'

const registry = new Registry(makeCatalog({ strategyFor, columnsFor }))

interface Written {
  readonly owners: object[]
  readonly old?: object[]
  readonly rights: readonly string[]
}

function owned(ownerReferences: object[]): UnstructuredObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', namespace: 'n', ownerReferences },
  } as unknown as UnstructuredObject
}

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'o', uid: '1' }
const blocking = { ...owner, blockOwnerDeletion: true }

/** What a write is answered with, and what was asked. */
async function write({ owners, old, rights }: Written): Promise<{ message: string; asked: string[] }> {
  const asked: string[] = []
  const authorizer = chainAuthorizers([
    ({ verb, resourcePath: place }: AuthorizationAttributes) => {
      const text = `${verb} ${place?.resource ?? ''}${place?.subresource ? `/${place.subresource}` : ''} ${place?.namespace ?? ''}/${place?.name ?? ''}`
      asked.push(text)
      return rights.includes(text) ? { allowed: true, reason: '' } : undefined
    },
  ])
  const resource = registry.find('', 'v1', 'configmaps')
  if (resource === undefined) throw new Error('there are ConfigMaps')
  const admitted: AdmissionAttributes = {
    operation: old ? 'UPDATE' : 'CREATE',
    target: { resource, namespace: 'n', name: 'x' },
    user: { name: 'u', groups: [] },
    dryRun: false,
    options: {},
    ...(old && { old: owned(old) }),
    warn: () => undefined,
    annotate: () => undefined,
    reinvocation: new ReinvocationContext(),
  }
  const message = await ownerReferencesPlugin({ authorizer, registry })
    .validate?.(owned(owners), admitted)
    ?.then(
      () => '',
      (error: unknown) => (error as Error).message,
    )
  return { message: message ?? '', asked }
}

test('row 12: who makes an object may say whose it is, unless that blocks the owner', async () => {
  expect(await write({ owners: [owner], rights: [] })).toEqual({ message: '', asked: [] })
  expect(await write({ owners: [blocking], rights: [] })).toEqual({
    message:
      'configmaps "x" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>',
    asked: ['update */finalizers /*', 'update replicasets/finalizers n/o'],
  })
  expect((await write({ owners: [blocking], rights: ['update replicasets/finalizers n/o'] })).message).toBe('')
  expect((await write({ owners: [blocking], rights: ['update */finalizers /*'] })).message).toBe('')
})

test('row 12: who changes the owners of an object must be allowed to delete it', async () => {
  expect((await write({ owners: [owner], old: [], rights: [] })).message).toBe(
    'configmaps "x" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>',
  )
  expect((await write({ owners: [], old: [owner], rights: [] })).message).toContain("can't delete")
  expect((await write({ owners: [owner], old: [], rights: ['delete configmaps n/x'] })).message).toBe('')
  expect((await write({ owners: [blocking], old: [owner], rights: ['delete configmaps n/x'] })).message).toContain(
    "can't set finalizers on",
  )
  expect(await write({ owners: [blocking], old: [blocking], rights: [] })).toEqual({ message: '', asked: [] })
})

test('row 12: an owner of a kind that nobody serves cannot be blocked', async () => {
  expect((await write({ owners: [{ ...blocking, kind: 'Nothing' }], rights: [] })).message).toBe(
    'configmaps "x" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Nothing: no matches for kind "Nothing" in version "apps/v1"',
  )
})
