import { describe, expect, test } from 'vitest'
import { staleVersion } from '#api'
import type { ContextPlugin } from './context.ts'
import type { CleanupStep, Reconciled } from './declaration.ts'
import { ConfigMap, Widget, World } from './world.fixture.ts'

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

interface Noted {
  readonly type: string
  readonly reason: string
  readonly note: string
}

/** A widget with a status that is being deleted, and the events of its cleanup. */
async function deleting(
  steps: readonly CleanupStep[],
  { status = {} }: { status?: object } = {},
): Promise<{ world: World; events: Noted[]; condition: (type: string) => object | undefined }> {
  const events: Noted[] = []
  const reporter: ContextPlugin<{ event(note: Noted): void }> = {
    name: 'events',
    extend: () => ({ context: { event: (note) => void events.push(note) } }),
  }
  const world = new World({ plugins: [reporter] })
  await world.start({
    for: Widget,
    backoff: { baseMs: 1000, jitter: 0 },
    reconcile: () => undefined,
    cleanup: steps as never,
  })
  world.api.put(Widget, 'one', { spec: {}, status })
  await world.clock.advance(0)
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  const condition = (type: string): object | undefined =>
    (world.api.find(Widget, 'one')?.status?.['conditions'] as { type: string }[] | undefined)?.find(
      (one) => one.type === type,
    )
  return { world, events, condition }
}

describe('the report of a cleanup', () => {
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }

  test('an object that waits for a step is not ready, and names the step and what it waits for', async () => {
    const { world, condition } = await deleting(
      [{ finalizer: 'x/bucket', cleanup: () => ({ park: 'the bucket to be empty' }) }],
      { status: { conditions: [ready] } },
    )
    expect(condition('Ready')).toMatchObject({ status: 'False', reason: 'Finalizing', message: 'it is being deleted' })
    expect(condition('Finalizing')).toMatchObject({
      status: 'True',
      reason: 'Waiting',
      message: 'x/bucket waits for the bucket to be empty',
    })
    await world.stop()
  })

  test('an object that never had a condition Ready does not get one; a step with a timer needs more time', async () => {
    const { world, condition } = await deleting([{ finalizer: 'x/bucket', cleanup: () => ({ afterMs: 5000 }) }])
    expect(condition('Ready')).toBeUndefined()
    expect(condition('Finalizing')).toMatchObject({ reason: 'Waiting', message: 'x/bucket needs more time' })
    await world.stop()
  })

  test('the same failure has one event, another failure has another', async () => {
    const errors: unknown[] = [new Error('locked'), new Error('locked'), 'gone']
    const { world, events, condition } = await deleting([
      {
        finalizer: 'x/bucket',
        cleanup: () => {
          throw errors.length > 1 ? errors.shift() : errors[0]
        },
      },
    ])
    await world.clock.advance(10_000)
    expect(events).toEqual([
      { type: 'Warning', reason: 'CleanupFailed', note: 'x/bucket failed: locked' },
      { type: 'Warning', reason: 'CleanupFailed', note: 'x/bucket failed: gone' },
    ])
    expect(condition('Finalizing')).toMatchObject({ reason: 'Failed', message: 'x/bucket failed: gone' })
    await world.stop()
  })

  test.each<[string, () => Reconciled]>([
    ['waits', () => ({ park: 'the bucket to be empty' })],
    [
      'fails',
      () => {
        throw new Error('no')
      },
    ],
  ])('a step that %s is given up when its time is over, and the event names what may be left', async (_, cleanup) => {
    const { world, events } = await deleting(
      [{ finalizer: 'x/bucket', cleanup, timeoutMs: 60_000, onTimeout: 'giveUp' }],
      {
        status: {
          external: { id: 'b-7' },
          children: [1, 2, 3, 4, 5, 6].map((n) => ({ kind: 'Gadget', name: `g${n}` })),
        },
      },
    )
    await world.clock.advance(59_000)
    expect(world.api.find(Widget, 'one')).toBeDefined()
    expect(events.filter(({ reason }) => reason === 'CleanupGivenUp')).toEqual([])
    await world.clock.advance(61_000)
    expect(world.api.find(Widget, 'one')).toBeUndefined()
    expect(events.filter(({ reason }) => reason === 'CleanupGivenUp')).toEqual([
      {
        type: 'Warning',
        reason: 'CleanupGivenUp',
        note: 'x/bucket did not finish within 60 s and was given up; may be left behind: the external resource with the id b-7, Gadget g1, Gadget g2, Gadget g3, Gadget g4, Gadget g5',
      },
    ])
    await world.stop()
  })

  test('a step that waits runs again exactly at its timeout, or before if it asks for that', async () => {
    const at: number[] = []
    const { world } = await deleting([
      {
        finalizer: 'x/bucket',
        cleanup: (_, { clock }) => {
          at.push(clock.monotonic())
          return clock.monotonic() < 10_000 ? { afterMs: 10_000 } : { park: 'the bucket to be empty' }
        },
        timeoutMs: 60_000,
        onTimeout: 'giveUp',
      },
    ])
    await world.clock.advance(120_000)
    expect([at[0], at.find((ms) => ms >= 10_000), at.at(-1)]).toEqual([0, 10_000, 60_000])
    expect(world.api.find(Widget, 'one')).toBeUndefined()
    await world.stop()
  })

  test('a step whose timeout does not give up is kept', async () => {
    const { world, events } = await deleting([
      { finalizer: 'x/bucket', cleanup: () => ({ park: 'the bucket to be empty' }), timeoutMs: 60_000 },
    ])
    await world.clock.advance(3_600_000)
    expect(world.api.find(Widget, 'one')?.metadata.finalizers).toEqual(['x/bucket'])
    expect(events).toEqual([])
    await world.stop()
  })

  test('a given up step of an object whose status names nothing says so', async () => {
    const { world, events } = await deleting([
      { finalizer: 'x/bucket', cleanup: () => ({ afterMs: 1000 }), timeoutMs: 2500, onTimeout: 'giveUp' },
    ])
    await world.clock.advance(10_000)
    expect(events.map(({ note }) => note)).toEqual([
      'x/bucket did not finish within 3 s and was given up; may be left behind: its external resource',
    ])
    await world.stop()
  })
})

test('a finalizer on demand is not added by the controller, and its step runs where another writer has added it', async () => {
  const cleaned: string[] = []
  const world = new World()
  await world.start({
    for: Widget,
    reconcile: () => undefined,
    cleanup: [
      {
        finalizer: 'x/on-demand',
        onDemand: true,
        cleanup: ({ metadata: { name } }) => {
          cleaned.push(name)
        },
      },
    ],
  })
  world.api.put(Widget, 'without', { spec: {} })
  world.api.put(Widget, 'with', { metadata: { finalizers: ['x/on-demand'] }, spec: {} })
  await world.clock.advance(0)
  expect(world.api.writes).toEqual([])
  for (const name of ['without', 'with']) world.api.remove(Widget, name)
  await world.clock.advance(0)
  expect(cleaned).toEqual(['with'])
  expect(world.api.find(Widget, 'with')).toBeUndefined()
  await world.stop()
})

test.each([
  ['stop' as const, ['one', 'one'], ['x/one', 'x/two']],
  ['continue' as const, ['one', 'two', 'one'], ['x/one']],
])('of two steps the first waits: with policy %s these are called: %j', async (cleanupPolicy, called, left) => {
  const world = new World()
  const seen: string[] = []
  await world.start({
    for: ConfigMap,
    reconcile: () => undefined,
    cleanupPolicy,
    cleanup: [
      {
        finalizer: 'x/one',
        cleanup: () => {
          seen.push('one')
          return { park: 'a licence' }
        },
      },
      {
        finalizer: 'x/two',
        cleanup: () => {
          seen.push('two')
        },
      },
    ],
  })
  world.api.put(ConfigMap, 'm')
  await world.clock.advance(0)
  world.api.remove(ConfigMap, 'm')
  await world.clock.advance(0)
  if (cleanupPolicy === 'stop') world.api.put(ConfigMap, 'm', { data: { a: 'b' } })
  await world.clock.advance(0)
  expect(seen).toEqual(called)
  expect(world.api.find(ConfigMap, 'm')?.metadata.finalizers).toEqual(left)
  await world.stop()
})

test('all steps of a cleanup run in one reconcile, and plug-ins finish it', async () => {
  const seen: string[] = []
  const world = new World({
    plugins: [
      {
        name: 'noting',
        extend: (_, { isCleanup }) => ({
          context: {},
          finish: () => {
            if (isCleanup) seen.push('finish')
            return Promise.resolve(undefined)
          },
        }),
      },
    ],
  })
  const step = (name: string): CleanupStep => ({
    finalizer: `x/${name}`,
    cleanup: (_, { reconcileId }) => {
      seen.push(reconcileId)
    },
  })
  await world.start({ for: Widget, reconcile: () => undefined, cleanup: [step('one'), step('two')] as never })
  world.api.put(Widget, 'w', { spec: {} })
  await world.clock.advance(0)
  world.api.remove(Widget, 'w')
  await world.clock.advance(0)
  expect(seen).toEqual([seen[0], seen[0], 'finish'])
  await world.stop()
})
