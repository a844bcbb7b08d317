import { describe, expect, test } from 'vitest'
import { declareKind, defineKind } from '#api'
import type { Logger } from '#base'
import { DroppedFields } from './status.ts'
import { ConfigMap, Gadget, Widget, World } from './world.fixture.ts'

describe('status', () => {
  test('is written once at the end, with observedGeneration and conditions', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      reconcile: (widget, { status }) => {
        status.set({ phase: 'Going' })
        status.set({ phase: 'Ready' })
        status.condition('Ready', widget.spec.size === 1, { message: 'all there' })
        status.condition('Synced', undefined)
        expect(world.api.writes.filter((write) => write.includes('/status'))).toHaveLength(0)
      },
    })
    world.api.put(Widget, 'one', { spec: { size: 1 } })
    await world.clock.advance(5000)
    expect(world.api.writes).toEqual(['patch Widget/status a/one'])
    expect(world.api.find(Widget, 'one')?.status).toEqual({
      phase: 'Ready',
      observedGeneration: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: 'all there',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
        {
          type: 'Synced',
          status: 'Unknown',
          reason: 'Unknown',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    })
    await world.stop()
  })

  test('59 a second run on unchanged state writes nothing', async () => {
    const world = new World()
    let runs = 0
    const controller = await world.start({
      for: Widget,
      cleanup: () => undefined,
      owns: [Gadget],
      reconcile: async (widget, { status, client }) => {
        runs++
        status.set({ phase: 'Ready' })
        status.condition('Ready', true)
        if (!(await client.find(Gadget, widget.metadata)))
          await client.create(
            Gadget,
            { metadata: { name: widget.metadata.name, namespace: 'a' }, spec: {} },
            { owner: widget },
          )
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(1000)
    expect(world.api.writes).toEqual(['patch Widget a/one', 'create Gadget a/', 'patch Widget/status a/one'])
    const before = runs
    expect(controller.reconcileAll({ note: 'look again' })).toBe(1)
    await world.clock.advance(60_000)
    expect(runs).toBe(before + 1)
    expect(world.api.writes).toHaveLength(3)
    await world.stop()
  })

  test('the moment of a transition moves with the status of the condition only', async () => {
    const world = new World()
    let holds = true
    let message = 'a'
    const controller = await world.start({
      for: Widget,
      reconcile: (_, { status }) => {
        status.condition('Ready', holds, { reason: 'Because', message })
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(10_000)
    const time = (): unknown =>
      (world.api.find(Widget, 'one')?.status?.['conditions'] as { lastTransitionTime: string }[])[0]?.lastTransitionTime
    expect(time()).toBe('2026-01-01T00:00:00Z')
    message = 'b'
    controller.reconcileAll()
    await world.clock.advance(10_000)
    expect(time()).toBe('2026-01-01T00:00:00Z')
    holds = false
    controller.reconcileAll()
    await world.clock.advance(0)
    expect(time()).toBe('2026-01-01T00:00:20Z')
    await world.stop()
  })

  test('is written when the run fails, as that is when people look; undefined takes a field away', async () => {
    const world = new World()
    let isBroken = true
    await world.start({
      for: Widget,
      backoff: { baseMs: 1000 },
      reconcile: (_, { status }) => {
        status.set({ phase: isBroken ? 'Broken' : undefined } as { phase: string })
        status.condition('Ready', !isBroken)
        if (isBroken) throw new Error('no')
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(world.api.find(Widget, 'one')?.status).toMatchObject({
      phase: 'Broken',
      conditions: [{ status: 'False', reason: 'NotReady' }],
    })
    isBroken = false
    await world.clock.advance(5000)
    expect(world.api.find(Widget, 'one')?.status).not.toHaveProperty('phase')
    await world.stop()
  })

  test('conditions of others stay, and a change of theirs that we have not seen makes a quiet conflict', async () => {
    const world = new World()
    const foreign = {
      type: 'Foreign',
      status: 'True',
      reason: 'Theirs',
      message: '',
      lastTransitionTime: '2025-01-01T00:00:00Z',
    }
    let runs = 0
    await world.start({
      for: Widget,
      reconcile: (_, { status }) => {
        if (++runs === 1) {
          world.api.hold()
          world.api.put(Widget, 'one', { status: { conditions: [foreign] } })
        }
        status.condition('Ready', true)
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(100)
    world.api.release()
    await world.clock.advance(100)
    expect(world.api.find(Widget, 'one')?.status).toMatchObject({ conditions: [foreign, { type: 'Ready' }] })
    expect(world.complaints).toEqual([])
    await world.stop()
  })

  test('a run that wrote its own object writes the status on top of that, without a conflict', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      reconcile: async (widget, { status, client }) => {
        world.api.hold()
        if (!widget.metadata.annotations) await client.patch(widget, { metadata: { annotations: { seen: 'yes' } } })
        status.set({ phase: 'Ready' })
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(world.api.writes).toEqual(['patch Widget a/one', 'patch Widget/status a/one'])
    expect(world.api.find(Widget, 'one')).toMatchObject({
      status: { phase: 'Ready' },
      metadata: { annotations: { seen: 'yes' } },
    })
    expect(world.metric('evenkeel_controller_conflicts_total{controller="widget"}')).toBe(0)
    await world.stop()
  })

  test('a kind without a status says so when one is set', async () => {
    const world = new World()
    await world.start({
      for: ConfigMap,
      reconcile: (_, { status }) => {
        status.condition('Ready', true)
      },
    })
    world.api.put(ConfigMap, 'one')
    await world.clock.advance(0)
    expect(world.lines.find(({ level }) => level === 'error')?.fields['error']).toMatchObject({
      message: 'ConfigMap has no status: add a status schema to its kind, or do not set its status',
    })
    await world.stop()
  })

  test('a field that the server does not keep is said once and not sent for ever', async () => {
    const Strict = defineKind({
      group: 'test.dev',
      version: 'v1',
      kind: 'Strict',
      spec: { type: 'object' },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    })
    const world = new World({ kinds: [Strict] })
    // A server with that schema would prune it.
    world.api.after = ({ subresource, name }) => {
      if (subresource === 'status') world.api.put(Strict, name, { status: { conditions: null } })
    }
    world.api.before = ({ subresource, body }) => {
      if (subresource === 'status') delete (body['status'] as Record<string, unknown>)['conditions']
      return undefined
    }
    const controller = await world.start({
      for: Strict,
      reconcile: (_, { status }) => {
        status.set({ phase: 'Ready' })
        status.condition('Ready', true)
      },
    })
    world.api.put(Strict, 'one', { spec: {} })
    await world.clock.advance(1000)
    controller.reconcileAll()
    await world.clock.advance(1000)
    expect(world.api.writes).toEqual(['patch Strict/status a/one'])
    expect(world.api.find(Strict, 'one')?.status).toEqual({ phase: 'Ready', observedGeneration: 1 })
    expect(world.complaints).toEqual(['warn: the server pruned a status field: add it to the schema of the kind'])
    await world.stop()
  })
})

test('DroppedFields learns the fields that the server pruned, not those that were removed or empty, and warns once', () => {
  const warned: unknown[] = []
  const log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_, fields) => void warned.push(fields),
    error: () => undefined,
    child: () => log,
  }
  const dropped = new DroppedFields({ kind: 'Widget' }, { log })
  for (let round = 0; round < 2; round++)
    dropped.learn(
      { removed: null, list: [], map: {}, kept: 1, pruned: 2, full: [1], observedGeneration: 3 },
      { kept: 1 },
    )
  expect([...dropped.names]).toEqual(['pruned', 'full', 'observedGeneration'])
  expect(warned).toEqual([
    { kind: 'Widget', field: 'status.pruned' },
    { kind: 'Widget', field: 'status.full' },
  ])
})

test('DroppedFields knows from the schema whether there is a place for observedGeneration', () => {
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    child: () => log,
  }
  const dropped = (status: object | undefined): string[] => [
    ...new DroppedFields(
      declareKind({
        group: 'a.b',
        version: 'v1',
        kind: 'X',
        schema: { type: 'object', properties: status ? ({ status } as never) : {} },
      }),
      { log },
    ).names,
  ]
  expect(dropped({ type: 'object', properties: { phase: {} } })).toEqual(['observedGeneration'])
  expect(dropped({ type: 'object', properties: { observedGeneration: {} } })).toEqual([])
  expect(dropped({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: {} })).toEqual([])
  expect(dropped({ type: 'object' })).toEqual([])
  expect(dropped(undefined)).toEqual([])
})
