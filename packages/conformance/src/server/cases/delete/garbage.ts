/**
 * Garbage collection of objects whose owners are deleted: background, foreground, orphan.
 *
 * The cases need a server with a garbage collector. A case checks that an object is *kept* after the collector has
 * collected something newer.
 */
import assert from 'node:assert/strict'
import type { Answer, Loose } from '../../answer.ts'
import { defineCustom, eventually } from '../../custom.ts'
import { expectMatch, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Fields, ResourceName } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const needs = ['collector'] as const
const hold = 'example.com/judge'
const missingOwner = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'nobody',
  uid: '00000000-0000-4000-8000-000000000000',
}

interface Making {
  readonly resource?: ResourceName
  readonly owners?: readonly (Loose | Fields)[]
  readonly blocking?: boolean
  readonly finalizers?: readonly string[]
}

function referenceTo({ apiVersion, kind, metadata: { name, uid } }: Loose): Fields {
  return { apiVersion, kind, name, uid }
}

async function make(
  place: Place,
  name: string,
  { resource = 'configmaps', owners = [], blocking, finalizers = [] }: Making = {},
): Promise<Loose> {
  const ownerReferences = owners.map((owner) => ({
    ...(isLoose(owner) ? referenceTo(owner) : owner),
    ...(blocking === undefined ? {} : { blockOwnerDeletion: blocking }),
  }))
  return ok(await place.post(resource, sample(resource, name, { metadata: { ownerReferences, finalizers } })), 201)
}

function isLoose(owner: Loose | Fields): owner is Loose {
  return 'metadata' in owner
}

function remove(
  place: Place,
  name: string,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
): Promise<Answer> {
  return place.delete('configmaps', name, { body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy } })
}

async function gone(place: Place, ...objects: readonly Loose[]): Promise<void> {
  for (const {
    metadata: { name, uid },
  } of objects)
    await eventually(
      () => place.get('configmaps', name),
      ({ status, json }) => status === 404 || json.metadata.uid !== uid,
    )
}

function isDeleted({ json: { metadata } }: Answer): boolean {
  return metadata.deletionTimestamp !== undefined
}

async function ownersOf(place: Place, name: string): Promise<string[]> {
  const {
    metadata: { ownerReferences = [] },
  } = ok(await place.get('configmaps', name), 200)
  return (ownerReferences as readonly { name: string }[]).map((owner) => owner.name)
}

/** Afterwards the collector has processed everything created before. */
async function fence(place: Place): Promise<void> {
  await gone(place, await make(place, 'fence', { owners: [missingOwner] }))
}

function free(place: Place, name: string): Promise<Answer> {
  return place.patch('configmaps', name, { body: { metadata: { finalizers: null } } })
}

const background: readonly ServerCase[] = [
  {
    id: 'server/garbage/owner-that-never-was',
    rule: 'An object whose only owner does not exist is collected.',
    needs,
    async run(place) {
      await gone(place, await make(place, 'child', { owners: [missingOwner] }))
    },
  },
  {
    id: 'server/garbage/owner-again',
    rule: 'An owner that was deleted and recreated is a different owner: dependents of the first one are collected.',
    needs,
    async run(place) {
      const child = await make(place, 'child', { owners: [await make(place, 'owner')] })
      ok(await remove(place, 'owner', 'Background'))
      await make(place, 'owner')
      await gone(place, child)
      ok(await place.get('configmaps', 'owner'), 200)
    },
  },
  {
    id: 'server/garbage/two-owners',
    rule: 'An object with two owners loses the reference to a deleted owner and is collected when both are gone.',
    needs,
    async run(place) {
      const child = await make(place, 'child', { owners: [await make(place, 'a'), await make(place, 'b')] })
      await fence(place)
      ok(await remove(place, 'a', 'Background'))
      await eventually(
        () => place.get('configmaps', 'child'),
        ({ json }) => (json.metadata['ownerReferences'] as readonly unknown[]).length === 1,
      )
      assert.deepEqual(await ownersOf(place, 'child'), ['b'])
      ok(await remove(place, 'b', 'Background'))
      await gone(place, child)
    },
  },
  {
    id: 'server/garbage/tree',
    rule: 'Background deletion removes a whole tree of mixed kinds.',
    needs,
    async run(place) {
      const root = await make(place, 'root')
      const middle = await make(place, 'middle', { resource: 'secrets', owners: [root] })
      const bottom = await make(place, 'bottom', { owners: [middle] })
      ok(await remove(place, 'root', 'Background'))
      await gone(place, bottom)
      await eventually(
        () => place.get('secrets', 'middle'),
        ({ status }) => status === 404,
      )
    },
  },
]

const foreground: readonly ServerCase[] = [
  {
    id: 'server/garbage/foreground-waits',
    rule: 'An owner deleted in the foreground stays until its blocking dependents are gone.',
    needs,
    async run(place) {
      const owner = await make(place, 'owner')
      const child = await make(place, 'child', { owners: [owner], blocking: true, finalizers: [hold] })
      await fence(place)
      expectMatch(ok(await remove(place, 'owner', 'Foreground')), {
        metadata: { finalizers: ['foregroundDeletion'], deletionTimestamp: /./ },
      })
      await eventually(() => place.get('configmaps', 'child'), isDeleted)
      await fence(place)
      expectMatch(ok(await place.get('configmaps', 'owner'), 200), { metadata: { finalizers: ['foregroundDeletion'] } })
      ok(await free(place, 'child'))
      await gone(place, child, owner)
    },
  },
  {
    id: 'server/garbage/foreground-does-not-wait',
    rule: 'An owner deleted in the foreground does not wait for a non-blocking dependent, which is deleted as well.',
    needs,
    async run(place) {
      const owner = await make(place, 'owner')
      const child = await make(place, 'child', { owners: [owner], blocking: false, finalizers: [hold] })
      await fence(place)
      ok(await remove(place, 'owner', 'Foreground'))
      await gone(place, owner)
      await eventually(() => place.get('configmaps', 'child'), isDeleted)
      ok(await free(place, 'child'))
      await gone(place, child)
    },
  },
  {
    id: 'server/garbage/foreground-shared',
    rule: 'A blocking dependent with another live owner is kept, loses the reference to the deleted owner and does not block it.',
    needs,
    async run(place) {
      const dying = await make(place, 'dying')
      await make(place, 'child', { owners: [dying, await make(place, 'living')], blocking: true })
      await fence(place)
      ok(await remove(place, 'dying', 'Foreground'))
      await gone(place, dying)
      assert.deepEqual(await ownersOf(place, 'child'), ['living'])
    },
  },
  {
    id: 'server/garbage/foreground-tree',
    rule: 'Foreground deletion removes a tree bottom-up: the root stays while a finalizer holds anything below it.',
    needs,
    async run(place) {
      const root = await make(place, 'root')
      const middle = await make(place, 'middle', { owners: [root], blocking: true })
      const bottom = await make(place, 'bottom', { owners: [middle], blocking: true, finalizers: [hold] })
      await fence(place)
      ok(await remove(place, 'root', 'Foreground'))
      await eventually(() => place.get('configmaps', 'bottom'), isDeleted)
      for (const name of ['root', 'middle'])
        expectMatch(ok(await place.get('configmaps', name), 200), {
          metadata: { finalizers: ['foregroundDeletion'], deletionTimestamp: /./ },
        })
      ok(await free(place, 'bottom'))
      await gone(place, bottom, middle, root)
    },
  },
  {
    id: 'server/garbage/ring',
    rule: 'A cycle of owners that block each other is collected when one of them is deleted in the foreground.',
    needs,
    async run(place) {
      const a = await make(place, 'a')
      const b = await make(place, 'b', { owners: [a], blocking: true })
      const c = await make(place, 'c', { owners: [b], blocking: true })
      ok(
        await place.patch('configmaps', 'a', {
          body: { metadata: { ownerReferences: [{ ...referenceTo(c), blockOwnerDeletion: true }] } },
        }),
      )
      await fence(place)
      ok(await remove(place, 'a', 'Foreground'))
      await gone(place, a, b, c)
    },
  },
]

const orphaned: readonly ServerCase[] = [
  {
    id: 'server/garbage/orphan',
    rule: 'An owner deleted with Orphan is removed; its dependents stay and lose the reference.',
    needs,
    async run(place) {
      const owner = await make(place, 'owner')
      for (const name of ['a', 'b']) await make(place, name, { owners: [owner], blocking: true })
      await fence(place)
      expectMatch(ok(await remove(place, 'owner', 'Orphan')), {
        metadata: { finalizers: ['orphan'], deletionTimestamp: /./ },
      })
      await gone(place, owner)
      await fence(place)
      for (const name of ['a', 'b']) assert.deepEqual(await ownersOf(place, name), [])
    },
  },
  {
    id: 'server/garbage/orphan-of-its-own',
    rule: 'An object with the orphan finalizer that has lost its owner is collected without its own dependents.',
    needs,
    async run(place) {
      const child = await make(place, 'child', { owners: [await make(place, 'owner')], finalizers: ['orphan'] })
      await make(place, 'grandchild', { owners: [child] })
      await fence(place)
      ok(await remove(place, 'owner', 'Background'))
      await gone(place, child)
      await fence(place)
      assert.deepEqual(await ownersOf(place, 'grandchild'), [])
    },
  },
]

const wrong: readonly ServerCase[] = [
  {
    id: 'server/garbage/other-namespace',
    rule: 'A dependent with an owner in another namespace is collected, with a Warning event OwnerRefInvalidNamespace.',
    needs,
    async run(place) {
      const namespace = place.unique('other')
      ok(await place.post('namespaces', sample('namespaces', namespace)), 201)
      const owner = ok(
        await place.client.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
          body: sample('configmaps', 'owner'),
        }),
        201,
      )
      await fence(place)
      const child = await make(place, 'child', { owners: [owner] })
      await gone(place, child)
      const { json } = await eventually(
        () => place.list('events', { fieldSelector: `involvedObject.uid=${child.metadata.uid}` }),
        ({ json: { items } }) => items.length > 0,
      )
      expectMatch(json.items[0], {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        involvedObject: { kind: 'ConfigMap', name: 'child', namespace: place.namespace },
        message: `ownerRef [v1/ConfigMap, namespace: ${place.namespace}, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "${place.namespace}"`,
      })
      ok(await place.client.request('GET', `/api/v1/namespaces/${namespace}/configmaps/owner`), 200)
    },
  },
  {
    id: 'server/garbage/cluster-wide-child',
    rule: 'A cluster-scoped object with a namespaced owner is never collected.',
    needs,
    async run(place) {
      const owner = await make(place, 'owner')
      const names = [place.unique('real'), place.unique('unreal')]
      for (const [at, name] of names.entries())
        await make(place, name, { resource: 'clusterroles', owners: [at === 0 ? owner : missingOwner] })
      await fence(place)
      ok(await remove(place, 'owner', 'Background'))
      await fence(place)
      for (const name of names)
        expectMatch(ok(await place.get('clusterroles', name), 200), { metadata: { deletionTimestamp: undefined } })
    },
  },
  {
    id: 'server/garbage/unknown-kind',
    rule: 'A dependent whose owner has a kind that the server does not serve is kept.',
    needs,
    async run(place) {
      await make(place, 'child', {
        owners: [{ apiVersion: `${place.namespace}.example.com/v1`, kind: 'Widget', name: 'x', uid: missingOwner.uid }],
      })
      await fence(place)
      expectMatch(ok(await place.get('configmaps', 'child'), 200), { metadata: { deletionTimestamp: undefined } })
    },
  },
  {
    id: 'server/garbage/wrong-kind',
    rule: 'A reference with the right uid but a wrong kind or name does not keep an object; correct references to the same owner still work.',
    needs,
    async run(place) {
      const owner = await make(place, 'owner')
      await make(place, 'right', { owners: [owner] })
      await fence(place)
      const children = [
        await make(place, 'kind', { owners: [{ ...referenceTo(owner), kind: 'Secret' }] }),
        await make(place, 'name', { owners: [{ ...referenceTo(owner), name: 'other' }] }),
      ]
      await gone(place, ...children)
      assert.deepEqual(await ownersOf(place, 'right'), ['owner'])
    },
  },
]

const custom: readonly ServerCase[] = [
  {
    id: 'server/garbage/custom-kinds',
    rule: 'The collector follows kinds that are added later: custom objects can be owners and dependents.',
    needs,
    async run(place) {
      const widgets = await defineCustom(place)
      const owner = ok(await widgets.create('owner'), 201)
      const child = await make(place, 'child', { owners: [owner] })
      ok(await widgets.create('below', { metadata: { ownerReferences: [referenceTo(child)] } }), 201)
      ok(await widgets.delete('owner'))
      // Collectors may look for new kinds only every 30 seconds, and retry slowly.
      await eventually(
        () => place.get('configmaps', 'child'),
        ({ status }) => status === 404,
        { patienceMs: 120_000 },
      )
      await eventually(
        () => widgets.get('below'),
        ({ status }) => status === 404,
      )
    },
  },
]

export const garbageCases: readonly ServerCase[] = [...background, ...foreground, ...orphaned, ...wrong, ...custom]
