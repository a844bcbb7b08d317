import { describe, expect, test } from 'vitest'
import { PerRun, type ContextPlugin } from './context.ts'
import { StopReconcile } from './errors.ts'
import { Widget, World } from './world.fixture.ts'

describe('plug-ins', () => {
  test('add to the context of every run, and finish before the status is written', async () => {
    const seen: string[] = []
    const counter: ContextPlugin<{ count: (what: string) => void }> = {
      name: 'counter',
      extend: ({ key }, { object, controller, kind }) => ({
        context: {
          count: (what) => {
            seen.push(`${controller} ${kind.kind} ${object?.metadata.name ?? 'none'} ${key.name} ${what}`)
          },
        },
        finish: async () => {
          await Promise.resolve()
          seen.push(`finish, status writes: ${world.api.writes.length}`)
        },
      }),
    }
    const world = new World({ plugins: [counter] })
    const controller = world.controllers.add<typeof Widget, { count: (what: string) => void }>({
      for: Widget,
      reconcile: (_, { count, status }) => {
        count('it')
        status.set({ phase: 'Ready' })
      },
    })
    const stop = new AbortController()
    const running = [world.cache.run(stop.signal), controller.run(stop.signal)]
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(seen.slice(0, 2)).toEqual(['widget Widget one one it', 'finish, status writes: 0'])
    expect(world.api.find(Widget, 'one')?.status).toMatchObject({ phase: 'Ready' })
    stop.abort()
    await Promise.all(running)
  })

  test('what finish throws fails the run; a name that is taken is refused', async () => {
    const world = new World({
      plugins: [{ name: 'a', extend: () => ({ context: {}, finish: () => Promise.reject(new Error('unfinished')) }) }],
    })
    await world.start({ for: Widget, reconcile: () => undefined })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(world.lines.find(({ level }) => level === 'error')?.fields['error']).toMatchObject({ message: 'unfinished' })
    await world.stop()
    const other = new World({ plugins: [{ name: 'b', extend: () => ({ context: { client: 5 } }) }] })
    await other.start({ for: Widget, reconcile: () => undefined })
    other.api.put(Widget, 'one', { spec: {} })
    await other.clock.advance(0)
    expect(other.lines.find(({ level }) => level === 'error')?.fields['error']).toMatchObject({
      message:
        'cannot extend the context of default/test.dev/Widget/a/one: client exists twice; rename it in one plug-in',
    })
    await other.stop()
  })
})

test('the context says which run it is: log lines carry key and id, attempt counts failures', async () => {
  const world = new World()
  await world.start({
    for: Widget,
    name: 'mine',
    reconcile: (_, { log, attempt, key, clock, random }) => {
      log.info('hello', {
        attempt,
        sameClock: clock === world.clock,
        sameRandom: random === world.random,
        group: key.group,
      })
      if (attempt === 0) throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(100)
  const hellos = world.lines.filter(({ message }) => message === 'hello').map(({ fields }) => fields)
  expect(hellos).toMatchObject([
    {
      controller: 'mine',
      kind: 'Widget',
      object: 'a/one',
      reconcileId: expect.any(String) as string,
      attempt: 0,
      sameClock: true,
      sameRandom: true,
      group: 'test.dev',
    },
    { attempt: 1 },
  ])
  expect(hellos[0]?.['reconcileId']).not.toBe(hellos[1]?.['reconcileId'])
  await world.stop()
})

test('start of a plug-in with a result ends the run there, and the result counts', async () => {
  const seen: string[] = []
  const world = new World({
    plugins: [
      { name: 'a', extend: () => ({ context: {}, start: () => Promise.resolve({ park: 'the licence' }) }) },
      {
        name: 'b',
        extend: () => ({
          context: {},
          start: () => {
            seen.push('start of b')
            return Promise.resolve(undefined)
          },
          finish: () => {
            seen.push('finish of b')
            return Promise.resolve(undefined)
          },
        }),
      },
    ],
  })
  const controller = await world.start({
    for: Widget,
    reconcile: () => {
      seen.push('reconcile')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  expect(seen).toEqual([])
  expect(controller.health.parked).toEqual([{ key: 'default/test.dev/Widget/a/one', waitingFor: 'the licence' }])
  await world.stop()
})

test('the soonest of reconcile and plug-ins decides when to run again, and a time comes before park', async () => {
  const finishing = (afterMs: number): ContextPlugin => ({
    name: `after ${afterMs}`,
    extend: () => ({ context: {}, finish: () => Promise.resolve({ afterMs }) }),
  })
  const world = new World({ plugins: [finishing(100), finishing(300)] })
  const at: number[] = []
  await world.start({
    for: Widget,
    reconcile: (_, { clock }) => {
      at.push(clock.monotonic())
      return [{ afterMs: 1000 }, { afterMs: 10 }, { park: 'a licence' }][at.length - 1]
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(320)
  expect(at).toEqual([0, 100, 110, 210, 310])
  await world.stop()
})

test('a plug-in learns of a run that ended early, and when it has to run again all the same', async () => {
  const ends: string[] = []
  const plugin: ContextPlugin = {
    name: 'ends',
    extend: () => ({
      context: {},
      finish: () => Promise.resolve(void ends.push('finished')),
      stopped: () => {
        ends.push('stopped')
        return Promise.resolve(ends.length === 1 ? { afterMs: 100 } : undefined)
      },
    }),
  }
  const world = new World({ plugins: [plugin] })
  await world.start({
    for: Widget,
    reconcile: () => {
      if (ends.length === 0) throw new StopReconcile('waiting', { result: { park: 'a licence' } })
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(1000)
  expect(ends).toEqual(['stopped', 'finished'])
  await world.stop()
})

describe('PerRun', () => {
  test('keeps a value for each run', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const perRun = new PerRun<{ n: number }>('app')
    const first = { n: 1 }
    expect(perRun.set(one, first)).toBe(first)
    perRun.set(two, { n: 2 })
    expect([perRun.get(one), perRun.get(two)]).toEqual([{ n: 1 }, { n: 2 }])
    expect(perRun.get(one)).toBe(first)
  })

  test('names the verb that the controller does not declare', () => {
    expect(() => new PerRun('app').get(new AbortController())).toThrow(
      'app is not a verb of this controller: add it to verbs of its declaration',
    )
  })
})
