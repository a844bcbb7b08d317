import { describe, expect, test } from 'vitest'
import { setControllerReference, type KubeObject } from '#api'
import { deferred } from '#base'
import { metadataOnly } from '#client'
import type { ReconcileClient } from './reconcile-client.ts'
import { ConfigMap, Gadget, Widget, World } from './world.fixture.ts'

describe('ReconcileClient', () => {
  test('reads what is followed from memory, own writes included, and the rest from the server', async () => {
    const world = new World()
    world.api.put(ConfigMap, 'live', { data: { a: '1' } })
    const seen: unknown[] = []
    await world.start({
      for: Widget,
      owns: [Gadget],
      reconcile: async (widget, { client }) => {
        world.api.hold()
        await client.create(Gadget, {
          metadata: { name: 'child', namespace: 'a', labels: { of: widget.metadata.name } },
          spec: { size: 1 },
        })
        const child = await client.get(Gadget, { name: 'child', namespace: 'a' })
        seen.push(
          child.spec.size,
          (await client.list(Gadget, { namespace: 'a', labelSelector: 'of=one' })).items.length,
          (await client.list(Gadget, { labelSelector: 'of=two' })).items.length,
        )
        await client.patch(child, { spec: { size: 2 } })
        seen.push((await client.find(Gadget, child.metadata))?.spec.size)
        await client.delete(child)
        seen.push(await client.find(Gadget, child.metadata))
        seen.push((await client.with({ dryRun: true }).find(Widget, widget.metadata))?.metadata.name)
        seen.push(
          (await client.get(ConfigMap, { name: 'live', namespace: 'a' })).data,
          (await client.list(metadataOnly(ConfigMap))).items.length,
        )
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    expect(seen).toEqual([1, 1, 0, 2, undefined, 'one', { a: '1' }, 1])
    expect(
      world.api.asked
        .filter(({ verb }) => verb === 'get' || verb === 'list')
        .map(({ verb, kind }) => `${verb} ${kind.kind}`),
    ).toEqual(['get ConfigMap', 'list ConfigMap'])
    expect(world.complaints).toEqual([])
    await world.stop()
  })

  test('live: true reads from the server; index reads from memory only', async () => {
    const world = new World()
    world.cache.getInformer(Widget).addIndex('size', ({ spec }) => [String(spec.size)])
    const seen: unknown[] = []
    await world.start({
      for: Widget,
      reconcile: async ({ metadata }, { client }) => {
        seen.push(
          (await client.get(Widget, metadata, { live: true })).metadata.uid,
          (await client.find(Widget, metadata, { live: true }))?.metadata.uid,
        )
        seen.push(
          (await client.list(Widget, { index: { name: 'size', value: '3' } })).items.length,
          (await client.list(Widget, { live: true })).items.length,
        )
      },
    })
    world.api.put(Widget, 'one', { spec: { size: 3 } })
    await world.clock.advance(0)
    expect(seen).toEqual(['uid-1', 'uid-1', 1, 1])
    expect(world.api.asked.filter(({ verb }) => verb === 'get' || verb === 'list')).toHaveLength(3)
    await world.stop()
  })

  test('writes carry the reconcile id in the user agent and the controller as the owner of fields', async () => {
    const world = new World()
    let id = ''
    await world.start({
      for: Widget,
      reconcile: async (widget, { client, reconcileId }) => {
        id = reconcileId
        if (!widget.metadata.labels) await client.patch(widget, { metadata: { labels: { a: 'b' } } })
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    await world.clock.advance(0)
    const [first] = world.ledger.entries().reverse()
    const patch = world.api.asked.find(({ verb }) => verb === 'patch')
    expect(patch?.userAgent).toContain(`reconcile/${first?.reconcileId}`)
    expect(new URL(patch?.target ?? '', 'http://x').searchParams.get('fieldManager')).toBe('widget')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    await world.stop()
  })

  test.each<[string, (client: ReconcileClient, child: KubeObject) => Promise<unknown>]>([
    ['create', (client, child) => client.create(child)],
    ['create with a kind', (client, child) => client.create(Gadget, child as never)],
    ['apply', (client, child) => client.apply(child)],
    ['apply with a kind', (client, child) => client.apply(Gadget, child as never)],
    ['createOrUpdate', (client, child) => client.createOrUpdate(child, (current) => current)],
  ])(
    '58 %s of a child for an owner that is being deleted is refused, with a sentence that says why',
    async (_, write) => {
      const world = new World()
      const errors: unknown[] = []
      await world.start({
        for: Widget,
        owns: [Gadget],
        reconcile: () => undefined,
        cleanup: async (widget, { client }) => {
          const child = setControllerReference(widget, {
            apiVersion: Gadget.apiVersion,
            kind: 'Gadget',
            metadata: { name: 'child', namespace: 'a' },
            spec: {},
          })
          await write(client, child).catch((error: unknown) => {
            errors.push(error)
          })
        },
      })
      world.api.put(Widget, 'one', { spec: {} })
      await world.clock.advance(0)
      world.api.remove(Widget, 'one')
      await world.clock.advance(0)
      expect(errors).toMatchObject([
        {
          message:
            'cannot create Gadget child: its owner Widget one is being deleted; end the reconcile when its signal aborts',
        },
      ])
      expect(world.api.list(Gadget)).toEqual([])
      await world.stop()
    },
  )

  test('58 an owner whose deletion begins during the run is noticed', async () => {
    const world = new World()
    const go = deferred<void>()
    const errors: string[] = []
    world.api.put(Widget, 'one', { metadata: { finalizers: ['x/y'] }, spec: {} })
    await world.start({
      for: Widget,
      owns: [Gadget],
      reconcile: async (widget, { client }) => {
        await go.promise
        await client
          .create(
            setControllerReference(widget, {
              apiVersion: Gadget.apiVersion,
              kind: 'Gadget',
              metadata: { name: 'child', namespace: 'a' },
            }),
          )
          .catch((error: unknown) => {
            errors.push((error as Error).message)
          })
      },
    })
    world.api.remove(Widget, 'one')
    await world.clock.advance(0)
    go.resolve()
    await world.clock.advance(0)
    expect(errors).toEqual([expect.stringContaining('cannot create Gadget child: its owner')])
    await world.stop()
  })

  test('a child that is there may be applied to while its owner goes', async () => {
    const world = new World()
    await world.start({
      for: Widget,
      owns: [Gadget],
      cleanup: async (widget, { client }) => {
        await client.apply(
          setControllerReference(widget, {
            apiVersion: Gadget.apiVersion,
            kind: 'Gadget',
            metadata: { name: 'child', namespace: 'a' },
            spec: { size: 0 },
          }),
        )
      },
    })
    world.api.put(Widget, 'one', { spec: {} })
    world.api.put(Gadget, 'child', { spec: { size: 3 } })
    await world.clock.advance(0)
    world.api.remove(Widget, 'one')
    await world.clock.advance(0)
    expect(world.api.find(Gadget, 'child')?.spec).toEqual({ size: 0 })
    await world.stop()
  })
})

test('ReconcileClient lists from the server what the cache cannot answer: a field selector, a version', async () => {
  const world = new World()
  await world.start({
    for: Widget,
    reconcile: async (_, { client }) => {
      await client.list(Widget, { fieldSelector: 'metadata.name=one' })
      await client.list(Widget, { resourceVersion: '0' })
      await client.list(Widget)
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(0)
  const lists = world.api.asked.filter(({ verb }) => verb === 'list').map(({ target }) => target.split('?')[1])
  expect(lists).toEqual(['fieldSelector=metadata.name%3Done&limit=500', 'limit=500&resourceVersion=0'])
  await world.stop()
})
