import { describe, expect, test } from 'vitest'
import type { OwnerReference } from '#api'
import { deferred, placeOf } from '#base'
import { watching } from './declaration.ts'
import type { Loose } from './fake-api.fixture.ts'
import { enqueueOwner, ownerIndex } from './handlers.ts'
import { ConfigMap, Gadget, Realm, Widget, World } from './world.fixture.ts'

function reference({ apiVersion, kind, metadata }: Loose, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true, ...more }
}

/** A controller for widgets that writes down which were reconciled because of a gadget. */
async function owning(world: World, { everyOwner = false } = {}): Promise<string[]> {
  const seen: string[] = []
  await world.start({
    for: Widget,
    owns: [{ kind: Gadget, everyOwner }],
    reconcile: ({ metadata: { name } }, { causes }) => {
      if (causes.some(({ source }) => source === 'owns Gadget')) seen.push(name)
    },
  })
  return seen
}

describe('enqueueOwner', () => {
  test('45 a child that moves from one owner to another matters to both', async () => {
    const world = new World()
    const [a, b] = [world.api.put(Widget, 'a', { spec: {} }), world.api.put(Widget, 'b', { spec: {} })]
    const seen = await owning(world)
    world.api.put(Gadget, 'child', { metadata: { ownerReferences: [reference(a)] } })
    await world.clock.advance(0)
    expect(seen.splice(0)).toEqual(['a'])
    world.api.put(Gadget, 'child', { metadata: { ownerReferences: [reference(b)] } })
    await world.clock.advance(0)
    expect(seen.sort()).toEqual(['a', 'b'])
    await world.stop()
  })

  test.each([
    [false, ['b']],
    [true, ['a', 'b']],
  ])('46 of two owners the controller alone; with everyOwner %s: %s', async (everyOwner, expected) => {
    const world = new World()
    const [a, b] = [world.api.put(Widget, 'a', { spec: {} }), world.api.put(Widget, 'b', { spec: {} })]
    const seen = await owning(world, { everyOwner })
    world.api.put(Gadget, 'child', {
      metadata: { ownerReferences: [reference(a, { controller: false }), reference(b)] },
    })
    await world.clock.advance(0)
    expect(seen.sort()).toEqual(expected)
    await world.stop()
  })

  test('47 by group and kind: another version matters, another group does not', async () => {
    const world = new World()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => world.api.put(Widget, name, { spec: {} })) as [Loose, Loose, Loose]
    const seen = await owning(world)
    world.api.put(Gadget, 'one', { metadata: { ownerReferences: [reference(a, { apiVersion: 'test.dev/v2' })] } })
    world.api.put(Gadget, 'two', { metadata: { ownerReferences: [reference(b, { apiVersion: 'other.dev/v1' })] } })
    world.api.put(Gadget, 'three', { metadata: { ownerReferences: [reference(c, { apiVersion: 'a/b/c' })] } })
    await world.clock.advance(0)
    expect(seen).toEqual(['a'])
    expect(world.complaints).toEqual([])
    await world.stop()
  })

  test('an owned kind without options is about the controller alone', async () => {
    const world = new World()
    const [a, b] = [world.api.put(Widget, 'a', { spec: {} }), world.api.put(Widget, 'b', { spec: {} })]
    const seen: string[] = []
    await world.start({
      for: Widget,
      owns: [Gadget],
      reconcile: ({ metadata: { name } }, { causes }) => {
        if (causes.some(({ source }) => source === 'owns Gadget')) seen.push(name)
      },
    })
    world.api.put(Gadget, 'child', {
      metadata: { ownerReferences: [reference(a, { controller: false }), reference(b)] },
    })
    await world.clock.advance(0)
    expect(seen).toEqual(['b'])
    await world.stop()
  })

  test('48 an owner without namespace is asked for without one', async () => {
    const world = new World()
    const realm = world.api.put(Realm, 'r', { spec: {} })
    const seen: unknown[] = []
    await world.start({
      for: Realm,
      owns: [Gadget],
      reconcileKey: (key) => {
        seen.push(key)
      },
    })
    seen.length = 0
    world.api.put(Gadget, 'child', { metadata: { ownerReferences: [reference(realm)] } })
    await world.clock.advance(0)
    expect(seen).toEqual([{ cluster: 'default', group: 'test.dev', kind: 'Realm', name: 'r' }])
    await world.stop()
  })

  test('49 an owner that was deleted and made again does not silently get the child: it is said and counted', async () => {
    const world = new World()
    const old = world.api.put(Widget, 'a', { spec: {} })
    world.api.remove(Widget, 'a')
    world.api.put(Widget, 'a', { spec: {} })
    const seen = await owning(world)
    world.api.put(Gadget, 'child', { metadata: { ownerReferences: [reference(old)] } })
    await world.clock.advance(0)
    expect(seen).toEqual([])
    expect(world.complaints).toEqual(['warn: owner was deleted and created again; the object is not adopted'])
    expect(world.metric('evenkeel_controller_stale_owners_total{controller="widget"}')).toBe(1)
    world.api.remove(Gadget, 'child')
    await world.clock.advance(0)
    expect(seen).toEqual(['a'])
    await world.stop()
  })
})

describe('enqueueMapped', () => {
  test('50 keys that come twice, or from the old and the new state, are asked for once per event', async () => {
    const world = new World()
    const seen: string[] = []
    await world.start({
      for: Widget,
      watches: [
        {
          kind: ConfigMap,
          map: () => [
            { name: 'x', namespace: 'a' },
            { name: 'x', namespace: 'a' },
            { name: 'y', namespace: 'a' },
          ],
        },
      ],
      reconcileKey: ({ name }, { causes }) => {
        seen.push(`${name} ${causes.length}`)
      },
    })
    world.api.put(ConfigMap, 'm', { data: { a: '1' } })
    await world.clock.advance(0)
    world.api.put(ConfigMap, 'm', { data: { a: '2' } })
    await world.clock.advance(0)
    expect(seen).toEqual(['x 1', 'y 1', 'x 1', 'y 1'])
    await world.stop()
  })

  test('51 a function that throws is logged and counted, and the next event is passed on', async () => {
    const world = new World()
    const seen: string[] = []
    await world.start({
      for: Widget,
      reconcileKey: ({ name }) => {
        seen.push(name)
      },
      watches: [
        {
          kind: ConfigMap,
          map: ({ metadata: { name } }) => {
            if (name === 'bad') throw new Error('no')
            return [{ name: `from-${name}`, namespace: 'a' }]
          },
        },
      ],
    })
    world.api.put(ConfigMap, 'bad')
    world.api.put(ConfigMap, 'good')
    await world.clock.advance(0)
    expect(seen).toEqual(['from-good'])
    expect(world.complaints).toEqual(['error: event handler failed; retrying the event'])
    expect(world.metric('evenkeel_controller_map_errors_total{controller="widget"}')).toBe(1)
    await world.stop()
  })

  test('51 a function that waits for 10 s holds up neither the store nor other handlers', async () => {
    const world = new World()
    const seen: string[] = []
    await world.start({
      for: Widget,
      owns: [Gadget],
      reconcileKey: ({ name }) => {
        seen.push(name)
      },
      watches: [
        {
          kind: ConfigMap,
          map: async (object, { signal }) => {
            const slept = deferred<void>()
            world.clock.after(10_000, slept.resolve)
            await slept.promise
            expect(signal.aborted).toBe(false)
            return [{ name: `slow-${object.metadata.name}`, namespace: 'a' }]
          },
        },
        { kind: ConfigMap, map: ({ metadata: { name } }) => [{ name: `fast-${name}`, namespace: 'a' }] },
      ],
    })
    world.api.put(ConfigMap, 'm')
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(seen).toEqual(['fast-m', 'one'])
    expect(world.cache.find(ConfigMap, { name: 'm', namespace: 'a' })).toBeDefined()
    await world.clock.advance(10_000)
    expect(seen).toEqual(['fast-m', 'one', 'slow-m'])
    await world.stop()
    expect(world.clock.pending).toBe(0)
  })

  test('51 an event whose function failed is tried again, merged with what came later, and given up in the end', async () => {
    const world = new World()
    const seen: string[] = []
    let isBroken = true
    await world.start({
      for: Widget,
      reconcileKey: ({ name }) => {
        seen.push(name)
      },
      watches: [
        watching(ConfigMap, {
          map: ({ data }) => {
            if (isBroken) throw new Error('no')
            return [{ name: data?.['for'] ?? '', namespace: 'a' }]
          },
        }),
      ],
    })
    world.api.put(ConfigMap, 'm', { data: { for: 'x' } })
    await world.clock.advance(0)
    isBroken = false
    await world.clock.advance(1000)
    expect(seen.splice(0)).toEqual(['x'])
    isBroken = true
    for (const name of ['y', 'z']) {
      world.api.put(ConfigMap, 'm', { data: { for: name } })
      await world.clock.advance(0)
    }
    isBroken = false
    await world.clock.advance(2000)
    expect(seen.splice(0)).toEqual(['x', 'z'])
    isBroken = true
    world.api.put(ConfigMap, 'm', { data: { for: 'never' } })
    await world.clock.advance(3_600_000)
    const errors = world.complaints.filter((line) => line.startsWith('error'))
    expect(errors.at(-1)).toBe('error: event handler failed too often; event dropped')
    expect(errors).toHaveLength(1 + 2 + 10)
    await world.stop()
    expect(world.clock.pending).toBe(0)
  })

  test('51 a function that hangs is given up after a minute', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      reconcileKey: () => undefined,
      watches: [{ kind: ConfigMap, map: () => new Promise(() => undefined) }],
    })
    world.api.put(ConfigMap, 'm')
    await world.clock.advance(60_000)
    expect(world.complaints).toEqual(['error: event handler failed; retrying the event'])
    await world.stop()
  })
})

test('a watch without map and enqueue, or with both, is refused', () => {
  const world = new World()
  expect(() =>
    world.controllers.add({ for: Widget, reconcile: () => undefined, watches: [{ kind: ConfigMap }] }),
  ).toThrow('the watch of ConfigMap by the controller for Widget needs either map or enqueue')
})

test('enqueueOwner without options is about the controller alone', () => {
  const world = new World()
  const owner = world.api.put(Widget, 'a', { spec: {} })
  const child = (controller: boolean): Loose =>
    world.api.put(Gadget, controller ? 'controlled' : 'owned', {
      metadata: { ownerReferences: [reference(owner, { controller })] },
    })
  const keysOf = (object: Loose): unknown =>
    enqueueOwner(Widget)({ type: 'add', object } as never, { cache: world.cache } as never)
  expect(keysOf(child(true))).toEqual([{ name: 'a', namespace: 'a' }])
  const realm = world.api.put(Realm, 'r', { spec: {} })
  const ofRealm = world.api.put(Gadget, 'of-realm', { metadata: { ownerReferences: [reference(realm)] } })
  expect(enqueueOwner(Realm)({ type: 'add', object: ofRealm } as never, { cache: world.cache } as never)).toEqual([
    { name: 'r' },
  ])
  expect(keysOf(child(false))).toEqual([])
})

test('every owned kind has an index by the UIDs of its owners', async () => {
  const world = new World()
  const [a, b] = [world.api.put(Widget, 'a', { spec: {} }), world.api.put(Widget, 'b', { spec: {} })]
  await owning(world)
  world.api.put(Gadget, 'of-a', { metadata: { ownerReferences: [reference(a)] } })
  world.api.put(Gadget, 'of-both', {
    metadata: { ownerReferences: [reference(a), reference(b, { controller: false })] },
  })
  world.api.put(Gadget, 'of-none')
  await world.clock.advance(0)
  const childrenOf = ({ metadata: { uid = '' } }: Loose): string[] =>
    world.cache.list(Gadget, { index: { name: ownerIndex, value: uid } }).map(({ metadata: { name } }) => name)
  expect([childrenOf(a).sort(), childrenOf(b)]).toEqual([['of-a', 'of-both'], ['of-both']])
  await world.stop()
})

test.each([
  ['at once', false],
  ['later', true],
])('F1: a handler that throws %s is logged once for a failure, with its line', async (_, isLater) => {
  const world = new World()
  const thrown: Error[] = []
  const fail = (): never => {
    thrown.push(new TypeError('no such label'))
    throw thrown.at(-1) as Error
  }
  await world.start({
    for: Widget,
    reconcile: () => undefined,
    watches: [watching(ConfigMap, { map: isLater ? async () => Promise.resolve().then(fail) : fail })],
  })
  world.api.put(ConfigMap, 'settings', {})
  await world.clock.advance(1)
  const failures = world.lines.filter(({ level }) => level === 'error')
  expect(failures).toMatchObject([
    {
      message: 'event handler failed; retrying the event',
      fields: { controller: 'widget', object: 'default//ConfigMap/a/settings', error: thrown[0] },
    },
  ])
  expect(placeOf(failures[0]?.fields['error'])).toMatch(/handlers\.test\.ts:\d+$/)
  expect(Number.isInteger(failures[0]?.fields['afterMs'])).toBe(true)
  await world.stop()
})
