import { expect, test } from 'vitest'
import { isForbidden } from '#api'
import { ConfigMap, namespaceWorld, Pod } from './namespaces.fixture.ts'
import { Note, type World } from './world.fixture.ts'

const pod = { containers: [{ name: 'a', image: 'a' }] }

test('namespaceController empties a namespace of built-in and of custom kinds, then lets it go, without any wait', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  await it.create('shop')
  await it.create('other')
  for (const namespace of ['shop', 'other']) {
    await world.client.create(ConfigMap, { metadata: { name: 'a', namespace } })
    await world.client.create(Note, { metadata: { name: 'a', namespace }, spec: { text: 'x' } })
  }
  const startedMs = world.clock.now()
  await it.remove('shop')
  await world.until(() => it.isGone('shop'), { stepMs: 0 })
  expect(world.clock.now()).toBe(startedMs)
  expect((await world.client.list(ConfigMap, { namespace: 'shop' })).items).toEqual([])
  expect((await world.client.list(Note, { namespace: 'shop' })).items).toEqual([])
  expect((await world.client.list(ConfigMap, { namespace: 'other' })).items).toHaveLength(1)
})

test('namespaceController says which finalizers hold what, and ends when they are gone', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  await it.create('shop')
  await world.client.create(Note, {
    metadata: { name: 'a', namespace: 'shop', finalizers: ['x.dev/y'] },
    spec: { text: 'x' },
  })
  await world.client.create(ConfigMap, {
    metadata: { name: 'b', namespace: 'shop', finalizers: ['x.dev/y', 'x.dev/z'] },
  })
  await it.remove('shop')
  await world.until(async () => (await it.condition('shop', 'NamespaceFinalizersRemaining'))?.status === 'True')
  expect(await it.condition('shop', 'NamespaceContentRemaining')).toMatchObject({
    status: 'True',
    reason: 'SomeResourcesRemain',
    message:
      'Some resources are remaining: configmaps. has 1 resource instances, notes.test.dev has 1 resource instances',
  })
  expect(await it.condition('shop', 'NamespaceFinalizersRemaining')).toMatchObject({
    reason: 'SomeFinalizersRemain',
    message:
      'Some content in the namespace has finalizers remaining: x.dev/y in 2 resource instances, x.dev/z in 1 resource instances',
  })
  expect(await it.condition('shop', 'NamespaceDeletionDiscoveryFailure')).toMatchObject({
    status: 'False',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  })
  expect(await it.condition('shop', 'NamespaceDeletionGroupVersionParsingFailure')).toMatchObject({
    status: 'False',
    reason: 'ParsedGroupVersions',
  })
  expect(await it.condition('shop', 'NamespaceDeletionContentFailure')).toMatchObject({
    status: 'False',
    reason: 'ContentDeleted',
  })
  await world.client.patch(
    { apiVersion: 'test.dev/v1', kind: 'Note', metadata: { name: 'a', namespace: 'shop' } },
    { metadata: { finalizers: null } },
  )
  await world.client.patch(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'shop' } },
    { metadata: { finalizers: null } },
  )
  await world.until(() => it.isGone('shop'))
})

test('namespaceController looks at a namespace that is stuck less and less often', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  await it.create('shop')
  await world.client.create(ConfigMap, { metadata: { name: 'b', namespace: 'shop', finalizers: ['x.dev/y'] } })
  await it.remove('shop')
  const looks = (): number => world.calls.filter((call) => call === 'GET /api/v1/namespaces/shop').length
  await world.until(() => looks() >= 1)
  await world.clock.advance(60_000)
  const before = looks()
  await world.clock.advance(85_000)
  expect(looks() - before).toBe(10)
})

test('namespaceController deletes pods before anything else', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  await it.create('shop')
  await world.client.create(Pod, { metadata: { name: 'p', namespace: 'shop', finalizers: ['x.dev/y'] }, spec: pod })
  await world.client.create(ConfigMap, { metadata: { name: 'used', namespace: 'shop' } })
  await it.remove('shop')
  await world.until(async () => (await it.condition('shop', 'NamespaceContentRemaining'))?.status === 'True')
  expect((await it.condition('shop', 'NamespaceContentRemaining'))?.message).toBe(
    'Some resources are remaining: pods. has 1 resource instances',
  )
  await world.clock.advance(30_000)
  expect(await world.client.find(ConfigMap, { name: 'used', namespace: 'shop' })).toMatchObject({
    metadata: { name: 'used' },
  })
  await world.client.patch(
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'shop' } },
    { metadata: { finalizers: null } },
  )
  await world.until(() => it.isGone('shop'))
})

test('namespaceController waits for the grace of pods that run somewhere, then says that they stay without a reason', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  await it.create('shop')
  await world.client.create(Pod, {
    metadata: { name: 'p', namespace: 'shop' },
    spec: { ...pod, nodeName: 'n', terminationGracePeriodSeconds: 20 },
  })
  await it.remove('shop')
  await world.until(async () => (await it.condition('shop', 'NamespaceContentRemaining'))?.status === 'True')
  expect((await it.condition('shop', 'NamespaceDeletionContentFailure'))?.status).toBe('False')
  await world.clock.advance(40_000)
  expect(await it.condition('shop', 'NamespaceDeletionContentFailure')).toMatchObject({
    status: 'True',
    reason: 'ContentDeletionFailed',
    message:
      'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods',
  })
  await world.client.delete(
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'shop' } },
    { gracePeriodSeconds: 0 },
  )
  await world.until(() => it.isGone('shop'), { stepMs: 1000 })
})

test('namespaceController leaves a namespace alone that is not being deleted, and one that was made anew', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  for (let round = 0; round < 3; round++) {
    await it.create('shop')
    await world.client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' } })
    await world.clock.advance(30_000)
    expect((await world.client.list(ConfigMap, { namespace: 'shop' })).items).toHaveLength(1)
    await it.remove('shop')
    await world.until(() => it.isGone('shop'))
  }
})

test('namespaceController tries again, and says so, when a kind cannot be deleted', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  let isBroken = true
  world.between = (request, next) => {
    if (isBroken && request.method === 'DELETE' && request.target.includes('/configmaps'))
      return next({ ...request, target: request.target.replace('/configmaps', '/nosuchthings') })
    return next(request)
  }
  await it.create('shop')
  await world.client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' } })
  await it.remove('shop')
  await world.until(async () => (await it.condition('shop', 'NamespaceDeletionContentFailure'))?.status === 'True')
  expect(await it.isGone('shop')).toBe(false)
  isBroken = false
  await world.until(() => it.isGone('shop'))
})

interface Discovered {
  readonly metadata: { readonly name: string }
  readonly versions: { version: string; freshness: string; resources: { resource: string; verbs: string[] }[] }[]
}

/** Changes what the controller is told about groups, as long as it is wanted. */
function tamper(world: World, root: '/api' | '/apis', change: (group: Discovered) => void): { isOver: boolean } {
  const state = { isOver: false }
  world.between = async (request, next) => {
    if (state.isOver || request.target.split('?')[0] !== root) return next(request)
    const response = await next(request)
    const document = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as { items: Discovered[] }
    for (const group of document.items) change(group)
    const body = Buffer.from(JSON.stringify(document))
    return { ...response, headers: { ...response.headers, 'content-length': String(body.byteLength) }, body }
  }
  return state
}

test('namespaceController keeps a namespace as long as discovery is not whole', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  const tampering = tamper(world, '/apis', ({ metadata: { name }, versions }) => {
    if (name === 'test.dev') for (const version of versions) version.freshness = 'Stale'
  })
  await it.create('shop')
  await world.client.create(Note, { metadata: { name: 'a', namespace: 'shop' }, spec: { text: 'x' } })
  await it.remove('shop')
  await world.until(async () => (await it.condition('shop', 'NamespaceDeletionDiscoveryFailure'))?.status === 'True')
  expect(await it.condition('shop', 'NamespaceDeletionDiscoveryFailure')).toMatchObject({
    reason: 'DiscoveryFailed',
    message:
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: test.dev/v1: stale GroupVersion discovery: test.dev/v1',
  })
  tampering.isOver = true
  await world.until(() => it.isGone('shop'))
  expect((await world.client.list(Note, { namespace: 'shop' })).items).toEqual([])
})

test('namespaceController keeps a namespace as long as a version has a name that nobody can read', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  const tampering = tamper(world, '/apis', ({ metadata: { name }, versions }) => {
    if (name === 'test.dev') for (const version of versions) version.version = 'v1/x'
  })
  await it.create('shop')
  await it.remove('shop')
  await world.until(
    async () => (await it.condition('shop', 'NamespaceDeletionGroupVersionParsingFailure'))?.status === 'True',
  )
  expect((await it.condition('shop', 'NamespaceDeletionGroupVersionParsingFailure'))?.message).toBe(
    'unexpected GroupVersion string: test.dev/v1/x',
  )
  tampering.isOver = true
  await world.until(() => it.isGone('shop'))
})

test('namespaceController deletes one by one what cannot be deleted as a collection', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  tamper(world, '/api', ({ versions }) => {
    for (const { resources } of versions)
      for (const one of resources)
        if (one.resource === 'configmaps') one.verbs = one.verbs.filter((verb) => verb !== 'deletecollection')
  })
  await it.create('shop')
  for (const name of ['a', 'b']) await world.client.create(ConfigMap, { metadata: { name, namespace: 'shop' } })
  await it.remove('shop')
  await world.until(() => it.isGone('shop'))
  expect(world.calls.filter((call) => call.startsWith('DELETE'))).toEqual([
    'DELETE /api/v1/namespaces/shop/configmaps/a',
    'DELETE /api/v1/namespaces/shop/configmaps/b',
  ])
})

test('namespaceController with a grace leaves everything alone until it is over', async () => {
  await using it = await namespaceWorld({ graceMs: 5000 })
  const { world } = it
  await it.create('shop')
  await world.client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' } })
  await it.remove('shop')
  await world.clock.advance(3900)
  expect((await world.client.list(ConfigMap, { namespace: 'shop' })).items).toHaveLength(1)
  await world.until(() => it.isGone('shop'))
  await expect(
    world.client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }),
  ).rejects.toSatisfy(isForbidden)
})

test('namespaceController keeps other finalizers of a namespace', async () => {
  await using it = await namespaceWorld()
  const { world } = it
  await world.client.create({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop' },
    spec: { finalizers: ['x.dev/y'] },
  } as never)
  await world.client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' } })
  await it.remove('shop')
  await world.until(async () => (await world.client.list(ConfigMap, { namespace: 'shop' })).items.length === 0)
  await world.clock.advance(20_000)
  const left = await world.client.get({ apiVersion: 'v1', kind: 'Namespace' }, { name: 'shop' })
  expect(left).toMatchObject({ spec: { finalizers: ['x.dev/y'] }, status: { phase: 'Terminating' } })
  await world.client.subresource('finalize').update({ ...left, spec: { finalizers: [] } } as never)
  expect(await it.isGone('shop')).toBe(true)
})
