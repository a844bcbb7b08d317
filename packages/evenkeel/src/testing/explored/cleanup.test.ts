import { describe, expect, test } from 'vitest'
import { declareKind, defineKind } from '#api'
import type { Condition, KubeObject } from '#api'
import type { CleanupStep, ControllerDeclaration } from '#controller'
import type { ManagedContext } from '#manager'
import { ProgramWorld } from './program.fixture.ts'

const Bucket = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Bucket',
  spec: { type: 'object', properties: {} },
  status: { type: 'object', properties: {} },
  reports: ['children'],
})
const ConfigMap = declareKind<KubeObject & { data?: Record<string, string> }>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  statusSubresource: false,
})
const Namespace = declareKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' })
const Event = declareKind<KubeObject & { reason?: string; message?: string; involvedObject: { name?: string } }>({
  group: '',
  version: 'v1',
  kind: 'Event',
  statusSubresource: false,
})
const place = { name: 'a', namespace: 'default' }
const finalizer = 'demo.example.com/bucket'

type Buckets = ControllerDeclaration<typeof Bucket, ManagedContext>

function buckets(
  cleanup: CleanupStep<typeof Bucket, ManagedContext>['cleanup'],
  more: Partial<Omit<CleanupStep, 'cleanup'>> = {},
): Buckets {
  return {
    for: Bucket,
    reconcile: (_, { status }) => {
      status.condition('Ready', true)
    },
    cleanup: [{ finalizer, ...more, cleanup }],
  }
}

async function begin(declaration: Buckets): Promise<ProgramWorld> {
  const world = await ProgramWorld.start(declaration)
  world.run()
  await world.client.create(Bucket, { metadata: place, spec: {} })
  await world.settle()
  return world
}

async function remove(world: ProgramWorld): Promise<void> {
  await world.client.delete(await world.client.get(Bucket, place))
}

async function condition(world: ProgramWorld, type: string): Promise<Condition | undefined> {
  return (await world.conditions({ apiVersion: Bucket.apiVersion, kind: Bucket.kind, metadata: place })).find(
    (each) => each.type === type,
  )
}

async function events(world: ProgramWorld): Promise<readonly string[]> {
  await world.settle(5000)
  return (await world.client.list(Event)).items.map(({ reason = '' }) => reason)
}

describe('cleanup', () => {
  test('A28: an object that is created already deleting gets no finalizer of ours, and nothing loops', async () => {
    await using world = await ProgramWorld.start(buckets(() => undefined))
    const created = await world.client.create(Bucket, {
      metadata: { ...place, finalizers: ['demo.example.com/other'] },
      spec: {},
    })
    await world.client.delete(created)
    world.run()
    await world.settle(10_000)
    expect([(await world.client.get(Bucket, place)).metadata.finalizers, world.writes]).toEqual([
      ['demo.example.com/other'],
      [],
    ])
  })

  test('A29, A31: a cleanup that fails ten times is one condition and one event; it is never ready meanwhile; the finalizer goes once', async () => {
    let attempts = 0
    await using world = await begin(
      buckets(() => {
        attempts++
        if (attempts <= 10) throw new Error('the bucket service is down')
      }),
    )
    expect((await condition(world, 'Ready'))?.status).toBe('True')
    await remove(world)
    await world.settle(1000)
    expect(await condition(world, 'Finalizing')).toMatchObject({
      status: 'True',
      reason: 'Failed',
      message: `${finalizer} failed: the bucket service is down`,
    })
    expect(await condition(world, 'Ready')).toMatchObject({ status: 'False', reason: 'Finalizing' })
    const since = (await condition(world, 'Finalizing'))?.lastTransitionTime
    await world.settle(2000)
    if (await world.client.find(Bucket, place))
      expect((await condition(world, 'Finalizing'))?.lastTransitionTime).toBe(since)
    await world.settle(30_000)
    expect([await world.client.find(Bucket, place), attempts]).toEqual([undefined, 11])
    expect(world.writes.filter((write) => write === 'PATCH buckets/a')).toHaveLength(2)
    expect(world.writes.filter((write) => write === 'PATCH buckets/a/status').length).toBeLessThanOrEqual(3)
    expect((await events(world)).filter((reason) => reason === 'CleanupFailed')).toHaveLength(1)
  })

  test('A30: a crash after the cleanup and before the finalizer goes cleans up again, and the object goes', async () => {
    const gone: string[] = []
    await using world = await begin(
      buckets(({ metadata: { name } }) => {
        gone.push(name)
      }),
    )
    world.between = (request, next) =>
      request.method === 'PATCH' && request.target.includes('/buckets/a')
        ? Promise.reject(new Error('it died here'))
        : next(request)
    await remove(world)
    await world.settle(500)
    await world.stop()
    const before = gone.length
    world.between = (request, next) => next(request)
    world.run()
    await world.settle()
    expect([before > 0, gone.length - before, await world.client.find(Bucket, place)]).toEqual([true, 1, undefined])
  })

  test('A32: in a namespace that goes nothing is made, and the finalizer is taken off', async () => {
    const declaration: Buckets = {
      for: Bucket,
      owns: [ConfigMap],
      async reconcile(_, { children }) {
        await children.apply(ConfigMap, { data: { a: 'b' } })
      },
      cleanup: () => undefined,
    }
    await using world = await ProgramWorld.start(declaration)
    await world.client.create(Namespace, { metadata: { name: 'old' } })
    world.run()
    await world.client.create(Bucket, { metadata: { name: 'a', namespace: 'old' }, spec: {} })
    await world.settle()
    world.writes.length = 0
    await world.client.delete(await world.client.get(Namespace, { name: 'old' }))
    await world.settle(60_000)
    // The first to go is the child; whoever makes it again is told that the namespace goes, and leaves it at that.
    expect(world.writes.filter((write) => write === 'PATCH configmaps/a').length).toBeLessThanOrEqual(3)
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(await world.client.find(Namespace, { name: 'old' })).toBeUndefined()
  })

  test('A33: a cleanup that is given up lets the object go and leaves an event that says what may have leaked', async () => {
    await using world = await begin(
      buckets(() => ({ park: 'the bucket to be empty' }), { timeoutMs: 60_000, onTimeout: 'giveUp' }),
    )
    await remove(world)
    await world.settle(1000)
    expect(await condition(world, 'Finalizing')).toMatchObject({
      reason: 'Waiting',
      message: `${finalizer} waits for the bucket to be empty`,
    })
    await world.settle(61_000)
    expect(await world.client.find(Bucket, place)).toBeUndefined()
    expect((await world.client.list(Event)).items.map(({ reason, message }) => [reason, message])).toEqual(
      expect.arrayContaining([
        [
          'CleanupGivenUp',
          `${finalizer} did not finish within 60 s and was given up; may be left behind: its external resource`,
        ],
      ]),
    )
  })
})
