import { describe, expect, test } from 'vitest'
import { staleVersion } from '#api'
import { Widget, World } from './world.fixture.ts'

describe('cleanup', () => {
  test('a finalizer is put on before the first reconcile and goes when the cleanup has resolved', async () => {
    const world = new World()
    const seen: string[] = []
    await world.start({
      for: Widget,
      reconcile: ({ metadata }) => {
        seen.push(`reconcile ${metadata.finalizers?.join()}`)
      },
      cleanup: ({ metadata }) => {
        seen.push(`cleanup ${metadata.name}`)
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(seen[0]).toBe('reconcile test.dev/widget')
    expect(world.api.writes).toEqual(['patch Widget a/one'])
    world.api.remove(Widget, 'one')
    await world.clock.advance(0)
    expect(seen.at(-1)).toBe('cleanup one')
    expect(world.api.find(Widget, 'one')).toBeUndefined()
    expect(world.complaints).toEqual([])
    await world.stop()
  })

  test('a cleanup that fails or asks for time keeps its finalizer, and is called again', async () => {
    const world = new World()
    let calls = 0
    await world.start({
      for: Widget,
      reconcile: () => undefined,
      cleanup: (_, { status }) => {
        calls++
        status.set({ phase: 'Cleaning' })
        if (calls === 1) throw new Error('not yet')
        return calls === 2 ? { afterMs: 1000 } : undefined
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    world.api.remove(Widget, 'one')
    await world.clock.advance(0)
    expect(world.api.find(Widget, 'one')?.status).toMatchObject({ phase: 'Cleaning' })
    expect(world.api.find(Widget, 'one')?.metadata.finalizers).toEqual(['test.dev/widget'])
    await world.clock.advance(20)
    await world.clock.advance(1000)
    expect(world.api.find(Widget, 'one')).toBeUndefined()
    await world.stop()
  })

  test('an object that is being deleted without our finalizer reaches neither function', async () => {
    const world = new World()
    const seen: string[] = []
    world.api.put(Widget, 'one', { metadata: { finalizers: ['other/one'] }, spec: {} })
    world.api.remove(Widget, 'one')
    await world.start({
      for: Widget,
      reconcile: () => {
        seen.push('reconcile')
      },
      cleanup: () => {
        seen.push('cleanup')
      },
    })
    expect(seen).toEqual([])
    expect(world.api.writes).toEqual([])
    await world.stop()
  })

  test('123 no finalizer is put on an object that is being deleted, also when the cache does not know that yet', async () => {
    const world = new World()
    let runs = 0
    const controller = await world.start({
      for: Widget,
      reconcile: () => {
        runs++
      },
      cleanup: () => undefined,
    })
    world.api.before = ({ verb, name }) => {
      // Deleted between our decision and our write.
      if (verb === 'patch' && world.api.find(Widget, name)?.metadata.deletionTimestamp === undefined) {
        world.api.hold()
        world.api.remove(Widget, name)
      }
      return undefined
    }
    world.api.put(Widget, 'one', { metadata: { finalizers: ['other/one'] }, spec: {} })
    await world.clock.advance(1000)
    // The write was locked to the version that was alive: the server refused it, and it was not repeated.
    expect(world.api.writes).toEqual(['patch Widget a/one'])
    expect(world.api.find(Widget, 'one')?.metadata.finalizers).toEqual(['other/one'])
    world.api.release()
    await world.clock.advance(10_000)
    expect(world.api.writes).toHaveLength(1)
    expect([runs, world.complaints, controller.health.problems]).toEqual([0, [], []])
    await world.stop()
  })

  test.each([
    ['stop' as const, ['one', 'two'], ['x/two', 'x/three']],
    ['continue' as const, ['one', 'two', 'three'], ['x/two']],
  ])(
    '124 of three finalizers the second fails: the first goes, the order is that of the declaration, the third by policy %s',
    async (cleanupPolicy, called, left) => {
      const world = new World()
      const seen: string[] = []
      let isBroken = true
      const step = (name: string, call: () => void = () => undefined): { finalizer: string; cleanup: () => void } => ({
        finalizer: `x/${name}`,
        cleanup: () => {
          seen.push(name)
          call()
        },
      })
      await world.start({
        for: Widget,
        reconcile: () => undefined,
        cleanupPolicy,
        backoff: { baseMs: 1000 },
        cleanup: [
          step('one'),
          step('two', () => {
            if (isBroken) throw new Error('no')
          }),
          step('three'),
        ],
      })
      world.api.put(Widget, 'w', { spec: {} })
      await world.clock.advance(0)
      expect(world.api.writes).toEqual(['patch Widget a/w'])
      world.api.remove(Widget, 'w')
      await world.clock.advance(0)
      expect(new Set(seen)).toEqual(new Set(called))
      expect(seen.slice(0, called.length)).toEqual(called)
      expect(world.api.find(Widget, 'w')?.metadata.finalizers).toEqual(left)
      isBroken = false
      await world.clock.advance(10_000)
      expect(world.api.find(Widget, 'w')).toBeUndefined()
      await world.stop()
    },
  )

  test('a conflict while the finalizer goes is solved on the spot, without a second cleanup', async () => {
    const world = new World()
    let cleanups = 0
    await world.start({
      for: Widget,
      reconcile: () => undefined,
      cleanup: () => {
        cleanups++
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    let refusals = 0
    world.api.before = ({ verb }) =>
      verb === 'patch' && refusals++ === 0
        ? staleVersion({ group: 'test.dev', kind: 'widgets', name: 'one' })
        : undefined
    world.api.remove(Widget, 'one')
    await world.clock.advance(100)
    expect([cleanups, world.api.find(Widget, 'one')]).toEqual([1, undefined])
    await world.stop()
  })
})
