import { describe, expect, test } from 'vitest'
import { internalError, staleVersion, type ApiError } from '#api'
import { ConflictGate } from './conflict-gate.ts'
import { Run } from './run.ts'
import { Gadget, Widget, World } from './world.fixture.ts'

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

/** A gate, and a run of widget `one` whose update was refused because of a version that the cache does not have yet. */
async function refused(): Promise<{ world: World; gate: ConflictGate; run: Run; conflict: ApiError }> {
  const world = new World()
  world.api.put(Widget, 'one', { spec: {} })
  const controller = world.controllers.add({ for: Widget, reconcile: () => undefined })
  const { signal } = new AbortController()
  void world.cache.run(signal)
  void controller.watch(signal)
  await world.clock.advance(0)
  const { clock, cache, client, ledger } = world
  const run = new Run({ key: 'default/test.dev/Widget/a/one', priority: 0, reasons: [], reasonsLeftOut: 0 } as never, {
    clock,
    timeoutMs: undefined,
    onTimeout: () => undefined,
  })
  run.object = cache.find(Widget, { name: 'one', namespace: 'a' })
  run.record = ledger.begin({
    reconcileId: 'r',
    controller: 'widget',
    key: run.item.key,
    startedMs: 0,
    attempt: 0,
    priority: 0,
    causes: [],
    causesLeftOut: 0,
    rounds: 0,
    signal: run.signal,
  })
  ledger.beforeWrite(
    {
      verb: 'update',
      apiVersion: Widget.apiVersion,
      kind: 'Widget',
      name: 'one',
      namespace: 'a',
      dryRun: false,
      reconcileId: 'r',
    },
    run.object?.metadata.resourceVersion,
  )
  world.api.hold()
  world.api.put(Widget, 'one', { metadata: { labels: { by: 'other' } } })
  const conflict = staleVersion({ group: 'test.dev', kind: 'widgets', name: 'one' })
  return { world, gate: new ConflictGate({ cache, client, clock }), run, conflict }
}

describe('ConflictGate', () => {
  const gets = ({ api }: World): number => api.asked.filter(({ verb }) => verb === 'get').length

  test('waits 10 ms, twice as long each time, at most 1 s, and asks the server 5 s after the conflict', async () => {
    const { world, gate, run, conflict } = await refused()
    expect(await gate.waitMs(run)).toBe(0)
    gate.close(run, conflict)
    const waits: number[] = []
    for (let check = 0; check < 9; check++) waits.push(await gate.waitMs(run))
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1000, 1000])
    await world.clock.advance(4999)
    expect([await gate.waitMs(run), gets(world)]).toEqual([1000, 0])
    await world.clock.advance(1)
    expect([await gate.waitMs(run), gets(world)]).toEqual([0, 1])
    expect(world.cache.find(Widget, { name: 'one', namespace: 'a' })?.metadata.labels).toEqual({ by: 'other' })
    expect([await gate.waitMs(run), gets(world)]).toEqual([0, 1])
  })

  test('opens as soon as the cache has another version, without a request, and stays open', async () => {
    const { world, gate, run, conflict } = await refused()
    gate.close(run, conflict)
    expect(await gate.waitMs(run)).toBe(10)
    world.api.release()
    await world.clock.advance(0)
    expect(await gate.waitMs(run)).toBe(0)
    await world.clock.advance(10_000)
    expect([await gate.waitMs(run), gets(world)]).toEqual([0, 0])
  })

  test('shows an object that is gone on the server as gone, and opens when the server does not answer', async () => {
    const { world, gate, run, conflict } = await refused()
    gate.close(run, conflict)
    world.api.remove(Widget, 'one')
    await world.clock.advance(5000)
    expect(await gate.waitMs(run)).toBe(0)
    expect(world.cache.find(Widget, { name: 'one', namespace: 'a' })).toBeUndefined()
    const other = await refused()
    other.gate.close(other.run, other.conflict)
    other.world.api.before = () => internalError(new Error('no'))
    await other.world.clock.advance(5000)
    expect(await other.gate.waitMs(other.run)).toBe(0)
  })

  test('waits for the version after the own last write of the run, not after the one it began with', async () => {
    const { world, gate, run, conflict } = await refused()
    world.api.release()
    await world.clock.advance(0)
    // The run wrote version 12 itself, and the cache shows it.
    run.record?.noteWrite({ verb: 'patch', object: run.item.key, resourceVersion: '12' })
    expect(world.cache.find(Widget, { name: 'one', namespace: 'a' })?.metadata.resourceVersion).toBe('12')
    gate.close(run, conflict)
    expect(await gate.waitMs(run)).toBe(10)
  })

  test('waits for the other object after a conflict about a child of the same name', async () => {
    const { world, gate, run } = await refused()
    world.api.release()
    world.api.put(Gadget, 'one', { spec: {} })
    const handle = world.cache.getInformer(Gadget)
    await world.clock.advance(0)
    const version = world.cache.find(Gadget, { name: 'one', namespace: 'a' })?.metadata.resourceVersion
    world.ledger.beforeWrite(
      {
        verb: 'update',
        apiVersion: Gadget.apiVersion,
        kind: 'Gadget',
        name: 'one',
        namespace: 'a',
        dryRun: false,
        reconcileId: 'r',
      },
      version,
    )
    gate.close(run, staleVersion({ group: 'test.dev', kind: 'gadgets', name: 'one' }))
    expect(await gate.waitMs(run)).toBe(10)
    world.api.put(Gadget, 'one', { spec: { size: 1 } })
    await world.clock.advance(0)
    expect(await gate.waitMs(run)).toBe(0)
    await handle.release()
  })

  test('stays open after a conflict about an object that the run did not write', async () => {
    const { gate, run } = await refused()
    gate.close(run, staleVersion({ group: 'test.dev', kind: 'gadgets', name: 'another' }))
    expect(await gate.waitMs(run)).toBe(0)
  })
})
