/**
 * What becomes of objects whose owners go: collected, waited for, set free.
 *
 * Only a server with a garbage collector beside it can be asked. That something is *kept* is asked after something else,
 * which came later, was collected.
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
const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' }

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

/** When this is over, what came before has been looked at. */
async function fence(place: Place): Promise<void> {
  await gone(place, await make(place, 'fence', { owners: [nobody] }))
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
      await gone(place, await make(place, 'child', { owners: [nobody] }))
    },
  },
  {
    id: 'server/garbage/owner-again',
    rule: 'An owner that was deleted and made again under its name is another: children of the first are collected.',
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
    rule: 'An object with two owners loses the reference to the one that goes, and is collected when both are gone.',
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
    rule: 'In the background a whole tree goes, of whatever kinds.',
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
    rule: 'An owner that is deleted in the foreground stays until a blocking child is gone.',
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
    rule: 'An owner that is deleted in the foreground does not wait for a child that does not block, and the child is deleted as well.',
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
    rule: 'A blocking child with another, living owner is kept, loses the reference to the one that goes, and does not hold it up.',
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
    rule: 'In the foreground a tree goes from the bottom: the root stays while anything below it is held.',
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
    rule: 'A ring of owners that block each other is collected when one of them is deleted in the foreground.',
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
    rule: 'An owner that is deleted without its dependents goes; they lose the reference and stay.',
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
    rule: 'An object with an orphan finalizer of its own that has lost its owner is collected without its own dependents.',
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
    rule: 'A child that names an owner in another namespace is collected, and a Warning OwnerRefInvalidNamespace says why.',
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
    rule: 'An object without a namespace is never collected for want of an owner that lives in one.',
    needs,
    async run(place) {
      const owner = await make(place, 'owner')
      const names = [place.unique('real'), place.unique('unreal')]
      for (const [at, name] of names.entries())
        await make(place, name, { resource: 'clusterroles', owners: [at === 0 ? owner : nobody] })
      await fence(place)
      ok(await remove(place, 'owner', 'Background'))
      await fence(place)
      for (const name of names)
        expectMatch(ok(await place.get('clusterroles', name), 200), { metadata: { deletionTimestamp: undefined } })
    },
  },
  {
    id: 'server/garbage/unknown-kind',
    rule: 'A child whose owner is of a kind that the server does not have is kept.',
    needs,
    async run(place) {
      await make(place, 'child', {
        owners: [{ apiVersion: `${place.namespace}.example.com/v1`, kind: 'Widget', name: 'x', uid: nobody.uid }],
      })
      await fence(place)
      expectMatch(ok(await place.get('configmaps', 'child'), 200), { metadata: { deletionTimestamp: undefined } })
    },
  },
  {
    id: 'server/garbage/wrong-kind',
    rule: 'A reference with the right uid and the wrong kind or name keeps nothing alive, and costs those that name the owner rightly nothing.',
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
    rule: 'Kinds that come later are followed: custom objects own and are owned like others.',
    needs,
    async run(place) {
      const widgets = await defineCustom(place)
      const owner = ok(await widgets.create('owner'), 201)
      const child = await make(place, 'child', { owners: [owner] })
      ok(await widgets.create('below', { metadata: { ownerReferences: [referenceTo(child)] } }), 201)
      ok(await widgets.delete('owner'))
      // Collectors may look for new kinds as seldom as every half minute, and be slow to try again.
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
