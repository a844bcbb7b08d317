import { expect, test } from 'vitest'
import { deferred } from '#base'
import { Widget, World } from './world.fixture.ts'

test('Controller reconciles what is there, and what comes', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  const seen: string[] = []
  await world.start({
    for: Widget,
    reconcile: (widget, { causes }) => {
      seen.push(`${widget.metadata.name} ${widget.spec.size} ${causes.map(({ type }) => type).join()}`)
    },
  })
  expect(seen).toEqual(['one 1 add'])
  world.api.put(Widget, 'one', { spec: { size: 2 } })
  await world.clock.advance(0)
  expect(seen).toEqual(['one 1 add', 'one 2 update'])
  await world.stop()
  expect(world.clock.pending).toBe(0)
  expect(world.api.openWatches).toEqual([])
})

test('Controller runs once, and says so when it is asked for more', async () => {
  const world = new World()
  const controller = await world.start({ for: Widget, reconcile: () => undefined })
  const { signal } = new AbortController()
  await expect(controller.watch(signal)).rejects.toThrow('controller widget is already watching')
  await expect(controller.work(signal)).rejects.toThrow('controller widget is already working')
  await world.stop()
  expect(controller.health).toMatchObject({ isReady: false, isWorking: false, running: [] })
  expect(controller.enqueue({ name: 'one' })).toBe(false)
  await expect(controller.work(signal)).rejects.toThrow('controller widget is not watching: call watch or run first')
  await expect(controller.run(signal)).rejects.toThrow('controller widget has stopped: create a new one')
})

test('Controller.run is refused while another caller watches, and does not reconcile', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: {} })
  let runs = 0
  const controller = world.controllers.add({
    for: Widget,
    reconcile: () => {
      runs++
    },
  })
  const stopping = new AbortController()
  const others = [world.cache.run(stopping.signal), controller.watch(stopping.signal)]
  await expect(controller.run(stopping.signal)).rejects.toThrow('controller widget is already watching')
  expect(runs).toBe(0)
  stopping.abort()
  await Promise.all(others)
})

test('Controller.wakeParked wakes the keys that wait for one thing, or all of them', async () => {
  const world = new World()
  const seen: string[] = []
  const controller = await world.start({
    for: Widget,
    reconcile: ({ metadata: { name } }, { causes }) => {
      seen.push(`${name} ${causes.map(({ type, note }) => note ?? type).join()}`)
      return { park: name === 'one' ? 'a licence' : 'a disk' }
    },
  })
  for (const name of ['one', 'two']) world.api.put(Widget, name, { spec: {} })
  await world.clock.advance(0)
  expect(seen.splice(0)).toEqual(['one add', 'two add'])
  expect(controller.wakeParked({ waitingFor: 'a disk', note: 'new disk' })).toBe(1)
  await world.clock.advance(0)
  expect(seen.splice(0)).toEqual(['two new disk'])
  expect(controller.wakeParked()).toBe(2)
  await world.clock.advance(0)
  expect(seen.sort()).toEqual(['one woken', 'two woken'])
  await world.stop()
})

test('Controller.health shows a run from its first moment', async () => {
  const world = new World()
  const go = deferred<void>()
  const controller = await world.start({ for: Widget, reconcile: () => go.promise })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  expect(controller.health).toMatchObject({
    running: [{ key: 'default/test.dev/Widget/a/one', runningMs: 0 }],
    workers: { active: 1, max: 1 },
    stuck: [],
  })
  go.resolve()
  await world.stop()
})

test('12 a worker that throws before done lets go of its key, which runs again', async () => {
  const world = new World()
  let runs = 0
  await world.start({
    for: Widget,
    reconcile: () => {
      if (++runs === 1) throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(10)
  expect(runs).toBe(2)
  await world.stop()
})

test('44 never more than the concurrency at once, never two of one key, also when a delayed add fires during the run', async () => {
  const world = new World()
  const active = new Set<string>()
  let most = 0
  let runs = 0
  for (let index = 0; index < 100; index++) world.api.put(Widget, `w${index}`, { spec: {} })
  const controller = await world.start({
    for: Widget,
    concurrency: 5,
    reconcile: async ({ metadata: { name } }, { clock }) => {
      expect(active.has(name)).toBe(false)
      active.add(name)
      runs++
      most = Math.max(most, active.size)
      const done = deferred<void>()
      clock.after(10, done.resolve)
      await done.promise
      active.delete(name)
    },
  })
  controller.enqueue({ name: 'w0', namespace: 'a' }, { afterMs: 5 })
  await world.clock.advance(1000)
  expect(most).toBe(5)
  expect(runs).toBe(101)
  await world.stop()
})

test('Controller.addSource: a source that names no priority enqueues with 0', async () => {
  const world = new World()
  const priorities: number[] = []
  const controller = await world.start({
    for: Widget,
    reconcileKey: (_, { priority }) => {
      priorities.push(priority)
    },
  })
  controller.addSource({
    name: 'once',
    start: ({ enqueue }) => {
      enqueue({ name: 'one', namespace: 'a' }, { type: 'event', source: 'once' })
      return {
        name: 'once',
        hasSynced: true,
        problem: undefined,
        waitForSync: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      }
    },
  })
  await world.clock.advance(0)
  expect(priorities).toEqual([0])
  await world.stop()
})

test('Controller.health calls a run without a timeout stuck after ten minutes', async () => {
  const world = new World()
  const hang = deferred<void>()
  const controller = await world.start({ for: Widget, reconcile: () => hang.promise })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(599_999)
  expect([controller.health.stuck, controller.health.problems]).toEqual([[], []])
  await world.clock.advance(1)
  expect(controller.health.problems).toEqual([
    'a worker is stuck: default/test.dev/Widget/a/one has been reconciled for 600 s',
  ])
  hang.resolve()
  await world.stop()
})

test('Controller.health lists the first hundred parked keys', async () => {
  const world = new World()
  for (let index = 0; index < 101; index++) world.api.put(Widget, `w${index}`, { spec: {} })
  const controller = await world.start({ for: Widget, reconcile: () => ({ park: 'a licence' }) })
  await world.clock.advance(0)
  expect(controller.health.parked).toHaveLength(100)
  expect(controller.wakeParked()).toBe(101)
  await world.stop()
})
