import { expect, test } from 'vitest'
import { forbidden } from '#api'
import { deferred } from '#base'
import { enqueueMapped } from './handlers.ts'
import { kindSource } from './kind-source.ts'
import { ConfigMap, Gadget, Realm, Widget, World } from './world.fixture.ts'

test('40 what was there and what did not change has low priority; changes, deletions and outside events do not', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: {} })
  const seen: string[] = []
  const controller = await world.start({
    for: Widget,
    resyncMs: 1000,
    reconcileKey: (_, { priority, causes }) => {
      seen.push(`${causes.map(({ type }) => type).join()} ${priority}`)
    },
  })
  await world.clock.advance(1150)
  expect(seen.splice(0)).toEqual(['add -100', 'resync -100'])
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  controller.enqueue({ name: 'one', namespace: 'a' }, { note: 'by hand' })
  await world.clock.advance(0)
  expect(seen).toEqual(['update 0', 'delete 0', 'request 0'])
  await world.stop()
})

test('53 a source added while running starts at once and syncs; removed, it tells nothing more and its informer stops', async () => {
  const world = new World()
  world.api.put(ConfigMap, 'there', { data: {} })
  const seen: string[] = []
  const controller = await world.start({
    for: Widget,
    reconcileKey: ({ name }) => {
      seen.push(name)
    },
  })
  const added = controller.addSource(
    kindSource(ConfigMap, { handler: enqueueMapped(({ metadata: { name } }) => [{ name, namespace: 'a' }]) }),
  )
  expect(added.hasSynced).toBe(false)
  await world.clock.advance(0)
  await added.waitForSync()
  expect(added.hasSynced).toBe(true)
  expect(seen).toEqual(['there'])
  expect(world.api.openWatches).toEqual(['Widget', 'ConfigMap'])
  await added.remove()
  await world.clock.advance(0)
  expect(world.api.openWatches).toEqual(['Widget'])
  world.api.put(ConfigMap, 'late', { data: {} })
  await world.clock.advance(1000)
  expect(seen).toEqual(['there'])
  await world.stop()
})

test('a source added while running is part of the health, and stops with its controller', async () => {
  const world = new World()
  const controller = await world.start({ for: Widget, reconcileKey: () => undefined })
  controller.addSource(kindSource(Gadget))
  await world.clock.advance(0)
  expect(controller.health.sources).toEqual([
    { name: 'for Widget', hasSynced: true },
    { name: 'Gadget', hasSynced: true },
  ])
  expect(world.api.openWatches).toEqual(['Widget', 'Gadget'])
  await world.stop()
  expect(world.api.openWatches).toEqual([])
})

test('namespaces and selectors of a declaration restrict the watch; owned kinds follow the namespaces', async () => {
  const world = new World()
  await world.start({
    for: Widget,
    namespaces: ['b'],
    labelSelector: 'app=web',
    fieldSelector: 'metadata.name=one',
    owns: [Gadget, { kind: ConfigMap, elsewhere: true }],
    reconcileKey: () => undefined,
  })
  const watched = (kind: unknown): unknown[] =>
    world.api.asked
      .filter(({ kind: one, verb }) => one === kind && verb === 'watch')
      .map(({ namespace, target }) => {
        const { searchParams } = new URL(target, 'http://fake')
        return [namespace, searchParams.get('labelSelector'), searchParams.get('fieldSelector')]
      })
  expect(watched(Widget)).toEqual([['b', 'app=web', 'metadata.name=one']])
  expect(watched(Gadget)).toEqual([['b', null, null]])
  expect(watched(ConfigMap)).toEqual([['', null, null]])
  await world.stop()
})

test('owned kinds of a cluster-scoped kind, and those of a controller for all namespaces, are watched everywhere', async () => {
  const world = new World()
  await world.start({ for: Realm, owns: [Gadget], reconcileKey: () => undefined })
  await world.start({ for: Widget, owns: [ConfigMap], reconcileKey: () => undefined })
  const watched = world.api.asked.filter(({ verb }) => verb === 'watch').map(({ kind, namespace }) => [kind, namespace])
  expect(watched).toEqual([
    [Realm, ''],
    [Gadget, ''],
    [Widget, ''],
    [ConfigMap, ''],
  ])
  await world.stop()
})

test('an event whose handler failed is retried after 1 s, then after twice as long each time', async () => {
  const world = new World({ random: { uint32: () => 0 } })
  const at: number[] = []
  await world.start({
    for: Widget,
    reconcileKey: () => undefined,
    watches: [
      {
        kind: ConfigMap,
        map: () => {
          at.push(world.clock.monotonic())
          throw new Error('no')
        },
      },
    ],
  })
  world.api.put(ConfigMap, 'm')
  await world.clock.advance(16_000)
  expect(at).toEqual([0, 1000, 3000, 7000, 15_000])
  await world.stop()
})

test('53 a source that another controller uses as well goes on for that one', async () => {
  const world = new World()
  const seen: string[] = []
  const controller = await world.start(
    { for: Widget, reconcileKey: () => undefined },
    {
      for: Gadget,
      reconcileKey: ({ name }) => {
        seen.push(name)
      },
    },
  )
  const added = controller.addSource(kindSource(Gadget))
  await world.clock.advance(0)
  expect(world.api.openWatches).toEqual(['Widget', 'Gadget'])
  await added.remove()
  world.api.put(Gadget, 'one', { spec: {} })
  await world.clock.advance(0)
  expect(seen).toEqual(['one'])
  await world.stop()
})

test('55 a source that may not be read is named at once, with kind, verb, namespace and identity; not ready, and running once it may', async () => {
  const world = new World()
  let isAllowed = false
  world.api.before = ({ kind, verb }) =>
    kind === Gadget && !isAllowed
      ? forbidden(
          { group: 'test.dev', kind: 'gadgets' },
          `User "system:serviceaccount:a:robot" cannot ${verb} resource "gadgets" in API group "test.dev" at the cluster scope`,
        )
      : undefined
  world.api.put(Widget, 'one', { spec: {} })
  let runs = 0
  const controller = await world.start({
    for: Widget,
    owns: [Gadget],
    reconcile: () => {
      runs++
    },
  })
  const said = world.lines.find(({ message }) => message === 'cannot sync source; its controller waits for it')
  expect(said?.timeMs).toBe(world.clock.now())
  expect((said?.fields['error'] as Error).message).toMatch(
    /cannot list and watch Gadget \(test\.dev\) in all namespaces for the cache: .*User "system:serviceaccount:a:robot" cannot (list|watch)/,
  )
  expect(controller.health).toMatchObject({
    isReady: false,
    problems: [expect.stringMatching(/^owns Gadget: cannot list and watch Gadget \(test\.dev\).*robot/)],
  })
  expect(runs).toBe(0)
  await world.clock.advance(300_000)
  expect(
    world.lines.filter(({ message }) => message === 'cannot sync source; its controller waits for it').length,
  ).toBeLessThan(3)
  isAllowed = true
  await world.clock.advance(61_000)
  expect(controller.health).toMatchObject({ isReady: true, problems: [] })
  expect(runs).toBe(1)
  await world.stop()
})

test('56 a kind that is missing parks the controller until it comes, and again when it goes', async () => {
  const world = new World({ kinds: [Widget] })
  world.api.put(Widget, 'one', { spec: {} })
  let runs = 0
  const controller = await world.start({
    for: Widget,
    owns: [Gadget],
    reconcile: () => {
      runs++
    },
  })
  await world.clock.advance(120_000)
  expect(controller.health).toMatchObject({
    isReady: false,
    problems: ['owns Gadget: the server does not have this kind (yet)'],
  })
  expect(runs).toBe(0)
  world.api.kinds.push(Gadget)
  world.cache.wake(Gadget)
  await world.clock.advance(0)
  expect(controller.health).toMatchObject({ isReady: true, problems: [] })
  expect(runs).toBe(1)
  world.api.undefine(Gadget)
  await world.clock.advance(5000)
  expect(controller.health.problems).toEqual(['owns Gadget: the server does not have this kind (yet)'])
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  expect(runs).toBe(2)
  await world.stop()
})

test('a source in a block with await using is removed at its end', async () => {
  const world = new World()
  const controller = await world.start({ for: Widget, reconcileKey: () => undefined })
  {
    await using added = controller.addSource(kindSource(Gadget))
    await world.clock.advance(0)
    expect(added.hasSynced).toBe(true)
    expect(world.api.openWatches).toEqual(['Widget', 'Gadget'])
  }
  await world.clock.advance(0)
  expect(world.api.openWatches).toEqual(['Widget'])
  await world.stop()
})

test('a stop before the first sync is no failure of the source', async () => {
  const world = new World({ kinds: [Widget] })
  await world.start({ for: Widget, owns: [Gadget], reconcile: () => undefined })
  await world.clock.advance(10_000)
  world.lines.length = 0
  await world.stop()
  expect(world.complaints).toEqual([])
})

test('a stop drops events that wait for a retry, and leaves no timer', async () => {
  const world = new World()
  let calls = 0
  const map = (): never => {
    calls++
    throw new Error('no')
  }
  await world.start({ for: Widget, reconcileKey: () => undefined, watches: [{ kind: ConfigMap, map }] })
  world.api.put(ConfigMap, 'm')
  await world.clock.advance(0)
  await world.stop()
  expect(world.clock.pending).toBe(0)
  await world.clock.advance(60_000)
  expect(calls).toBe(1)
})

test('a handler that waited leaves no timer', async () => {
  const world = new World()
  const go = deferred<void>()
  await world.start({
    for: Widget,
    reconcileKey: () => undefined,
    watches: [
      {
        kind: ConfigMap,
        map: async () => {
          await go.promise
          return []
        },
      },
    ],
  })
  const before = world.clock.pending
  world.api.put(ConfigMap, 'm')
  await world.clock.advance(0)
  expect(world.clock.pending).toBe(before + 1)
  go.resolve()
  await world.clock.advance(0)
  expect(world.clock.pending).toBe(before)
  await world.stop()
})

test('the cause of an update names its source, object and version, and compares no fields', async () => {
  const world = new World()
  const seen: unknown[] = []
  await world.start({
    for: Widget,
    reconcileKey: (_, { causes }) => {
      seen.push(...causes)
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  const object = 'default/test.dev/Widget/a/one'
  expect(seen).toEqual([
    { type: 'add', source: 'for Widget', object, resourceVersion: '11' },
    { type: 'update', source: 'for Widget', object, resourceVersion: '12' },
  ])
  await world.stop()
})
