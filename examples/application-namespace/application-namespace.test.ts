import { describe, expect, test as plainTest } from 'vitest'
import { findCondition, isForbidden, isInvalid } from 'evenkeel'
import { Client } from 'evenkeel/client'
import { ConfigMap, Namespace } from 'evenkeel/kinds/core/v1'
import { planeFixture } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { adoptedAnnotation, adoptLabel, ApplicationNamespace, confirmAnnotation } from './kinds.ts'
import type { ApplicationNamespaceObject } from './kinds.ts'
import { controllers, serve } from './main.ts'

const test = plainTest.extend({ plane: planeFixture(() => ({ controllers, simulated: true })) })

type Spec = ApplicationNamespaceObject['spec']

async function create(
  { client }: TestPlane,
  name: string,
  spec: Partial<Spec> = {},
): Promise<ApplicationNamespaceObject> {
  return client.create(ApplicationNamespace, { metadata: { name }, spec: { namespaceName: name, ...spec } })
}

async function untilReady(
  { client, until }: TestPlane,
  name: string,
  status: 'True' | 'False' = 'True',
): Promise<ApplicationNamespaceObject> {
  const read = (): Promise<ApplicationNamespaceObject> => client.get(ApplicationNamespace, { name })
  await until(async () => findCondition((await read()).status?.conditions, 'Ready')?.status === status)
  return read()
}

async function remove(client: Client, name: string, options: { propagationPolicy?: 'Orphan' } = {}): Promise<void> {
  await client.delete(await client.get(ApplicationNamespace, { name }), options)
}

async function untilGone({ client, until }: TestPlane, name: string): Promise<void> {
  await until(async () => (await client.find(Namespace, { name })) === undefined)
}

const ownersOf = ({
  metadata: { ownerReferences = [] },
}: {
  metadata: { ownerReferences?: readonly { uid: string; controller?: boolean }[] }
}): string[] => ownerReferences.filter(({ controller }) => controller).map(({ uid }) => uid)

describe('ApplicationNamespace: a missing Namespace', () => {
  test('is created, and owned by uid', async ({ plane }) => {
    const {
      metadata: { uid },
    } = await create(plane, 'shop', { labels: { team: 'blue' } })
    const { status } = await untilReady(plane, 'shop')
    const namespace = await plane.client.get(Namespace, { name: 'shop' })
    expect(namespace.metadata.labels).toMatchObject({ team: 'blue' })
    expect(ownersOf(namespace)).toEqual([uid])
    expect(status).toMatchObject({ adopted: false, namespaceUid: namespace.metadata.uid })
    expect(findCondition(status?.conditions, 'Adopted')).toMatchObject({
      status: 'False',
      message: 'deleting this deletes the Namespace shop and everything in it',
    })
  })

  test('is deleted with its owner, and so is everything inside', async ({ plane }) => {
    await create(plane, 'shop')
    await untilReady(plane, 'shop')
    await plane.client.create(ConfigMap, { metadata: { name: 'inside', namespace: 'shop' } })
    await remove(plane.client, 'shop')
    await untilGone(plane, 'shop')
    expect(await plane.client.find(ConfigMap, { name: 'inside', namespace: 'shop' })).toBeUndefined()
  })

  test('is created again for a recreated owner, which has another uid', async ({ plane }) => {
    await create(plane, 'shop')
    const first = await untilReady(plane, 'shop')
    await remove(plane.client, 'shop')
    await plane.until(async () => (await plane.client.find(ApplicationNamespace, { name: 'shop' })) === undefined)
    const {
      metadata: { uid },
    } = await create(plane, 'shop')
    const second = await untilReady(plane, 'shop')
    expect(second.status?.namespaceUid).not.toBe(first.status?.namespaceUid)
    expect(second.status?.adopted).toBe(false)
    expect(ownersOf(await plane.client.get(Namespace, { name: 'shop' }))).toEqual([uid])
  })
})

describe('ApplicationNamespace: an existing Namespace', () => {
  const label = { [adoptLabel]: 'old' }
  for (const [adopt, labels, isAdopted] of [
    ['IfLabelled', label, true],
    ['IfLabelled', {}, false],
    ['IfOrphan', {}, true],
    ['Never', label, false],
  ] as const) {
    test(`is ${isAdopted ? 'adopted' : 'left alone'} with ${adopt} and the labels ${JSON.stringify(labels)}`, async ({
      plane,
    }) => {
      await plane.client.create(Namespace, { metadata: { name: 'legacy', labels: { ...labels, keep: 'me' } } })
      const before = await plane.client.get(Namespace, { name: 'legacy' })
      const {
        metadata: { uid },
      } = await create(plane, 'old', { namespaceName: 'legacy', adopt })
      const { status } = await untilReady(plane, 'old', isAdopted ? 'True' : 'False')
      const namespace = await plane.client.get(Namespace, { name: 'legacy' })
      expect(namespace.metadata.labels).toMatchObject({ keep: 'me' })
      expect(namespace.metadata.uid).toBe(before.metadata.uid)
      expect(ownersOf(namespace)).toEqual(isAdopted ? [uid] : [])
      expect(namespace.metadata.annotations?.[adoptedAnnotation]).toBe(isAdopted ? 'old' : undefined)
      expect(status?.adopted).toBe(isAdopted ? true : undefined)
      if (isAdopted) return
      expect(namespace.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
      expect(findCondition(status?.conditions, 'ChildrenReady')).toMatchObject({ status: 'False', reason: 'Conflict' })
    })
  }

  test('is adopted on the event that adds the label later', async ({ plane }) => {
    const namespace = await plane.client.create(Namespace, { metadata: { name: 'legacy' } })
    await create(plane, 'old', { namespaceName: 'legacy' })
    await untilReady(plane, 'old', 'False')
    await plane.client.patch(namespace, { metadata: { labels: label } })
    expect((await untilReady(plane, 'old')).status?.adopted).toBe(true)
  })

  test('is reported in an event when it is adopted', async ({ plane }) => {
    await plane.client.create(Namespace, { metadata: { name: 'legacy', labels: label } })
    await create(plane, 'old', { namespaceName: 'legacy' })
    await plane.until(async () => {
      const { items } = (await plane.client.list(
        { apiVersion: 'events.k8s.io/v1', kind: 'Event' },
        { namespace: 'default' },
      )) as { items: readonly { reason?: string; note?: string }[] }
      return items.some(
        ({ reason, note }) => reason === 'Adopted' && note?.startsWith('the Namespace legacy existed before') === true,
      )
    })
  })

  test('keeps its owner: a second claimant waits until it is released', async ({ plane }) => {
    await create(plane, 'first', { namespaceName: 'shared' })
    await untilReady(plane, 'first')
    const {
      metadata: { uid },
    } = await create(plane, 'second', { namespaceName: 'shared', adopt: 'IfOrphan' })
    const waiting = await untilReady(plane, 'second', 'False')
    expect(findCondition(waiting.status?.conditions, 'ChildrenReady')?.message).toMatch(
      /belongs to ApplicationNamespace first/,
    )
    await remove(plane.client, 'first', { propagationPolicy: 'Orphan' })
    expect((await untilReady(plane, 'second')).status?.adopted).toBe(true)
    expect(ownersOf(await plane.client.get(Namespace, { name: 'shared' }))).toEqual([uid])
  })

  test('has its original fields after it is released', async ({ plane }) => {
    const before = await plane.client.create(Namespace, {
      metadata: { name: 'legacy', labels: { ...label, keep: 'me' } },
    })
    await create(plane, 'old', { namespaceName: 'legacy', labels: { team: 'blue' } })
    await untilReady(plane, 'old')
    await remove(plane.client, 'old', { propagationPolicy: 'Orphan' })
    await plane.until(async () => (await plane.client.find(ApplicationNamespace, { name: 'old' })) === undefined)
    const {
      managedFields: _,
      resourceVersion: _version,
      ...metadata
    } = (await plane.client.get(Namespace, { name: 'legacy' })).metadata
    const { managedFields: _before, resourceVersion: _earlier, ...expected } = before.metadata
    expect(metadata).toEqual(expected)
  })

  test('is not adopted by a recreated owner with the same name: ownership is by uid', async ({ plane }) => {
    await create(plane, 'shop')
    const first = await untilReady(plane, 'shop')
    await remove(plane.client, 'shop', { propagationPolicy: 'Orphan' })
    await plane.until(async () => ownersOf(await plane.client.get(Namespace, { name: 'shop' })).length === 0)
    await create(plane, 'shop')
    const second = await untilReady(plane, 'shop', 'False')
    expect(findCondition(second.status?.conditions, 'ChildrenReady')?.reason).toBe('Conflict')
    expect((await plane.client.get(Namespace, { name: 'shop' })).metadata.uid).toBe(first.status?.namespaceUid)
  })
})

describe('ApplicationNamespace: the deletion warning', () => {
  async function warned({ client, plane, clock }: TestPlane): Promise<{ client: Client; warnings: string[] }> {
    await serve({ client })
    const warnings: string[] = []
    return {
      warnings,
      client: new Client({
        transport: plane.transport,
        clock,
        onWarning: (text) => {
          warnings.push(text)
        },
      }),
    }
  }

  test('is sent to the client that deletes, except with --cascade=orphan', async ({ plane }) => {
    const { client, warnings } = await warned(plane)
    for (const name of ['shop', 'kept']) {
      await create(plane, name)
      await untilReady(plane, name)
    }
    await remove(client, 'kept', { propagationPolicy: 'Orphan' })
    expect(warnings).toEqual([])
    await remove(client, 'shop')
    expect(warnings).toEqual([expect.stringContaining('the Namespace shop is deleted with it, and everything in it')])
    await untilGone(plane, 'shop')
    expect(await plane.client.find(Namespace, { name: 'kept' })).toBeDefined()
  })

  test('an adopted Namespace is not deleted without confirmation', async ({ plane }) => {
    const { client } = await warned(plane)
    await plane.client.create(Namespace, { metadata: { name: 'legacy' } })
    await create(plane, 'old', { namespaceName: 'legacy', adopt: 'IfOrphan' })
    const application = await untilReady(plane, 'old')
    const refused: unknown = await remove(client, 'old').then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(isForbidden(refused) || isInvalid(refused)).toBe(true)
    expect(String(refused)).toContain(`confirm with kubectl annotate appns old ${confirmAnnotation}=legacy`)
    expect((await client.get(ApplicationNamespace, { name: 'old' })).metadata.deletionTimestamp).toBeUndefined()
    await client.patch(application, { metadata: { annotations: { [confirmAnnotation]: 'legacy' } } })
    await remove(client, 'old')
    await untilGone(plane, 'legacy')
  })

  test('and stays on a server without our policies', async ({ plane }) => {
    await plane.client.create(Namespace, { metadata: { name: 'legacy' } })
    await create(plane, 'old', { namespaceName: 'legacy', adopt: 'IfOrphan' })
    await untilReady(plane, 'old')
    await remove(plane.client, 'old')
    await plane.until(async () => (await plane.client.find(ApplicationNamespace, { name: 'old' })) === undefined)
    await plane.advance(60_000)
    expect(await plane.client.get(Namespace, { name: 'legacy' })).toMatchObject({ status: { phase: 'Active' } })
  })
})

describe('ApplicationNamespace: rejected', () => {
  for (const namespaceName of ['kube-system', 'default', 'Not A Name']) {
    test(`the Namespace ${namespaceName}`, async ({ plane }) => {
      await expect(create(plane, 'shop', { namespaceName })).rejects.toSatisfy(isInvalid)
    })
  }

  test('a change of the Namespace', async ({ plane }) => {
    const application = await create(plane, 'shop')
    await expect(plane.client.patch(application, { spec: { namespaceName: 'elsewhere' } })).rejects.toThrow(
      /another Namespace is another ApplicationNamespace/,
    )
  })
})
