import { expect, test } from 'vitest'
import { declareKind, formatMicroTime, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { leaseExpiryController } from './lease-expiry.ts'
import { Note, World } from './world.fixture.ts'

interface LeaseObject extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly renewTime?: string
  }
}

const Lease = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})
const Event = declareKind<KubeObject & { readonly involvedObject: object }>({
  group: '',
  version: 'v1',
  kind: 'Event',
  statusSubresource: false,
})
const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }

async function withLeases(use: (world: World) => Promise<void>): Promise<void> {
  const world = await World.start()
  const running = world.run(
    world.manager({ controllers: [leaseExpiryController() as unknown as ControllerDeclaration] }),
  )
  try {
    await use(world)
  } finally {
    await running.stop()
    await world.server.stop()
  }
}

function leaseSpec(world: World): NonNullable<LeaseObject['spec']> {
  return { holderIdentity: 'x', leaseDurationSeconds: 60, renewTime: formatMicroTime(world.clock.now()) }
}

test('leaseExpiryController deletes the lease of an API server that fell silent, not before and not while it is renewed', async () => {
  await withLeases(async (world) => {
    const key = { name: 'apiserver-a', namespace: 'kube-system' }
    const find = (): ReturnType<typeof world.client.find<typeof Lease>> => world.client.find(Lease, key)
    await world.client.create(Lease, { metadata: { ...key, labels }, spec: leaseSpec(world) })
    await world.clock.advance(50_000)
    await world.client.patch(
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key },
      { spec: leaseSpec(world) },
    )
    await world.clock.advance(59_900)
    expect(await find()).toBeDefined()
    await world.clock.advance(200)
    expect(await find()).toBeUndefined()
  })
})

test('leaseExpiryController deletes a marked lease that does not say when it ends, and leaves all others alone', async () => {
  await withLeases(async (world) => {
    await world.client.create(Lease, { metadata: { name: 'empty', namespace: 'kube-system', labels } })
    await world.client.create(Lease, { metadata: { name: 'elsewhere', namespace: 'default', labels } })
    await world.client.create(Lease, {
      metadata: { name: 'election', namespace: 'kube-system' },
      spec: leaseSpec(world),
    })
    await world.clock.advance(3_600_000)
    const names = (await world.client.list(Lease)).items.map(({ metadata: { name } }) => name)
    expect(names.sort()).toEqual(['election', 'elsewhere'])
  })
})

test('an Event is gone after an hour and the minute that leases are shared for', async () => {
  await withLeases(async (world) => {
    const key = { name: 'e', namespace: 'default' }
    await world.client.create(Event, {
      metadata: key,
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    })
    await world.clock.advance(3_600_000 - 1000)
    expect(await world.client.find(Event, key)).toBeDefined()
    await world.clock.advance(62_000)
    expect(await world.client.find(Event, key)).toBeUndefined()
  })
})

test('a definition goes with its objects, and waits for those that have finalizers', async () => {
  await withLeases(async (world) => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'notes.test.dev' },
    }
    await world.client.create(Note, {
      metadata: { name: 'a', namespace: 'default', finalizers: ['x.dev/y'] },
      spec: { text: 'x' },
    })
    await world.client.create(Note, { metadata: { name: 'b', namespace: 'default' }, spec: { text: 'x' } })
    await world.client.delete(definition)
    const isDefined = async (): Promise<boolean> =>
      (await world.client.find(
        { apiVersion: definition.apiVersion, kind: definition.kind },
        { name: 'notes.test.dev' },
      )) !== undefined
    await world.until(async () => (await world.client.list(Note)).items.length === 1)
    await world.clock.advance(30_000)
    expect(await isDefined()).toBe(true)
    await world.client.patch(
      { apiVersion: Note.apiVersion, kind: 'Note', metadata: { name: 'a', namespace: 'default' } },
      { metadata: { finalizers: null } },
    )
    await world.until(async () => !(await isDefined()))
  })
})
