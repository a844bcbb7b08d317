import { expect, test } from 'vitest'
import { declareKind } from '#api'
import { revisions } from '#verbs'
import { Box, ChildWorld, ConfigMap, oneForEach, Secret, Site, sites } from './children.fixture.ts'

const place = { namespace: 'default' }
const Namespace = declareKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' })

const elsewhere = sites(
  async (site, { children }) => {
    children.none()
    for (const namespace of site.spec.names ?? [])
      await children.apply(ConfigMap, { metadata: { namespace }, data: { of: site.metadata.name } })
  },
  { owns: [{ kind: ConfigMap, elsewhere: true }] },
)

test('A15: a child in another namespace is listed first, goes with its parent, and the list with it', async () => {
  await using world = await ChildWorld.start(elsewhere)
  await world.client.create(Namespace, { metadata: { name: 'b' } })
  await world.site('a', { names: ['b'] })
  const child = await world.configMap('a', 'b')
  expect(child?.metadata).toMatchObject({ annotations: { 'evenkeel.dev/owner': 'Site.demo.example.com/default/a' } })
  expect(child?.metadata.ownerReferences).toBeUndefined()
  const { metadata } = await world.client.get(Site, { name: 'a', ...place })
  expect(metadata).toMatchObject({
    finalizers: ['children.evenkeel.dev/site'],
    annotations: { 'children.evenkeel.dev/site': '[["v1","ConfigMap","b","a"]]' },
  })
  expect(world.writes.slice(0, 2)).toEqual(['PATCH sites/a', 'PATCH configmaps/a'])
  await world.client.patch(child as never, { data: { of: 'spoilt' } })
  await world.settle()
  expect((await world.configMap('a', 'b'))?.data).toEqual({ of: 'a' })
  await world.client.delete(await world.client.get(Site, { name: 'a', ...place }))
  await world.settle()
  expect(await world.configMap('a', 'b')).toBeUndefined()
  expect(await world.client.find(Site, { name: 'a', ...place })).toBeUndefined()
  expect(world.errors).toEqual([])
})

test('A15: one that is no longer declared goes, and with the last the finalizer', async () => {
  await using world = await ChildWorld.start(elsewhere)
  await world.client.create(Namespace, { metadata: { name: 'b' } })
  await world.site('a', { names: ['b'] })
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { names: [] } })
  await world.settle()
  expect(await world.configMap('a', 'b')).toBeUndefined()
  const { metadata } = await world.client.get(Site, { name: 'a', ...place })
  expect([metadata.finalizers ?? [], metadata.annotations ?? {}]).toEqual([[], {}])
})

test('A15: a crash between list and create leaks nothing and leaves no finalizer stuck', async () => {
  await using world = await ChildWorld.start(elsewhere)
  await world.client.create(Namespace, { metadata: { name: 'b' } })
  world.between = (request, next) =>
    request.method === 'PATCH' && request.target.includes('/configmaps/')
      ? Promise.reject(new Error('it died here'))
      : next(request)
  await world.site('a', { names: ['b'] })
  await world.stopManager()
  expect(await world.configMap('a', 'b')).toBeUndefined()
  expect((await world.client.get(Site, { name: 'a', ...place })).metadata.finalizers).toEqual([
    'children.evenkeel.dev/site',
  ])
  world.between = (request, next) => next(request)
  await world.client.delete(await world.client.get(Site, { name: 'a', ...place }))
  world.run()
  await world.settle(5000)
  expect(await world.client.find(Site, { name: 'a', ...place })).toBeUndefined()
  expect(await world.configMap('a', 'b')).toBeUndefined()
})

test('A15: a child without a namespace goes with a parent that has one, and the parent waits for it', async () => {
  await using world = await ChildWorld.start(
    sites(
      async (_, { children }) => {
        await children.apply(Namespace, { metadata: { name: 'made' } })
      },
      { owns: [{ kind: Namespace, elsewhere: true }] },
    ),
  )
  await world.site()
  expect(await world.client.find(Namespace, { name: 'made' })).toBeDefined()
  expect(await world.rows()).toMatchObject([{ kind: 'Namespace', namespace: '', name: 'made', state: 'Ready' }])
  await world.client.create(ConfigMap, { metadata: { name: 'in-it', namespace: 'made', finalizers: ['x.dev/wait'] } })
  await world.client.delete(await world.client.get(Site, { name: 'a', ...place }))
  await world.settle(20_000)
  expect((await world.client.get(Site, { name: 'a', ...place })).metadata.finalizers).toEqual([
    'children.evenkeel.dev/site',
  ])
  await world.client.patch((await world.configMap('in-it', 'made')) as never, { metadata: { finalizers: null } })
  await world.settle(40_000)
  expect(await world.client.find(Namespace, { name: 'made' })).toBeUndefined()
  expect(await world.client.find(Site, { name: 'a', ...place })).toBeUndefined()
})

test('A15: a list that was copied with its object is guarded anew, and what it lists of others stays', async () => {
  await using world = await ChildWorld.start(elsewhere)
  await world.client.create(Namespace, { metadata: { name: 'b' } })
  await world.client.create(ConfigMap, { metadata: { name: 'other', namespace: 'b' } })
  const annotations = { 'children.evenkeel.dev/site': '[["v1","ConfigMap","b","a"],["v1","ConfigMap","b","other"]]' }
  await world.client.create(Site, { metadata: { name: 'a', ...place, annotations }, spec: { names: ['b'] } })
  await world.settle()
  const { metadata } = await world.client.get(Site, { name: 'a', ...place })
  expect(metadata).toMatchObject({
    finalizers: ['children.evenkeel.dev/site'],
    annotations: { 'children.evenkeel.dev/site': '[["v1","ConfigMap","b","a"]]' },
  })
  await world.client.delete(await world.client.get(Site, { name: 'a', ...place }))
  await world.settle()
  expect([await world.configMap('a', 'b'), (await world.configMap('other', 'b'))?.metadata.name]).toEqual([
    undefined,
    'other',
  ])
})

test('a child where no owner reference reaches must be declared as such; a foreign one there is left alone', async () => {
  await using world = await ChildWorld.start(
    sites(async (_, { children }) => {
      await children.apply(ConfigMap, { metadata: { namespace: 'b' } })
    }),
  )
  await world.client.create(Namespace, { metadata: { name: 'b' } })
  await world.site()
  expect(world.errors[0]).toContain('declare it with owns: [{ kind: ConfigMap, elsewhere: true }]')
  expect(await world.configMap('a', 'b')).toBeUndefined()
})

test('a run that knows an older parent than a child was applied for writes nothing', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  await world.site('a', { names: ['x'], text: 'now' })
  await world.client.patch((await world.configMap('x')) as never, {
    metadata: { annotations: { 'evenkeel.dev/applied': 'site/99/0123456789abcdef' } },
    data: { text: 'later' },
  })
  world.writes.length = 0
  await world.settle()
  expect((await world.configMap('x'))?.data).toEqual({ text: 'later' })
  expect(world.writes.filter((line) => line.includes('configmaps'))).toEqual([])
})

test('a kind that nobody declared is watched once, and no longer than there are children of it', async () => {
  await using world = await ChildWorld.start(
    sites(
      async (site, { children }) => {
        children.none()
        for (const name of site.spec.names ?? [])
          await children.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })
      },
      { owns: [] },
    ),
  )
  let watches = 0
  world.between = (request, next) => {
    if (request.target.includes('/secrets') && request.target.includes('watch=')) watches++
    return next(request)
  }
  await world.site('a', { names: ['x', 'y'] })
  await world.site('b', { names: ['z'] })
  expect(watches).toBe(1)
  await world.client.delete(await world.client.get(Secret, { name: 'y', ...place }))
  await world.settle()
  expect(await world.client.find(Secret, { name: 'y', ...place })).toBeDefined()
  for (const name of ['a', 'b'])
    await world.client.patch(await world.client.get(Site, { name, ...place }), { spec: { names: [] } })
  await world.settle()
  expect(
    (await world.client.list(Secret, place)).items.filter(
      ({ metadata }) => metadata.labels?.['evenkeel.dev/owner-uid'],
    ),
  ).toEqual([])
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { names: ['x'] } })
  await world.settle()
  expect(watches).toBe(2)
})

test('recreate: onImmutable deletes what cannot be changed and makes it again', async () => {
  await using world = await ChildWorld.start(
    sites(async (site, { children }) => {
      await children.apply(
        ConfigMap,
        { data: { a: site.spec.text ?? '' }, immutable: true } as never,
        site.spec.names ? { recreate: 'onImmutable' } : {},
      )
    }),
  )
  await world.site('a', { text: 'one' })
  const first = await world.configMap('a')
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: 'two' } })
  await world.settle()
  expect(await world.rows()).toMatchObject([{ state: 'Failed', reason: 'Invalid' }])
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { names: [] } })
  await world.settle()
  const second = await world.configMap('a')
  expect([second?.data, second?.metadata.uid === first?.metadata.uid]).toEqual([{ a: 'two' }, false])
  expect(await world.rows()).toMatchObject([{ state: 'Ready' }])
})

test('revisions: each content has an object, old ones stay as far as they are kept or used', async () => {
  const configs = revisions(ConfigMap, { keep: 1 })
  await using world = await ChildWorld.start(
    sites(
      async (site, context) => {
        const { metadata } = await configs.apply(context, { data: { text: site.spec.text ?? '' } })
        await context.children.apply(Box, { spec: { config: site.spec.names?.[0] ?? metadata.name } })
      },
      { owns: [Box], verbs: [configs] },
    ),
  )
  const there = async (): Promise<readonly string[]> =>
    (await world.client.list(ConfigMap, { ...place, labelSelector: 'evenkeel.dev/revisions=configmap' })).items
      .map(({ data }) => data?.['text'] ?? '')
      .sort()
  const say = async (spec: object): Promise<void> => {
    await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec })
    await world.settle(3000)
  }
  await world.site('a', { text: '1' })
  const [first] = (await world.client.list(ConfigMap, { ...place, labelSelector: 'evenkeel.dev/revisions=configmap' }))
    .items
  expect(first?.metadata.name).toMatch(/^a-[0-9a-f]{10}$/)
  await say({ text: '2' })
  expect(await there()).toEqual(['1', '2'])
  await say({ text: '3' })
  expect(await there()).toEqual(['2', '3'])
  await say({ text: '2' })
  expect(await there()).toEqual(['2', '3'])
  const [two] = (
    await world.client.list(ConfigMap, { ...place, labelSelector: 'evenkeel.dev/revisions=configmap' })
  ).items.filter(({ data }) => data?.['text'] === '2')
  await say({ text: '4', names: [two?.metadata.name ?? ''] })
  await say({ text: '5' })
  expect(await there()).toEqual(['2', '4', '5'])
})

test('mistakes of an author are said: two children in one place, a generated name, no determinism, no kind', async () => {
  let count = 0
  await using world = await ChildWorld.start(
    sites(async (site, { children }) => {
      const { text } = site.spec
      if (text === 'twice') for (const a of ['1', '2']) await children.apply(ConfigMap, { data: { a } })
      if (text === 'generated') await children.apply(ConfigMap, { metadata: { generateName: 'x-' } })
      if (text === 'chance') await children.declare(() => [[ConfigMap, { data: { a: String(count++) } }]])
      if (text === 'no kind') await children.apply({ metadata: { name: 'x' } } as never)
    }),
  )
  const said: string[] = []
  for (const [index, text] of ['twice', 'generated', 'chance', 'no kind'].entries()) {
    world.lines.length = 0
    await world.site(`s${index}`, { text })
    said.push(world.errors[0] ?? '')
  }
  expect(said).toEqual([
    expect.stringContaining('ConfigMap s0 is applied twice in one run'),
    expect.stringContaining('cannot have generateName'),
    expect.stringContaining('is not deterministic'),
    expect.stringContaining('needs apiVersion and kind'),
  ])
})

test('prune: false stays when it is no longer declared; key finds a child; get and list know only our own', async () => {
  const seen: unknown[] = []
  await using world = await ChildWorld.start(
    sites(async (site, { children }) => {
      children.none()
      if (site.spec.text !== 'none')
        await children.apply(ConfigMap, { metadata: { name: 'x' } }, { key: 'the one', prune: false })
      seen.push([
        (await children.get(ConfigMap, 'the one'))?.metadata.name,
        (await children.get(ConfigMap, 'x'))?.metadata.name,
        await children.get(ConfigMap, 'foreign'),
        children.list().length,
      ])
    }),
  )
  await world.client.create(ConfigMap, { metadata: { name: 'foreign', ...place } })
  await world.site()
  expect(seen.at(-1)).toEqual(['x', 'x', undefined, 1])
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: 'none' } })
  await world.settle()
  expect(await world.configMap('x')).toBeDefined()
  expect(seen.at(-1)).toEqual([undefined, 'x', undefined, 1])
})

test('what an author makes by hand is not taken away, and a second controller of the same kind has children of its own', async () => {
  const second = sites(
    async (_, { children }) => {
      await children.apply(ConfigMap, { metadata: { name: 'second' } })
    },
    { name: 'second' },
  )
  await using world = await ChildWorld.start(
    sites(async (site, { children, client }) => {
      await client
        .create(ConfigMap, { metadata: { name: 'by-hand', ...place } }, { owner: site as never })
        .catch(() => undefined)
      await children.apply(ConfigMap, { metadata: { name: 'first' } })
    }),
    second,
  )
  await world.site()
  await world.settle(5000)
  for (const name of ['by-hand', 'first', 'second']) expect(await world.configMap(name), name).toBeDefined()
  expect((await world.rows()).map(({ name, controller }) => [name, controller])).toEqual([
    ['first', undefined],
    ['second', 'second'],
  ])
  expect([await world.condition(), await world.condition('second/ChildrenReady')]).toMatchObject([
    { status: 'True' },
    { status: 'True' },
  ])
  world.writes.length = 0
  await world.settle(5000)
  expect(world.writes.filter((line) => line.startsWith('PATCH'))).toEqual([])
})
