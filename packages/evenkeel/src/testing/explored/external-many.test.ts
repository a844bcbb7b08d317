/**
 * Many objects and a system with manners: B31 to B33, G7, and what a reconcile of one's own sees.
 */
import { expect, test } from 'vitest'
import { defineKind } from '#api'
import type { ControllerDeclaration, ReconcileContext } from '#controller'
import { Manager } from '#manager'
import { external, ExternalError } from '#verbs'
import { startShapes } from './shapes-world.fixture.ts'
import { Shape, shapesDriver, capabilitySets } from './shapes.fixture.ts'

test('B31 a system that says "too much" is left alone for as long as it asks', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S3 })
  world.service.failNext('create', { error: new ExternalError('too much', { status: 429, retryAfterMs: 20_000 }) })
  await world.create('a')
  await world.until(async () => (await world.condition('Synced', 'a')) === 'False Throttled')
  await world.create('b')
  await world.advance(17_000)
  expect(world.service.count('create')).toBe(1)
  await world.synced('a', 20_000)
  await world.synced('b', 20_000)
  expect(world.service.shapes.size).toBe(2)
})

test('B31 B32 a budget holds for all objects together; a restart only reads, and spreads it', async () => {
  const many = 1000
  await using world = await startShapes({
    capabilities: { ...capabilitySets.S3, quota: { callsPerSecond: 100, burst: 25 } },
    isStarted: false,
    options: { policy: { pollIntervalMs: 600_000 } },
  })
  const first = world.start({ declaration: { concurrency: 10 } })
  for (let each = 0; each < many; each++) await world.create(`s${each}`)
  const started = world.clock.monotonic()
  for (let seconds = 0; world.service.shapes.size < many && seconds < 60; seconds++) {
    const before = world.service.calls.length
    await world.advance(1000)
    expect(world.service.calls.length - before).toBeLessThanOrEqual(125)
  }
  expect(world.service.shapes.size).toBe(many)
  expect(world.clock.monotonic() - started).toBeGreaterThan(10_000)
  await world.advance(20_000)
  await first.stop()
  const [calls, second] = [world.service.calls.length, world.start({ declaration: { concurrency: 10 } })]
  await world.advance(60_000)
  expect(second.steps.filter((step) => !step.endsWith('observe'))).toEqual([])
  expect(world.service.calls.length - calls).toBe(many)
  // The next looks do not come together.
  const perSecond: number[] = []
  for (let seconds = 0; seconds < 30; seconds++) {
    const before = world.service.calls.length
    await world.advance(10_000)
    perSecond.push(world.service.calls.length - before)
  }
  await world.advance(400_000)
  expect(Math.max(...perSecond)).toBeLessThan(many / 2)
})

test('B33 a watch that drops events: the next sweep repairs, and a metric counts the miss', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, driver: { watch: true }, isStarted: false })
  const process = world.start()
  await world.create()
  await world.synced()
  world.service.isSilent = true
  world.service.put('shape-1', { color: 'green', size: 1, labels: world.service.shapes.get('shape-1')?.labels })
  await world.advance(70_000)
  expect(world.service.shapes.get('shape-1')?.color).toBe('red')
  expect(process.metrics.render()).toContain('evenkeel_external_missed_events_total{system="shapes"} 1')
})

test('G7 a system that hangs holds up nobody else', async () => {
  const Other = defineKind({
    group: Shape.group,
    version: 'v1',
    kind: 'Other',
    spec: { type: 'object', properties: { color: { type: 'string' } } } as const,
  })
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false, kinds: [Other] })
  const hanging = {
    ...shapesDriver(world.service, { capabilities: capabilitySets.S2 }),
    observe: () => new Promise<never>(() => undefined),
    create: () => new Promise<never>(() => undefined),
  }
  const seen: string[] = []
  const stopping = new AbortController()
  const manager = new Manager({
    name: 'both',
    transport: world.plane.plane.transport,
    clock: world.clock,
    leaderElection: false,
    watchdog: false,
    log: world.log,
    controllers: [
      {
        for: Shape,
        verbs: [external(hanging, { instance: 'here', callTimeoutMs: 5000 })],
      } as unknown as ControllerDeclaration,
      {
        for: Other,
        reconcile: (object) => {
          seen.push(object.metadata.name)
        },
      } as ControllerDeclaration<typeof Other> as unknown as ControllerDeclaration,
    ],
  })
  const running = manager.run(stopping.signal)
  await world.create()
  await world.advance(1000)
  await world.client.create(Other, {
    apiVersion: Other.apiVersion,
    kind: 'Other',
    metadata: { name: 'o', namespace: 'default' },
    spec: {},
  })
  await world.until(() => seen.length > 0, 100)
  await world.until(async () => (await world.condition('Synced')) === 'False CreateFailed', 20_000)
  stopping.abort(new Error('over'))
  for (let turn = 0; turn < 100; turn++) await world.advance(100)
  await running
})

test("a reconcile of one's own runs when the shape is in sync, and sees it", async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false })
  const verb = external(
    shapesDriver(world.service, {
      capabilities: capabilitySets.S2,
      ready: ({ size }) => ({ ready: size > 1, reason: 'TooSmall', message: 'it must grow' }),
    }),
    { instance: 'here', manual: true },
  )
  const seen: unknown[] = []
  world.start({
    declaration: {
      verbs: [verb],
      reconcile: async (_: unknown, context: ReconcileContext) => {
        seen.push(await verb.sync(context))
      },
    },
  })
  world.service.failNext('create', { error: new ExternalError('not now', { status: 403 }) })
  await world.create()
  await world.synced()
  expect(seen).toContainEqual({ id: 'shape-1', observed: { color: 'red', size: 1 }, isReady: false })
  expect(await world.condition('Ready')).toBe('False TooSmall')
})

test('external refuses what cannot be meant', () => {
  const driver = shapesDriver(undefined as never, { capabilities: capabilitySets.S2 })
  const made =
    (change: object, options: object = {}) =>
    () =>
      external({ ...driver, ...change }, { instance: 'here', ...options })
  expect(made({ capabilities: { idempotent: 'byName' } })).toThrow(
    "driver shapes: idempotent: 'byName' needs ids: 'deterministic'",
  )
  expect(made({ identify: () => 'x' })).toThrow('identify chooses names, but the system assigns ids')
  expect(made({ setLabels: undefined, capabilities: { labels: 'afterCreate' } })).toThrow(
    'needs the function setLabels',
  )
  expect(made({ name: 'Shapes!' })).toThrow('name must be at most')
  expect(made({}, { instance: '' })).toThrow('instance must be')
  expect(made({}, { use: 'exclusive' })).toThrow("use: 'exclusive' needs a scope")
  expect(made({}, { policy: { drift: 'perhaps' } })).toThrow('drift must be one of')
  expect(() =>
    external({ ...driver, list: undefined as never }, { instance: 'here', use: 'exclusive', scope: 'x' }).adds?.({
      for: Shape,
    } as never),
  ).toThrow("use: 'exclusive' needs the function list")
})
