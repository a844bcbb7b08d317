import { expect, test } from 'vitest'
import { forbidden } from '#api'
import { enqueueMapped } from './handlers.ts'
import { kindSource } from './kind-source.ts'
import { ConfigMap, Gadget, Widget, World } from './world.fixture.ts'

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
  expect(controller.health).toMatchObject({ isReady: false, problems: [expect.stringContaining('robot')] })
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
