import { describe, expect, test } from 'vitest'
import type { ContextPlugin } from './context.ts'
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
