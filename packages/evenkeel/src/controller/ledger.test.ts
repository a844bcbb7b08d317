import { describe, expect, test } from 'vitest'
import { setControllerReference } from '#api'
import type { AbortOptions } from '#base'
import type { WriteNotice } from '#client'
import { Ledger } from './ledger.ts'
import { changedPaths } from './run-record.ts'
import { ConfigMap, Gadget, Widget, World } from './world.fixture.ts'

const widgetKey = 'default/test.dev/Widget/a/one'

function begin(ledger: Ledger, reconcileId: string, { signal }: AbortOptions = {}): ReturnType<Ledger['begin']> {
  return ledger.begin({
    reconcileId,
    controller: 'c',
    key: 'k',
    startedMs: 0,
    attempt: 0,
    priority: 0,
    causes: [],
    causesLeftOut: 0,
    rounds: 0,
    signal: signal ?? new AbortController().signal,
  })
}

/** A write of run `r`, and the object in its response. */
function write(
  ledger: Ledger,
  verb: WriteNotice['verb'],
  { name, version, before }: { name: string; version?: string; before?: string },
): void {
  const notice: WriteNotice = { verb, apiVersion: 'v1', kind: 'X', name, dryRun: false, reconcileId: 'r' }
  ledger.beforeWrite(notice, before)
  ledger.afterWrite(
    notice,
    version === undefined ? undefined : { apiVersion: 'v1', kind: 'X', metadata: { name, resourceVersion: version } },
  )
}

function deleterOf(ledger: Ledger, name: string): string | undefined {
  return ledger.explain([{ type: 'delete', source: 's', object: `default//X//${name}` }])[0]?.writer?.reconcileId
}

describe('Ledger', () => {
  test('follows a cause from controller to controller', async () => {
    const world = new World()
    await world.start(
      {
        for: Widget,
        owns: [Gadget],
        reconcile: async (widget, { client, status }) => {
          const child = await client.find(Gadget, widget.metadata)
          if (!child)
            await client.create(
              setControllerReference(widget, {
                apiVersion: Gadget.apiVersion,
                kind: 'Gadget',
                metadata: { name: widget.metadata.name, namespace: 'a' },
                spec: {},
              }),
            )
          status.set({ phase: child?.status?.phase ?? 'Waiting' })
        },
      },
      {
        for: Gadget,
        reconcile: (_, { status }) => {
          status.set({ phase: 'Ready' })
        },
      },
    )
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(1000)
    expect(world.api.find(Widget, 'one')?.status).toMatchObject({ phase: 'Ready' })
    const runs = world.ledger.entries().reverse()
    const [first] = runs
    expect(first).toMatchObject({
      controller: 'widget',
      key: widgetKey,
      causes: [{ type: 'add', source: 'for Widget', object: widgetKey, resourceVersion: '11' }],
      rounds: 0,
      end: { result: 'success' },
    })
    expect(first?.causes[0]?.writer).toBeUndefined()
    expect(first?.writes).toMatchObject([
      { verb: 'create', object: 'default/test.dev/Gadget/a/one', uid: 'uid-2', resourceVersion: '12' },
      { verb: 'patch', subresource: 'status', object: widgetKey },
    ])
    const gadget = runs.find(({ controller }) => controller === 'gadget')
    expect(gadget?.causes[0]?.writer).toEqual({ reconcileId: first?.reconcileId, controller: 'widget', key: widgetKey })
    const because = runs.find(
      ({ controller, causes }) =>
        controller === 'widget' && causes.some(({ writer }) => writer?.controller === 'gadget'),
    )
    expect(because?.causes.find(({ writer }) => writer?.controller === 'gadget')).toMatchObject({
      source: 'owns Gadget',
      writer: { reconcileId: gadget?.reconcileId },
    })
    expect(world.ledger.entries({ controller: 'gadget', limit: 1 })).toHaveLength(1)
    expect(JSON.parse(JSON.stringify(world.ledger.entries({ key: widgetKey })))).toEqual(
      world.ledger.entries({ key: widgetKey }),
    )
    await world.stop()
  })

  test('a write that changed nothing does not take the version of somebody else for ours', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      reconcile: async (widget, { client }) => {
        await client.patch(widget, { metadata: { labels: { a: 'b' } } })
      },
    })
    world.api.put(Widget, 'one', { metadata: { labels: { a: 'b' } }, spec: {} })
    await world.clock.advance(0)
    expect(world.ledger.entries()[0]?.writes).toMatchObject([{ verb: 'patch', isNoop: true }])
    expect(
      world.ledger.explain([{ type: 'update', source: 'x', object: widgetKey, resourceVersion: '11' }])[0]?.writer,
    ).toBeUndefined()
    await world.stop()
  })

  test('knows who deleted an object', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      owns: [Gadget],
      reconcile: async (widget, { client }) => {
        const child = await client.find(Gadget, widget.metadata)
        if (child) await client.delete(child)
      },
    })
    const owner = world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    world.api.put(Gadget, 'one', {
      metadata: {
        ownerReferences: [
          { apiVersion: owner.apiVersion, kind: 'Widget', name: 'one', uid: owner.metadata.uid, controller: true },
        ],
      },
      spec: {},
    })
    await world.clock.advance(0)
    const [last] = world.ledger.entries()
    expect(last?.causes).toMatchObject([{ type: 'delete', writer: { controller: 'widget' } }])
    await world.stop()
  })

  test('remembers so many runs and versions and no more; what goes on is not forgotten', () => {
    const ledger = new Ledger({ runsMax: 2, versionsMax: 2 })
    begin(ledger, 'long')
    for (let index = 0; index < 5; index++) {
      const write = {
        verb: 'update' as const,
        apiVersion: 'v1',
        kind: 'X',
        name: 'x',
        dryRun: false,
        reconcileId: `r${index}`,
      }
      const record = begin(ledger, `r${index}`)
      ledger.beforeWrite(write, undefined)
      ledger.afterWrite(write, {
        apiVersion: 'v1',
        kind: 'X',
        metadata: { name: 'x', resourceVersion: String(index + 1) },
      })
      ledger.finish(record, { durationMs: 1, result: 'success' })
    }
    expect(ledger.entries().map(({ reconcileId }) => reconcileId)).toEqual(['r4', 'r3', 'long'])
    const writers = ['3', '4', '5'].map(
      (resourceVersion) =>
        ledger.explain([{ type: 'update', source: 's', object: 'default//X//x', resourceVersion }])[0]?.writer
          ?.reconcileId,
    )
    expect(writers).toEqual([undefined, 'r3', 'r4'])
  })

  test('remembers the newest 256 writes without an answer, each with the version that the cache had', () => {
    const ledger = new Ledger()
    const record = begin(ledger, 'r')
    for (let index = 0; index < 257; index++)
      ledger.beforeWrite(
        { verb: 'update', apiVersion: 'v1', kind: 'X', name: `x${index}`, dryRun: false, reconcileId: 'r' },
        String(index),
      )
    expect(['x0', 'x1', 'x256'].map((name) => record.lastRefused(name)?.version)).toEqual([undefined, '1', '256'])
    expect(record.lastRefused(undefined)?.write.name).toBe('x256')
  })

  test('remembers 1000 runs by default, and a stream holds 1000 runs that were not read', () => {
    const ledger = new Ledger()
    const [full, over] = [ledger.stream(), ledger.stream()]
    const finish = (reconcileId: string): void => {
      ledger.finish(begin(ledger, reconcileId), { durationMs: 1, result: 'success' })
    }
    for (let index = 0; index < 1000; index++) finish(`r${index}`)
    expect(ledger.find('r0')).toBeDefined()
    expect(full.open).toBe(true)
    void full.return()
    finish('last')
    expect([ledger.entries().length, ledger.find('r0'), over.reason]).toEqual([1000, undefined, 'overflow'])
  })

  test.each([
    [{ runsMax: 0 }, 'runsMax must be a whole number of 1 or more, got 0'],
    [{ runsMax: 1.5 }, 'runsMax must be a whole number of 1 or more, got 1.5'],
    [{ versionsMax: 0 }, 'versionsMax must be a whole number of 1 or more, got 0'],
    [{ versionsMax: 1.5 }, 'versionsMax must be a whole number of 1 or more, got 1.5'],
  ])('refuses %j', (options, message) => {
    expect(() => new Ledger(options)).toThrow(message)
    expect(() => new Ledger({ runsMax: 1, versionsMax: 1 })).not.toThrow()
  })

  test('counts the writes of a run beyond the first 256', () => {
    const ledger = new Ledger()
    begin(ledger, 'r')
    expect(ledger.entries()[0]).toMatchObject({ writes: [], writesLeftOut: 0 })
    for (let index = 0; index < 258; index++) write(ledger, 'create', { name: `x${index}`, version: String(index) })
    const [entry] = ledger.entries()
    expect([entry?.writes.length, entry?.writesLeftOut]).toEqual([256, 2])
  })

  test('a write is without effect only if the response has the version that the cache had; a delete always has one', () => {
    const ledger = new Ledger()
    begin(ledger, 'r')
    write(ledger, 'update', { name: 'a', version: '5', before: '5' })
    write(ledger, 'update', { name: 'b', version: '6', before: '5' })
    write(ledger, 'delete', { name: 'c', version: '5', before: '5' })
    write(ledger, 'deleteAllOf', { name: 'd' })
    expect(ledger.entries()[0]?.writes).toEqual([
      { verb: 'update', object: 'default//X//a', resourceVersion: '5', isNoop: true },
      { verb: 'update', object: 'default//X//b', resourceVersion: '6' },
      { verb: 'delete', object: 'default//X//c', resourceVersion: '5' },
      { verb: 'deleteAllOf', object: 'default//X//d' },
    ])
  })

  test('an object that was deleted and created again by a run has no known deleter', () => {
    const ledger = new Ledger()
    begin(ledger, 'r')
    write(ledger, 'delete', { name: 'a' })
    write(ledger, 'delete', { name: 'b' })
    write(ledger, 'update', { name: 'b', version: '7' })
    write(ledger, 'create', { name: 'a', version: '8' })
    expect([deleterOf(ledger, 'a'), deleterOf(ledger, 'b')]).toEqual([undefined, 'r'])
  })

  test('forgets the version whose write was noted longest ago', () => {
    const ledger = new Ledger({ versionsMax: 2 })
    begin(ledger, 'r')
    for (const name of ['x', 'y', 'x', 'z']) write(ledger, 'delete', { name })
    expect(['x', 'y', 'z'].map((name) => deleterOf(ledger, name))).toEqual(['r', undefined, 'r'])
  })

  test('remembers 10 000 versions by default', () => {
    const ledger = new Ledger()
    begin(ledger, 'r')
    for (let index = 0; index <= 10_000; index++) write(ledger, 'delete', { name: `x${index}` })
    expect([deleterOf(ledger, 'x0'), deleterOf(ledger, 'x1')]).toEqual([undefined, 'r'])
  })

  test('a response that arrives after the end of its run is compared with the version at its start', () => {
    const ledger = new Ledger()
    const record = begin(ledger, 'r')
    const notice: WriteNotice = {
      verb: 'update',
      apiVersion: 'v1',
      kind: 'X',
      name: 'x',
      dryRun: false,
      reconcileId: 'r',
    }
    ledger.beforeWrite(notice, '5')
    ledger.finish(record, { durationMs: 1, result: 'success' })
    ledger.afterWrite(notice, { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', resourceVersion: '5' } })
    expect(ledger.entries()[0]?.writes).toMatchObject([{ isNoop: true }])
  })

  test('a stream that was closed costs nothing: no entry is made for it', async () => {
    const ledger = new Ledger()
    const reader = ledger.stream()
    const record = begin(ledger, 'r')
    let made = 0
    Object.assign(record, { toJSON: () => made++ })
    await reader.return()
    ledger.finish(record, { durationMs: 1, result: 'success' })
    expect(made).toBe(0)
  })

  test('the end of a run names when it runs again, or what it waits for', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      reconcile: ({ metadata: { name } }) =>
        name === 'later' ? { afterMs: 1000 } : name === 'parked' ? { park: 'a licence' } : undefined,
    })
    for (const name of ['done', 'later', 'parked']) world.api.put(Widget, name, { spec: {} })
    await world.clock.advance(0)
    expect(
      world.ledger
        .entries()
        .map(({ end }) => end)
        .reverse(),
    ).toEqual([
      { durationMs: 0, result: 'success' },
      { durationMs: 0, result: 'requeue_after', afterMs: 1000 },
      { durationMs: 0, result: 'success', waitingFor: 'a licence' },
    ])
    await world.stop()
  })

  test('refuses late writes of a run that was aborted, not those of a run that ended by itself', () => {
    const ledger = new Ledger()
    const aborting = new AbortController()
    const record = begin(ledger, 'r', aborting)
    aborting.abort(new Error('too late'))
    ledger.finish(record, { durationMs: 1, result: 'aborted' })
    expect(() => {
      write(ledger, 'update', { name: 'a', version: '1' })
    }).toThrow('too late')
    const [other, later] = [new Ledger(), new AbortController()]
    other.finish(begin(other, 'r', later), { durationMs: 1, result: 'success' })
    later.abort(new Error('too late'))
    write(other, 'update', { name: 'a', version: '1' })
    expect(other.entries()[0]?.writes).toHaveLength(1)
  })

  test('streams runs as they end; who does not read loses the stream alone', async () => {
    const world = new World()
    await world.start({ for: Widget, reconcile: () => undefined })
    const [reader, sleeper] = [world.ledger.stream(), world.ledger.stream({ backlogMax: 1 })]
    for (const name of ['one', 'two', 'three']) world.api.put(Widget, name, { spec: {} })
    await world.clock.advance(0)
    const names: string[] = []
    for (let index = 0; index < 3; index++) names.push((await reader.next()).value === undefined ? '' : 'run')
    expect(names).toEqual(['run', 'run', 'run'])
    expect(sleeper.reason).toBe('overflow')
    await reader.return()
    expect(reader.open).toBe(false)
    await world.stop()
  })
})

describe('hot loops', () => {
  test('a status with a timestamp is found, its field named, and each round waits longer; a foreign cause runs at once', async () => {
    const world = new World()
    const at: number[] = []
    await world.start({
      for: Widget,
      reconcile: (_, { status, clock }) => {
        at.push(clock.monotonic())
        status.set({ phase: 'Ready', seen: at.length })
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(at).toHaveLength(10)
    await world.clock.advance(1600)
    expect(at.slice(10)).toEqual([100, 300, 700, 1500])
    const warnings = world.lines.filter(({ message }) => message.startsWith('reconcile triggers itself'))
    expect(warnings[0]).toMatchObject({
      level: 'warn',
      fields: { kind: 'Widget', object: 'a/one', rounds: 10, fields: ['status.seen'], delayMs: 100 },
    })
    expect(world.metric('evenkeel_controller_hot_loops_total{controller="widget"}')).toBe(5)
    const before = at.length
    world.api.put(Widget, 'one', { spec: { size: 1 } })
    await world.clock.advance(0)
    // The loop begins again: nine rounds without a wait.
    expect(at.slice(before)).toEqual(Array.from({ length: 10 }, () => 1600))
    await world.stop()
  })

  test('two controllers that want different things are found as well', async () => {
    const world = new World()
    let runs = 0
    const want = (name: string, colour: string): object => ({
      name,
      for: ConfigMap,
      reconcile: async (
        map: { metadata: { name: string; namespace: string }; data?: Record<string, string> },
        { client }: { client: { patch(object: unknown, patch: object): Promise<unknown> } },
      ) => {
        runs++
        if (map.data?.['colour'] !== colour) await client.patch(map, { data: { colour } })
      },
    })
    await world.start(want('red', 'red') as never, want('blue', 'blue') as never)
    world.api.put(ConfigMap, 'one')
    await world.clock.advance(60_000)
    expect(runs).toBeLessThan(80)
    const warning = world.lines.find(({ message }) => message.startsWith('reconcile triggers itself'))
    expect(warning?.fields['fields']).toEqual(['data.colour'])
    await world.stop()
  })

  test('a chain that ends by itself is left alone, also when it is long and comes often', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      reconcile: ({ status: before }, { status }) => {
        status.set({ seen: Math.min(5, (before?.seen ?? 0) + 1) })
      },
    })
    for (let round = 0; round < 20; round++) {
      world.api.put(Widget, 'one', { spec: { size: round }, status: { seen: 0 } })
      await world.clock.advance(0)
      expect(world.api.find(Widget, 'one')?.status).toMatchObject({ seen: 5 })
    }
    expect(world.complaints).toEqual([])
    await world.stop()
  })

  test('a failed run whose status differs each time keeps to its back-off', async () => {
    const world = new World()
    const at: number[] = []
    await world.start({
      for: Widget,
      backoff: { baseMs: 100, jitter: 0 },
      reconcile: (_, { status, clock }) => {
        at.push(clock.monotonic())
        status.set({ seen: at.length })
        throw new Error('no')
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(800)
    expect(at).toEqual([0, 100, 300, 700])
    world.api.put(Widget, 'one', { spec: { size: 1 } })
    await world.clock.advance(0)
    expect(at.at(-1)).toBe(800)
    await world.stop()
  })
})

test('changedPaths names what differs, not what every write changes; keys may have any name', () => {
  const before = {
    metadata: { resourceVersion: '1', generation: 1, labels: { 'a/b': 'x' } },
    spec: { list: [{ image: 'a' }, 2], gone: 1, same: [1] },
  }
  const after = {
    metadata: { resourceVersion: '2', generation: 2, labels: { 'a/b': 'y' } },
    spec: { list: [{ image: 'b' }, 2], same: [1], new: {} },
  }
  expect(changedPaths(before, after)).toEqual(['metadata.labels["a/b"]', 'spec.list[0].image', 'spec.gone', 'spec.new'])
  expect(changedPaths({ a: [1] }, { a: [1, 2] })).toEqual(['a'])
  expect(changedPaths({ a: [1] }, { a: 'x' })).toEqual(['a'])
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]))
  expect(changedPaths(many, {})).toHaveLength(16)
  expect(
    changedPaths(JSON.parse('{"__proto__":1,"constructor":1}'), JSON.parse('{"__proto__":2,"constructor":1}')),
  ).toEqual(['__proto__'])
  expect(
    changedPaths(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 1])), {}, { pathsMax: 3 }),
  ).toEqual(['k0', 'k1', 'k2'])
})
