import { expect, test } from 'vitest'
import { Widget, World } from './world.fixture.ts'

const total = (result: string): string => `controller_runtime_reconcile_total{controller="widget",result="${result}"}`

test('60 a conflict is quiet, and the rerun waits until the cache has passed the conflicting version', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  const versions: string[] = []
  await world.start({
    for: Widget,
    reconcile: async (widget, { client }) => {
      versions.push(widget.metadata.resourceVersion)
      if (versions.length === 1) {
        // Somebody else writes, and the watch is late.
        world.api.hold()
        world.api.put(Widget, 'one', { metadata: { labels: { by: 'other' } } })
      }
      await client.update({ ...widget, spec: { size: 2 } })
    },
  })
  await world.clock.advance(2000)
  expect(versions).toEqual(['11'])
  expect(world.complaints).toEqual([])
  expect(world.metric(total('requeue'))).toBe(1)
  expect(world.metric('evenkeel_controller_conflicts_total{controller="widget"}')).toBe(1)
  world.api.release()
  await world.clock.advance(0)
  expect(versions[1]).toBe('12')
  expect(world.api.find(Widget, 'one')?.spec).toEqual({ size: 2 })
  expect(world.metric('evenkeel_controller_stale_skips_total{controller="widget"}')).toBeGreaterThan(0)
  await world.stop()
})

test('60 if the watch stays late, the server is asked and the rerun sees what it says', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  const versions: string[] = []
  await world.start({
    for: Widget,
    reconcile: async (widget, { client }) => {
      versions.push(widget.metadata.resourceVersion)
      if (versions.length === 1) {
        world.api.hold()
        world.api.put(Widget, 'one', { metadata: { labels: { by: 'other' } } })
      }
      if (widget.spec.size === 1) await client.update({ ...widget, spec: { size: 2 } })
    },
  })
  await world.clock.advance(10_000)
  expect(versions.slice(0, 2)).toEqual(['11', '12'])
  expect(world.api.find(Widget, 'one')?.spec).toEqual({ size: 2 })
  await world.stop()
})

test('while the gate is closed the key is deferred: nothing is counted as a reconcile, failures stay, causes are kept', async () => {
  const world = new World()
  world.api.put(Widget, 'one', { spec: { size: 1 } })
  const runs: { readonly attempt: number; readonly notes: readonly (string | undefined)[] }[] = []
  const controller = await world.start({
    for: Widget,
    reconcile: async (widget, { client, attempt, causes }) => {
      runs.push({ attempt, notes: causes.flatMap(({ note }) => note ?? []) })
      if (runs.length > 1) return
      world.api.hold()
      world.api.put(Widget, 'one', { metadata: { labels: { by: 'other' } } })
      await client.update({ ...widget, spec: { size: 2 } })
    },
  })
  controller.enqueue({ name: 'one', namespace: 'a' }, { note: 'asked for' })
  await world.clock.advance(1000)
  expect(runs).toEqual([{ attempt: 0, notes: [] }])
  expect(world.ledger.entries()).toHaveLength(1)
  expect(['success', 'requeue_after', 'requeue', 'error'].map((result) => world.metric(total(result)))).toEqual([
    0, 0, 1, 0,
  ])
  expect(world.metric('evenkeel_controller_stale_skips_total{controller="widget"}')).toBeGreaterThan(3)
  expect(controller.health).toMatchObject({ failing: 1, queue: { waiting: 1 } })
  world.api.release()
  await world.clock.advance(0)
  expect(runs[1]).toEqual({ attempt: 1, notes: ['asked for'] })
  expect(controller.failing).toBe(0)
  await world.stop()
})
