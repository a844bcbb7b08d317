import { expect, test } from 'vitest'
import { sleep } from '#base'
import { Widget, World } from './world.fixture.ts'

test('a controller counts under the names that dashboards for controller-runtime know', async () => {
  const world = new World()
  const outcomes = [() => undefined, () => ({ afterMs: 5 }), () => ({ park: 'x' })]
  world.api.put(Widget, 'one', { spec: {} })
  const controller = await world.start({ for: Widget, concurrency: 3, reconcile: () => outcomes.shift()?.() })
  await world.clock.advance(0)
  controller.enqueue({ name: 'one', namespace: 'a' })
  await world.clock.advance(10)
  const total = (result: string): number | undefined =>
    world.metric(`controller_runtime_reconcile_total{controller="widget",result="${result}"}`)
  expect(['success', 'requeue_after', 'requeue', 'error'].map(total)).toEqual([2, 1, 0, 0])
  for (const name of [
    'reconcile_errors_total',
    'terminal_reconcile_errors_total',
    'reconcile_panics_total',
    'reconcile_timeouts_total',
    'active_workers',
  ]) {
    expect([name, world.metric(`controller_runtime_${name}{controller="widget"}`)]).toEqual([name, 0])
  }
  expect(world.metric('controller_runtime_max_concurrent_reconciles{controller="widget"}')).toBe(3)
  expect(world.metric('controller_runtime_reconcile_time_seconds_count{controller="widget"}')).toBe(3)
  expect(world.metric('workqueue_adds_total{name="widget",controller="widget"}')).toBe(3)
  await world.stop()
})

test('the duration of runs is counted in seconds', async () => {
  const world = new World()
  await world.start({
    for: Widget,
    reconcile: async (_, { clock }) => {
      await sleep(clock, 2500)
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(3000)
  expect(world.metric('controller_runtime_reconcile_time_seconds_sum{controller="widget"}')).toBe(2.5)
  await world.stop()
})

test.each([
  ['a TypeError', new TypeError('no'), 1],
  ['a ReferenceError', new ReferenceError('no'), 1],
  ['a SyntaxError', new SyntaxError('no'), 1],
  ['an AssertionError', Object.assign(new Error('no'), { name: 'AssertionError' }), 1],
  ['an ordinary error', new Error('no'), 0],
  ['a RangeError', new RangeError('no'), 0],
])('%s counts as %j, with this number of panics: %i', async (_, error, panics) => {
  const world = new World()
  await world.start({ for: Widget, reconcile: () => Promise.reject(error) })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  expect(world.metric('controller_runtime_reconcile_panics_total{controller="widget"}')).toBe(panics)
  expect(world.metric('controller_runtime_reconcile_errors_total{controller="widget"}')).toBe(1)
  await world.stop()
})
