import { expect, test } from 'vitest'
import { applyConflict, isNotFound, serviceUnavailable, staleVersion, timeout, tooManyRequests } from '#api'
import { deferred } from '#base'
import type { ContextPlugin } from './context.ts'
import { isRunAborted, RunAborted, StopReconcile, TerminalError } from './errors.ts'
import { Widget, World } from './world.fixture.ts'

const total = (result: string): string => `controller_runtime_reconcile_total{controller="widget",result="${result}"}`

test('28 requeue: true is no result: it fails, says what to do instead, and its delays grow', async () => {
  const world = new World()
  const at: number[] = []
  await world.start({
    for: Widget,
    backoff: { jitter: 0 },
    reconcile: (_, { clock }) => {
      at.push(clock.monotonic())
      return { requeue: true } as never
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(40)
  expect(at).toEqual([0, 5, 15, 35])
  expect(world.lines.find(({ level }) => level === 'error')?.fields['error']).toMatchObject({
    message: expect.stringContaining('To retry after a failure, throw') as string,
  })
  await world.stop()
})

test('a server that is too busy and says for how long is left alone for at least that long', async () => {
  const world = new World()
  const at: number[] = []
  const errors: Error[] = [
    tooManyRequests('later', { retryAfterMs: 7000 }),
    new Error('wrapped', { cause: serviceUnavailable('later', { retryAfterMs: 3000 }) }),
    timeout('not about waiting', { retryAfterMs: 60_000 }),
    serviceUnavailable('later', { retryAfterMs: 1 }),
    tooManyRequests('for ever', { retryAfterMs: 1e12 }),
  ]
  await world.start({
    for: Widget,
    backoff: { jitter: 0 },
    reconcile: (_, { clock }) => {
      at.push(clock.monotonic())
      const error = errors.shift()
      if (error) throw error
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(10_000_000)
  expect(at.map((ms, index) => ms - (at[index - 1] ?? 0))).toEqual([0, 7000, 3000, 20, 40, 3_600_000])
  await world.stop()
})

test('29 a terminal error is not tried again; the failures before it still count for the next one', async () => {
  const world = new World()
  const errors: Error[] = [new Error('one'), new TerminalError('never'), new Error('two')]
  const attempts: number[] = []
  await world.start({
    for: Widget,
    backoff: { jitter: 0 },
    reconcile: (_, { attempt }) => {
      attempts.push(attempt)
      const error = errors.shift()
      if (error) throw error
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(3_600_000)
  expect(attempts).toEqual([0, 1])
  expect(world.metric('controller_runtime_terminal_reconcile_errors_total{controller="widget"}')).toBe(1)
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(9)
  expect(attempts).toEqual([0, 1, 1])
  // The second ordinary failure in a row waits for 10 ms.
  await world.clock.advance(1)
  expect(attempts).toEqual([0, 1, 1, 2])
  await world.stop()
})

test('30 an event ends the wait after a failure, and the count goes on if it fails again', async () => {
  const world = new World()
  const attempts: number[] = []
  await world.start({
    for: Widget,
    backoff: { baseMs: 1000, maxMs: 1_000_000, jitter: 0 },
    reconcile: (_, { attempt }) => {
      attempts.push(attempt)
      throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(1)
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  expect(attempts).toEqual([0, 1])
  await world.clock.advance(1999)
  expect(attempts).toEqual([0, 1])
  await world.clock.advance(1)
  expect(attempts).toEqual([0, 1, 2])
  await world.stop()
})

test('39 a run that fails goes again at its priority; a result may name another', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: {} })
  const priorities: number[] = []
  await world.start({
    for: Widget,
    reconcile: (_, { priority, attempt }) => {
      priorities.push(priority)
      if (priorities.length === 1) throw new Error('no')
      return attempt === 1 ? { afterMs: 10, priority: 7 } : undefined
    },
  })
  await world.clock.advance(100)
  expect(priorities).toEqual([-100, -100, 7])
  await world.stop()
})

test.each([
  ['undefined', undefined, 'nothing'],
  ['a text', 'no', 'no'],
  ['an object', { code: 5 }, '{"code":5}'],
  ['null', null, 'null'],
])('41 a reconcile that rejects with %s fails like any other: back-off, log, metrics', async (_, thrown, said) => {
  const world = new World()
  let runs = 0
  await world.start({
    for: Widget,
    reconcile: () => (++runs < 3 ? Promise.reject(thrown as unknown as Error) : undefined),
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(100)
  expect(runs).toBe(3)
  expect(world.complaints).toEqual(['error: reconcile failed', 'error: reconcile failed'])
  expect(world.lines.find(({ level }) => level === 'error')?.fields['error']).toMatchObject({
    name: 'Error',
    message: `reconcile threw ${said}`,
  })
  expect([world.metric(total('error')), world.metric(total('success'))]).toEqual([2, 1])
  await world.stop()
})

test('41 a mistake in the code counts as a panic', async () => {
  const world = new World()
  let runs = 0
  await world.start({
    for: Widget,
    reconcile: () => {
      if (++runs === 1) (undefined as unknown as { go(): void }).go()
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(100)
  expect(world.metric('controller_runtime_reconcile_panics_total{controller="widget"}')).toBe(1)
  await world.stop()
})

test('42 afterMs of a run whose status could not be written is ignored, with a warning', async () => {
  const world = new World()
  let runs = 0
  world.api.before = ({ subresource }) =>
    subresource === 'status' && runs === 1 ? serviceUnavailable('not now') : undefined
  await world.start({
    for: Widget,
    backoff: { jitter: 0 },
    reconcile: (_, { status }) => {
      runs++
      status.set({ phase: 'Ready' })
      return { afterMs: 60_000 }
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(5)
  expect(world.complaints).toEqual([
    'warn: afterMs is ignored because the run failed: the back-off decides when it runs again',
    'error: reconcile failed',
  ])
  expect(runs).toBeGreaterThanOrEqual(2)
  expect(world.api.find(Widget, 'one')?.status).toMatchObject({ phase: 'Ready' })
  await world.stop()
})

test('43 a run that never settles is told by its signal once; its key stays locked and health shows it', async () => {
  const world = new World()
  const signals: AbortSignal[] = []
  const hang = deferred<void>()
  const controller = await world.start({
    for: Widget,
    timeoutMs: 1000,
    reconcile: (_, { signal }) => {
      signals.push(signal)
      return hang.promise
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(999)
  expect(signals[0]?.aborted).toBe(false)
  await world.clock.advance(60_000)
  expect(signals[0]?.reason).toMatchObject({ name: 'RunAborted', abortReason: 'timeout' })
  expect(world.metric('controller_runtime_reconcile_timeouts_total{controller="widget"}')).toBe(1)
  world.api.put(Widget, 'one', { spec: { size: 2 } })
  await world.clock.advance(60_000)
  expect(signals).toHaveLength(1)
  expect(controller.health.stuck).toMatchObject([{ key: 'default/test.dev/Widget/a/one', runningMs: 120_999 }])
  expect(controller.health.problems).toEqual([
    'a worker is stuck: default/test.dev/Widget/a/one has been reconciled for 120 s',
  ])
  hang.resolve()
  await world.clock.advance(0)
  expect(signals).toHaveLength(2)
  expect(controller.health.stuck).toEqual([])
  await world.stop()
})

test('57 a run whose object is deleted is told so, and a status that finds nothing is no error', async () => {
  const world = new World()
  const go = deferred<void>()
  const reasons: unknown[] = []
  await world.start({
    for: Widget,
    reconcile: async (_, { signal, status }) => {
      await go.promise
      if (signal.aborted) reasons.push(signal.reason)
      status.set({ phase: 'Late' })
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  go.resolve()
  await world.clock.advance(100)
  expect(reasons).toMatchObject([{ abortReason: 'deleted' }])
  expect(world.complaints).toEqual([])
  // The same when the cache does not know yet.
  world.api.hold()
  world.api.put(Widget, 'two', { spec: {} })
  world.api.release()
  world.api.before = ({ verb, name }) => {
    if (verb === 'patch' && name === 'two') {
      world.api.hold()
      world.api.remove(Widget, 'two')
    }
    return undefined
  }
  await world.clock.advance(100)
  expect(world.api.writes).toEqual(['patch Widget/status a/two'])
  expect(world.complaints).toEqual([])
  world.api.release()
  await world.stop()
})

test('57 a run whose object begins to be deleted is told so; its late writes are refused', async () => {
  const world = new World()
  const go = deferred<void>()
  const errors: unknown[] = []
  world.api.put(Widget, 'one', { metadata: { finalizers: ['x/y'] }, spec: {} })
  await world.start({
    for: Widget,
    reconcile: async (widget, { client }) => {
      await go.promise
      await client.patch(widget, { metadata: { labels: { late: 'yes' } } }).catch((error: unknown) => {
        errors.push(error)
        throw error
      })
    },
  })
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  go.resolve()
  await world.clock.advance(100)
  expect(errors.map((error) => isRunAborted(error) && error.abortReason)).toEqual(['deleted'])
  expect(world.api.writes).toEqual([])
  expect(world.complaints).toEqual([])
  await world.stop()
})

test('60 a conflict that the cache has passed already reruns at once; conflicts in a row become an error', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: {} })
  let runs = 0
  await world.start({
    for: Widget,
    backoff: { jitter: 0 },
    reconcile: () => {
      runs++
      throw staleVersion({ kind: 'others', name: 'x' })
    },
  })
  await world.clock.advance(5 + 10 + 20 + 40 + 80 - 1)
  expect(runs).toBe(5)
  expect(world.complaints).toEqual([])
  await world.clock.advance(1)
  expect(world.complaints).toEqual(['error: reconcile failed'])
  await world.stop()
})

test('60 a field that another manager owns is no race: it is an error at once', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: {} })
  await world.start({
    for: Widget,
    reconcile: () => {
      throw applyConflict('taken', [
        { reason: 'FieldManagerConflict', message: 'conflict with "other"', field: '.spec.size' },
      ])
    },
  })
  expect(world.complaints).toEqual(['error: reconcile failed'])
  await world.stop()
})

test('park waits for a change or a call, without a timer', async () => {
  const world = new World()
  let runs = 0
  const controller = await world.start({
    for: Widget,
    resyncMs: 0,
    reconcile: () => {
      runs++
      return { park: 'a licence' }
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(1_000_000)
  expect(runs).toBe(1)
  expect(controller.health.parked).toEqual([{ key: 'default/test.dev/Widget/a/one', waitingFor: 'a licence' }])
  expect(controller.wakeParked({ waitingFor: 'something else' })).toBe(0)
  expect(controller.wakeParked({ waitingFor: 'a licence' })).toBe(1)
  await world.clock.advance(0)
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  expect(runs).toBe(3)
  await world.stop()
})

test('supersede: a newer spec aborts the run, which begins again with it', async () => {
  const world = new World()
  const seen: string[] = []
  await world.start({
    for: Widget,
    cancelOnNewGeneration: true,
    reconcile: (widget, { signal }) => {
      seen.push(`begin ${widget.spec.size}`)
      return new Promise((resolve, reject) => {
        if (widget.spec.size === 2) resolve(undefined)
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error)
        })
      })
    },
  })
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  world.api.put(Widget, 'one', { metadata: { labels: { a: 'b' } } })
  await world.clock.advance(0)
  expect(seen).toEqual(['begin 1'])
  world.api.put(Widget, 'one', { spec: { size: 2 } })
  await world.clock.advance(0)
  expect(seen).toEqual(['begin 1', 'begin 2'])
  expect(world.complaints).toEqual([])
  await world.stop()
})

test('lease-lost: runs are told, their late writes are refused, and work goes on where it was when it begins again', async () => {
  const world = new World()
  const go = deferred<void>()
  const seen: unknown[] = []
  world.api.put(Widget, 'one', { spec: {} })
  const controller = world.controllers.add({
    for: Widget,
    reconcile: async (widget, { client, signal }) => {
      if (widget.metadata.labels?.['done']) return
      seen.push(signal.aborted)
      await go.promise
      try {
        await client.patch(widget, { metadata: { labels: { done: 'yes' } } })
      } catch (error) {
        seen.push((error as RunAborted).abortReason)
        throw error
      }
    },
  })
  const [stop, first, second] = [new AbortController(), new AbortController(), new AbortController()]
  const watching = [world.cache.run(stop.signal), controller.watch(stop.signal)]
  const leading = controller.work(first.signal)
  await world.clock.advance(0)
  first.abort(new RunAborted('lease-lost'))
  await world.clock.advance(0)
  go.resolve()
  await leading
  expect(seen).toEqual([false, 'lease-lost'])
  expect(world.api.writes).toEqual([])
  expect(controller.health).toMatchObject({ isReady: true, isWorking: false, queue: { ready: 1 } })
  const again = controller.work(second.signal)
  await world.clock.advance(0)
  expect(world.api.writes).toEqual(['patch Widget a/one'])
  expect(world.complaints).toEqual([])
  second.abort()
  await again
  stop.abort()
  await Promise.all(watching)
})

test('reconcileKey gets the key alone, also when the object is gone', async () => {
  const world = new World()
  const seen: string[] = []
  await world.start({
    for: Widget,
    reconcileKey: async ({ namespace, name }, { client }) => {
      const widget = await client.find(Widget, { name, namespace: namespace ?? '' })
      const error: unknown = await client.get(Widget, { name, namespace: namespace ?? '' }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      seen.push(`${namespace}/${name} ${widget?.metadata.uid ?? 'gone'} ${isNotFound(error)}`)
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  expect(seen).toEqual(['a/one uid-1 false', 'a/one gone true'])
  await world.stop()
})

test('a self-caused event during the back-off is deferred: the retry keeps its time, its failures and its causes', async () => {
  const world = new World()
  const runs: { readonly atMs: number; readonly attempt: number; readonly causes: readonly string[] }[] = []
  const controller = await world.start({
    for: Widget,
    backoff: { baseMs: 100, jitter: 0 },
    reconcile: (_, { status, clock, attempt, causes }) => {
      runs.push({ atMs: clock.monotonic(), attempt, causes: causes.map(({ type }) => type) })
      status.set({ seen: runs.length })
      throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(50)
  expect(controller.health).toMatchObject({ failing: 1, queue: { ready: 0, waiting: 1 } })
  expect([world.metric(total('error')), world.ledger.entries()]).toMatchObject([1, { length: 1 }])
  await world.clock.advance(50)
  expect(runs).toEqual([
    { atMs: 0, attempt: 0, causes: ['add'] },
    { atMs: 100, attempt: 1, causes: ['update'] },
  ])
  await world.stop()
})

test('a hot loop is deferred: no result is counted for it, and its failures stay as they are', async () => {
  const world = new World({ hotLoops: { roundsMax: 2, baseMs: 1000 } })
  const causes: string[][] = []
  const controller = await world.start({
    for: Widget,
    reconcile: (_, { status, causes: why }) => {
      causes.push(why.map(({ type }) => type))
      status.set({ seen: causes.length })
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(999)
  expect(causes).toEqual([['add'], ['update']])
  expect(controller.health).toMatchObject({ failing: 0, queue: { waiting: 1 } })
  expect(world.metric('evenkeel_controller_hot_loops_total{controller="widget"}')).toBe(1)
  expect(['success', 'requeue_after', 'requeue', 'error'].map((result) => world.metric(total(result)))).toEqual([
    2, 0, 0, 0,
  ])
  await world.clock.advance(1)
  expect(causes[2]).toEqual(['update'])
  await world.stop()
})

test('a retry that an event brought forward leaves no wait behind: what it writes runs the key at once', async () => {
  const world = new World()
  const at: number[] = []
  await world.start({
    for: Widget,
    backoff: { baseMs: 10_000, jitter: 0 },
    reconcile: (_, { status, clock }) => {
      at.push(clock.monotonic())
      if (at.length === 1) throw new Error('no')
      status.set({ phase: 'Ready' })
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(1000)
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  expect(at).toEqual([0, 1000, 1000])
  await world.stop()
})

test('a run that asked for a time does not hold back the event of its own write', async () => {
  const world = new World()
  const at: number[] = []
  await world.start({
    for: Widget,
    reconcile: (_, { status, clock }) => {
      at.push(clock.monotonic())
      status.set({ phase: 'Ready' })
      return { afterMs: 5000 }
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  expect(at).toEqual([0, 0])
  await world.clock.advance(5000)
  expect(at).toEqual([0, 0, 5000])
  await world.stop()
})

test('StopReconcile ends a run without a failure: the status is written and the result counts', async () => {
  const world = new World()
  const at: number[] = []
  const controller = await world.start({
    for: Widget,
    reconcile: ({ metadata: { name } }, { status, clock }) => {
      status.set({ phase: 'Waiting' })
      if (name === 'parked') throw new StopReconcile('no licence', { result: { park: 'a licence' } })
      at.push(clock.monotonic())
      throw new StopReconcile('no licence', { result: { afterMs: 1000 } })
    },
  })
  for (const name of ['one', 'parked']) world.api.put(Widget, name, { spec: {} })
  await world.clock.advance(1000)
  expect(at).toEqual([0, 0, 1000])
  expect(world.api.find(Widget, 'one')?.status).toMatchObject({ phase: 'Waiting' })
  expect(controller.health).toMatchObject({ failing: 0, parked: [{ waitingFor: 'a licence' }] })
  expect(world.complaints).toEqual([])
  await world.stop()
})

test('StopReconcile in a cleanup asks for more time; without a result the step waits for what the message names', async () => {
  const world = new World()
  const controller = await world.start({
    for: Widget,
    reconcile: () => undefined,
    cleanup: () => {
      throw new StopReconcile('the bucket to be empty')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  expect(world.api.find(Widget, 'one')?.metadata.finalizers).toEqual(['test.dev/widget'])
  expect(controller.health.parked).toEqual([
    { key: 'default/test.dev/Widget/a/one', waitingFor: 'the bucket to be empty' },
  ])
  expect(world.complaints).toEqual([])
  await world.stop()
})

test('a key without an object runs again when the first plug-in that has something left asks for it', async () => {
  const at: number[] = []
  const left = (afterMs: number | undefined): ContextPlugin => ({
    name: `left ${afterMs}`,
    extend: () => ({ context: {} }),
    absent: (base) => {
      if (afterMs === 1000) at.push(base.clock.monotonic())
      return Promise.resolve(afterMs === undefined || base.clock.monotonic() >= 2000 ? undefined : { afterMs })
    },
  })
  const world = new World({ plugins: [left(undefined), left(5000), left(1000), left(2000)] })
  const controller = await world.start({ for: Widget, reconcile: () => undefined })
  controller.enqueue({ name: 'gone', namespace: 'a' })
  await world.clock.advance(60_000)
  expect(at).toEqual([0, 1000, 2000])
  await world.stop()
})

test('a plug-in knows whether its run is a cleanup', async () => {
  const seen: unknown[] = []
  const world = new World({
    plugins: [
      {
        name: 'noting',
        extend: (_, { isCleanup, object, status }) => {
          seen.push([isCleanup, object?.metadata.name, status !== undefined])
          return { context: {} }
        },
      },
    ],
  })
  await world.start({ for: Widget, reconcile: () => undefined, cleanup: () => undefined })
  world.api.put(Widget, 'one', { metadata: { finalizers: ['test.dev/widget'] }, spec: {} })
  await world.clock.advance(0)
  world.api.remove(Widget, 'one')
  await world.clock.advance(0)
  expect(seen).toEqual([
    [false, 'one', true],
    [true, 'one', true],
  ])
  await world.stop()
})

test('a run without an event names the retry or the timer as its cause', async () => {
  const world = new World()
  const seen: unknown[] = []
  await world.start({
    for: Widget,
    reconcile: (_, { causes }) => {
      seen.push(causes.map(({ type, source }) => `${type} of ${source}`))
      if (seen.length === 1) throw new Error('no')
      return seen.length === 2 ? { afterMs: 1000 } : undefined
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(2000)
  expect(seen).toEqual([['add of for Widget'], ['retry of queue'], ['timer of queue']])
  await world.stop()
})

test('tracing that fails fails the run, which is retried; the worker survives', async () => {
  let calls = 0
  const world = new World({
    tracing: {
      run: (_, work) =>
        ++calls === 1
          ? Promise.reject(new Error('no collector'))
          : work({ context: undefined, set: () => undefined, fail: () => undefined }),
    },
  })
  let runs = 0
  await world.start({
    for: Widget,
    reconcile: () => {
      runs++
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(100)
  expect([calls, runs]).toEqual([2, 1])
  expect(world.complaints).toEqual(['error: reconcile failed'])
  await world.stop()
})

test('the shortest back-off is kept as well when the failed run wrote its status', async () => {
  const world = new World()
  const at: number[] = []
  await world.start({
    for: Widget,
    backoff: { baseMs: 1, jitter: 0 },
    reconcile: (_, { status, clock }) => {
      at.push(clock.monotonic())
      status.set({ seen: at.length })
      throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(3)
  expect(at).toEqual([0, 1, 3])
  await world.stop()
})
