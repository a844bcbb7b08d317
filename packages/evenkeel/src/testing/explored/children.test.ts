import { expect, test } from 'vitest'
import { Box, ChildWorld, ConfigMap, oneForEach, Secret, Site, sites } from './children.fixture.ts'

const place = { namespace: 'default' }

test('A1: a child has its parent as controller, and its UID is in the status', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  await world.site('a', { names: ['x'], text: 'hello' })
  const child = await world.configMap('x')
  const parent = await world.client.get(Site, { name: 'a', ...place })
  expect(child?.metadata.ownerReferences).toEqual([
    {
      apiVersion: 'demo.example.com/v1',
      kind: 'Site',
      name: 'a',
      uid: parent.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ])
  expect(child?.metadata.labels).toEqual({ 'evenkeel.dev/owner-uid': parent.metadata.uid })
  expect(await world.rows()).toMatchObject([
    {
      group: '',
      kind: 'ConfigMap',
      namespace: 'default',
      name: 'x',
      uid: child?.metadata.uid,
      appliedForGeneration: 1,
      state: 'Ready',
    },
  ])
  expect(await world.condition()).toMatchObject({
    status: 'True',
    reason: 'AllReady',
    message: '1 child is ready',
    observedGeneration: 1,
  })
  expect(world.writes).toEqual(['PATCH configmaps/x', 'PATCH sites/a/status'])
})

test('A2: a child deleted by hand is made again by the event alone', async () => {
  await using world = await ChildWorld.start(sites(oneForEach, { resyncMs: 0 }))
  await world.site('a', { names: ['x'] })
  const first = await world.configMap('x')
  await world.client.delete(first as never)
  await world.settle(200)
  const second = await world.configMap('x')
  expect(second?.metadata.uid).not.toBe(first?.metadata.uid)
  expect(second).toBeDefined()
})

test('A3: what somebody changes by hand is put right, fields of others stay', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  await world.site('a', { names: ['x'], text: 'mine' })
  await world.client.apply(
    ConfigMap,
    { metadata: { name: 'x', ...place, labels: { theirs: 'yes' } }, data: { text: 'spoilt', more: 'theirs' } },
    { fieldManager: 'somebody', force: true },
  )
  await world.settle()
  const child = await world.configMap('x')
  expect(child?.data).toEqual({ text: 'mine', more: 'theirs' })
  expect(child?.metadata.labels).toMatchObject({ theirs: 'yes' })
})

test('A3: a field that is no longer declared goes, and marks that were stripped come back', async () => {
  await using world = await ChildWorld.start(
    sites(async (site, { children }) => {
      await children.apply(ConfigMap, { data: { ...(site.spec.text === 'both' && { b: '2' }), a: '1' } })
    }),
  )
  await world.site('a', { text: 'both' })
  expect((await world.configMap('a'))?.data).toEqual({ a: '1', b: '2' })
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: 'one' } })
  await world.settle()
  expect((await world.configMap('a'))?.data).toEqual({ a: '1' })
  await world.client.patch((await world.configMap('a')) as never, { metadata: { annotations: null, labels: null } })
  await world.settle()
  expect((await world.configMap('a'))?.metadata).toMatchObject({
    annotations: { 'evenkeel.dev/applied': expect.stringContaining('site/2/') as string },
    labels: { 'evenkeel.dev/owner-uid': expect.any(String) as string },
  })
})

test('A3: an owner reference that was taken off is put back', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  await world.site('a', { names: ['x'] })
  await world.client.patch((await world.configMap('x')) as never, { metadata: { ownerReferences: null } })
  await world.settle()
  expect((await world.configMap('x'))?.metadata.ownerReferences).toMatchObject([{ name: 'a', controller: true }])
})

test('A3: a Secret that was said in stringData is put right in data', async () => {
  await using world = await ChildWorld.start(
    sites(
      async (_, { children }) => {
        await children.apply(Secret, { stringData: { a: 'é', __proto__: 'x' } } as never)
      },
      { owns: [Secret] },
    ),
  )
  await world.site()
  const writes = world.writes.length
  await world.client.patch(await world.client.get(Secret, { name: 'a', ...place }), { data: { a: 'AAAA' } })
  await world.settle()
  expect((await world.client.get(Secret, { name: 'a', ...place })).data).toMatchObject({
    a: Buffer.from('é').toString('base64'),
  })
  expect(world.writes.length).toBe(writes + 1)
})

test('A4: three children of different kinds with one name: a change of each brings a run', async () => {
  let runs = 0
  await using world = await ChildWorld.start(
    sites(
      async (_, { children }) => {
        runs++
        await children.declare([
          [ConfigMap, { data: { a: '1' } }],
          { apiVersion: 'v1', kind: 'Secret', stringData: { a: '1' } } as never,
          [Box, { spec: { size: 1 } }],
        ])
      },
      { owns: [ConfigMap, Box] },
    ),
  )
  await world.site()
  expect((await world.rows()).map(({ kind, name }) => `${kind} ${name}`)).toEqual(['ConfigMap a', 'Secret a', 'Box a'])
  for (const kind of [ConfigMap, Secret, Box]) {
    const before = runs
    await world.client.patch(await world.client.get(kind, { name: 'a', ...place }), {
      metadata: { labels: { touched: 'yes' } },
    })
    await world.settle(500)
    expect(runs, kind.kind).toBeGreaterThan(before)
  }
})

test('A5: two parents and eight workers with 200 children: nothing crosses, nothing is made twice', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`)
  await using world = await ChildWorld.start(
    sites(
      async (site, { children }) => {
        await children.declare(
          names.map((name) => [
            ConfigMap,
            { metadata: { name: `${site.metadata.name}-${name}` }, data: { of: site.metadata.name } },
          ]),
        )
      },
      { concurrency: 8 },
    ),
  )
  await Promise.all(['a', 'b'].map((name) => world.site(name)))
  await world.settle()
  const { items } = await world.client.list(ConfigMap, { ...place, labelSelector: 'evenkeel.dev/owner-uid' })
  expect(items).toHaveLength(200)
  expect(
    items.every(
      ({ metadata, data }) =>
        metadata.ownerReferences?.[0]?.name === data?.['of'] && metadata.name.startsWith(`${data?.['of']}-`),
    ),
  ).toBe(true)
  const made = world.writes.filter((line) => line.includes('configmaps'))
  expect(new Set(made).size).toBe(made.length)
})

test('A6: an answer that got lost leads to exactly one child', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  let isLost = false
  world.between = async (request, next) => {
    const response = await next(request)
    if (isLost || request.method !== 'PATCH' || !request.target.includes('configmaps')) return response
    isLost = true
    throw new Error('the answer was lost')
  }
  await world.site('a', { names: ['x'], text: 'hello' })
  expect(isLost).toBe(true)
  expect(await world.rows()).toMatchObject([{ name: 'x', state: 'Ready' }])
  expect(world.writes.filter((line) => line.includes('configmaps'))).toHaveLength(1)
})

test('A7: with watches five seconds late nothing is made twice and nothing is taken away by mistake', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  await world.settle()
  world.lagMs = 5000
  await world.site('a', { names: ['x', 'y'] })
  await world.settle(20_000)
  expect(world.writes.filter((line) => line.includes('configmaps'))).toEqual([
    'PATCH configmaps/x',
    'PATCH configmaps/y',
  ])
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { names: ['y', 'z'] } })
  await world.settle(30_000)
  expect(
    (await world.client.list(ConfigMap, { ...place, labelSelector: 'evenkeel.dev/owner-uid' })).items.map(
      ({ metadata }) => metadata.name,
    ),
  ).toEqual(['y', 'z'])
  expect(world.writes.filter((line) => line.includes('configmaps')).slice(2)).toEqual([
    'PATCH configmaps/z',
    'DELETE configmaps/x',
  ])
})

test('A8: what is no longer declared goes; a run that throws, or says nothing about children, takes nothing away', async () => {
  await using world = await ChildWorld.start(
    sites(async (site, context) => {
      if (site.spec.text === 'silent') return
      await oneForEach(site, context)
      if (site.spec.text === 'throw') throw new Error('midway')
    }),
  )
  await world.site('a', { names: ['x', 'y'] })
  const change = async (spec: object): Promise<void> => {
    await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec })
    await world.settle()
  }
  const there = async (): Promise<readonly string[]> =>
    (await world.client.list(ConfigMap, { ...place, labelSelector: 'evenkeel.dev/owner-uid' })).items.map(
      ({ metadata }) => metadata.name,
    )
  await change({ names: ['x'], text: 'throw' })
  expect(await there()).toEqual(['x', 'y'])
  await change({ names: [], text: 'silent' })
  expect(await there()).toEqual(['x', 'y'])
  await change({ names: ['x'], text: 'fine' })
  expect(await there()).toEqual(['x'])
  expect((await world.rows()).map(({ name }) => name)).toEqual(['x'])
  await change({ names: [], text: 'fine' })
  expect(await there()).toEqual([])
  expect(await world.condition()).toMatchObject({ status: 'True', message: '0 children are ready' })
})

test('A9: a child that was replaced under our hands is not deleted in its place', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  await world.site('a', { names: ['x'] })
  let isSwapped = false
  world.between = async (request, next) => {
    if (request.method === 'DELETE' && !isSwapped) {
      isSwapped = true
      await world.client.delete((await world.configMap('x')) as never)
      await world.client.create(ConfigMap, { metadata: { name: 'x', ...place }, data: { of: 'somebody else' } })
    }
    return next(request)
  }
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { names: [] } })
  await world.settle()
  expect(isSwapped).toBe(true)
  expect((await world.configMap('x'))?.data).toEqual({ of: 'somebody else' })
  expect(world.errors).toEqual([])
})

test('A10: an object of somebody else with that name is not touched, and its going is noticed', async () => {
  await using world = await ChildWorld.start(sites(oneForEach))
  const foreign = await world.client.create(ConfigMap, { metadata: { name: 'x', ...place }, data: { of: 'somebody' } })
  await world.site('a', { names: ['x'] })
  expect(await world.condition()).toMatchObject({
    status: 'False',
    reason: 'Conflict',
    message: expect.stringContaining('ConfigMap x exists and has no owner') as string,
  })
  expect(await world.rows()).toMatchObject([{ name: 'x', state: 'Failed', reason: 'Conflict' }])
  expect((await world.configMap('x'))?.metadata.resourceVersion).toBe(foreign.metadata.resourceVersion)
  await world.client.delete(foreign)
  await world.settle(500)
  expect(await world.condition()).toMatchObject({ status: 'True' })
  expect(await world.rows()).toMatchObject([{ name: 'x', state: 'Ready' }])
})

test('A10: ifOrphan adopts what has no controller, ifLabelled only what has the labels, nobody takes from another controller', async () => {
  await using world = await ChildWorld.start(
    sites(async (site, { children }) => {
      const adopt = site.spec.text === 'labelled' ? { ifLabelled: { free: 'yes' } } : 'ifOrphan'
      await children.apply(ConfigMap, { metadata: { name: site.spec.names?.[0] ?? '' }, data: { of: 'us' } }, { adopt })
    }),
  )
  const owner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'owner',
    uid: (await world.client.create(ConfigMap, { metadata: { name: 'owner', ...place } })).metadata.uid,
  }
  await world.client.create(ConfigMap, { metadata: { name: 'x', ...place }, data: { kept: 'yes' } })
  await world.client.create(ConfigMap, { metadata: { name: 'y', ...place } })
  await world.client.create(ConfigMap, { metadata: { name: 'z', ...place, labels: { free: 'yes' } } })
  await world.client.create(ConfigMap, {
    metadata: { name: 'owned', ...place, ownerReferences: [{ ...owner, controller: true }] },
  })
  await world.site('a', { names: ['x'] })
  await world.site('b', { names: ['y'], text: 'labelled' })
  await world.site('c', { names: ['z'], text: 'labelled' })
  await world.site('d', { names: ['owned'] })
  expect((await world.configMap('x'))?.data).toEqual({ kept: 'yes', of: 'us' })
  expect((await world.configMap('x'))?.metadata.ownerReferences).toMatchObject([{ kind: 'Site', name: 'a' }])
  expect((await world.configMap('y'))?.data).toBeUndefined()
  expect((await world.configMap('z'))?.data).toEqual({ of: 'us' })
  expect(await world.condition('ChildrenReady', 'd')).toMatchObject({
    reason: 'Conflict',
    message: expect.stringContaining('belongs to ConfigMap owner') as string,
  })
})
