import { expect, test } from 'vitest'
import { declareKind, type UnstructuredObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import {
  attributesClassProtectionController,
  claimProtectionController,
  volumeProtectionController,
} from './storage-protection.ts'
import { World } from './world.fixture.ts'

const Claim = declareKind<UnstructuredObject>({ group: '', version: 'v1', kind: 'PersistentVolumeClaim' })
const Volume = declareKind<UnstructuredObject>({ group: '', version: 'v1', kind: 'PersistentVolume', scope: 'Cluster' })
const AttributesClass = declareKind<UnstructuredObject>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  scope: 'Cluster',
  statusSubresource: false,
})

interface Running extends AsyncDisposable {
  readonly world: World
}

async function running(controller: ControllerDeclaration): Promise<Running> {
  const world = await World.start()
  const run = world.run(world.manager({ controllers: [controller] }))
  return {
    world,
    async [Symbol.asyncDispose]() {
      await run.stop()
      await world.server.stop()
    },
  }
}

const resources = { requests: { storage: '1Gi' } }
const claim = (name: string): UnstructuredObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', finalizers: ['kubernetes.io/pvc-protection'] },
  spec: { accessModes: ['ReadWriteOnce'], resources },
})

const pod = (name: string, spec: object): UnstructuredObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }]

test('claimProtectionController keeps a deleted claim while a pod on a node uses it', async () => {
  await using it = await running(claimProtectionController())
  const { client } = it.world
  const key = { name: 'a', namespace: 'default' }
  await client.create(claim('a'))
  await client.create(pod('p', { nodeName: 'n', volumes }))
  await client.delete(claim('a'))
  await it.world.clock.advance(60_000)
  expect(await client.find(Claim, key)).toBeDefined()
  await client.delete(pod('p', {}), { gracePeriodSeconds: 0 })
  await it.world.until(async () => (await client.find(Claim, key)) === undefined)
})

test('claimProtectionController lets a claim go that only waiting pods name, or none', async () => {
  await using it = await running(claimProtectionController())
  const { client } = it.world
  await client.create(pod('p', { volumes }))
  for (const name of ['a', 'b']) {
    await client.create(claim(name))
    await client.delete(claim(name))
    await it.world.until(async () => (await client.find(Claim, { name, namespace: 'default' })) === undefined)
  }
})

test('claimProtectionController knows the claim of an ephemeral volume by its name', async () => {
  await using it = await running(claimProtectionController())
  const { client } = it.world
  const ephemeral = { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources } } }
  await client.create(pod('p', { nodeName: 'n', volumes: [{ name: 'v', ephemeral }] }))
  await client.create(claim('p-v'))
  await client.delete(claim('p-v'))
  await it.world.clock.advance(60_000)
  expect(await client.find(Claim, { name: 'p-v', namespace: 'default' })).toBeDefined()
})

test('volumeProtectionController keeps a bound volume', async () => {
  await using it = await running(volumeProtectionController())
  const { client } = it.world
  const made = await client.create<UnstructuredObject>({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v', finalizers: ['kubernetes.io/pv-protection'] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/v' } },
  })
  const bound = await client.updateStatus({ ...made, status: { phase: 'Bound' } })
  await client.delete(bound)
  await it.world.clock.advance(60_000)
  const kept = await client.get(Volume, { name: 'v' })
  expect(kept.metadata.uid).toBe(bound.metadata.uid)
  await client.updateStatus({ ...kept, status: { phase: 'Released' } })
  await it.world.until(async () => (await client.find(Volume, { name: 'v' })) === undefined)
})

test('attributesClassProtectionController keeps a class that a claim names', async () => {
  await using it = await running(attributesClassProtectionController())
  const { client } = it.world
  const made = await client.create<UnstructuredObject>({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name: 'fast', finalizers: ['kubernetes.io/vac-protection'] },
    driverName: 'd.example.com',
    parameters: { iops: '1' },
  })
  const user = claim('a')
  await client.create({
    ...user,
    metadata: { name: 'a', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources, volumeAttributesClassName: 'fast' },
  })
  await client.delete(made)
  await it.world.clock.advance(60_000)
  expect(await client.find(AttributesClass, { name: 'fast' })).toBeDefined()
  await client.delete(claim('a'))
  await it.world.until(async () => (await client.find(AttributesClass, { name: 'fast' })) === undefined)
})
