import { expect, test } from 'vitest'
import { loadClaimsEngine } from '#api'
import type { ChildReport } from '#api'
import type { ChildWorld as World } from './children.fixture.ts'
import { Box, ChildWorld, ConfigMap, oneForEach, Site, sites } from './children.fixture.ts'

const place = { namespace: 'default' }

async function boxStatus(world: World, name: string, ready: boolean): Promise<void> {
  const box = await world.client.get(Box, { name, ...place })
  await world.client.patchStatus(box, {
    conditions: [
      {
        type: 'Ready',
        status: ready ? 'True' : 'False',
        reason: 'Said',
        message: ready ? '' : 'warming up',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    observedGeneration: box.metadata.generation,
  })
  await world.settle()
}

const oneBox = sites(
  async (site, { children, status }) => {
    await children.apply(Box, { spec: { text: site.spec.text ?? '' } })
    status.condition('Ready', children.ready())
  },
  { owns: [Box] },
)

test('A11: a child that is not ready keeps its parent from being ready, and says why', async () => {
  await using world = await ChildWorld.start(oneBox)
  await world.site()
  await boxStatus(world, 'a', false)
  expect(await world.rows()).toMatchObject([
    { kind: 'Box', state: 'Progressing', reason: 'Said', message: 'warming up' },
  ])
  expect(await world.condition()).toMatchObject({
    status: 'False',
    reason: 'Progressing',
    message: 'Box a: warming up',
  })
  expect(await world.condition('Ready')).toMatchObject({ status: 'False' })
  await boxStatus(world, 'a', true)
  expect(await world.condition()).toMatchObject({ status: 'True' })
  expect(await world.condition('Ready')).toMatchObject({ status: 'True' })
})

test('A12: a minute without outside change is a minute without a write', async () => {
  await using world = await ChildWorld.start(sites(oneForEach, { resyncMs: 10_000 }))
  await world.site('a', { names: ['x', 'y', 'z'], text: 'hello' })
  world.writes.length = 0
  await world.settle(60_000)
  expect(world.writes).toEqual([])
})

test('A12: what the server writes its own way costs one apply after a start, not one in every run', async () => {
  await using world = await ChildWorld.start(
    sites(
      async (_, { children }) => {
        await children.apply(ConfigMap, { metadata: { name: 'x' }, data: { a: '1' }, binaryData: {} } as never)
      },
      { resyncMs: 5000 },
    ),
  )
  await world.site()
  await world.settle(30_000)
  expect(world.writes.filter((line) => line.includes('configmaps')).length).toBeLessThanOrEqual(2)
})

test('A13: the moment of a row moves only when its state does', async () => {
  await using world = await ChildWorld.start(oneBox)
  await world.site()
  await boxStatus(world, 'a', false)
  const [first] = (await world.rows()) as [ChildReport]
  await world.settle(10_000)
  const box = await world.client.get(Box, { name: 'a', ...place })
  await world.client.patch(box, { metadata: { labels: { touched: 'yes' } } })
  await world.settle()
  expect((await world.rows())[0]?.lastTransitionTime).toBe(first.lastTransitionTime)
  await boxStatus(world, 'a', true)
  expect((await world.rows())[0]?.lastTransitionTime).not.toBe(first.lastTransitionTime)
})

test('A14: appliedForGeneration follows only when the apply went through', async () => {
  await using world = await ChildWorld.start(oneBox)
  await world.site('a', { text: 'one' })
  let isRefusing = true
  world.between = async (request, next) => {
    if (isRefusing && request.method === 'PATCH' && request.target.includes('/boxes/'))
      return next({ ...request, target: request.target.replace('/boxes/', '/nothing/') })
    return next(request)
  }
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: 'two' } })
  await world.settle()
  expect(await world.rows()).toMatchObject([{ appliedForGeneration: 1, state: 'Failed', reason: 'KindNotInstalled' }])
  expect(await world.condition()).toMatchObject({ status: 'False', reason: 'Failed' })
  isRefusing = false
  await world.settle(5000)
  expect(await world.rows()).toMatchObject([{ appliedForGeneration: 2, generation: 2, state: 'Ready' }])
})

test('ready: a function or an expression says when a child is ready; one that fails says that it is not', async () => {
  // Read from the disk the first time, for which simulated time does not wait.
  await loadClaimsEngine()
  await using world = await ChildWorld.start(
    sites(async (site, { children }) => {
      await children.apply(
        ConfigMap,
        { metadata: { name: 'f' }, data: { a: site.spec.text ?? '' } },
        { ready: ({ data }) => data?.['a'] === 'go' },
      )
      await children.apply(
        ConfigMap,
        { metadata: { name: 'e' }, data: { a: site.spec.text ?? '' } },
        { ready: 'object.data.a == "go"' },
      )
      await children.apply(ConfigMap, { metadata: { name: 'm' } }, { ready: 'object.status.phase == "Bound"' })
    }),
  )
  await world.site('a', { text: 'stop' })
  const states = async (): Promise<readonly string[]> =>
    (await world.rows()).map(({ name, state, reason }) => `${name} ${state} ${reason ?? ''}`)
  expect(await states()).toEqual(['e Progressing NotReady', 'f Progressing NotReady', 'm Progressing RuleFailed'])
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: 'go' } })
  await world.settle()
  expect(await states()).toEqual(['e Ready ', 'f Ready ', 'm Progressing RuleFailed'])
})

test('waitFor: what comes after is made when the child before is ready, and nothing is taken away meanwhile', async () => {
  await using world = await ChildWorld.start(
    sites(
      async (_, { children, status }) => {
        const box = children.waitFor(
          await children.apply(Box, { spec: {} }, { ready: ({ status: box }) => box?.ready === true }),
        )
        await children.apply(ConfigMap, { data: { box: box.metadata.name } })
        status.set({ phase: 'done' })
      },
      { owns: [ConfigMap, Box] },
    ),
  )
  await world.site()
  expect(await world.configMap('a')).toBeUndefined()
  expect(await world.condition()).toMatchObject({ status: 'False', reason: 'Progressing' })
  await world.client.patchStatus(await world.client.get(Box, { name: 'a', ...place }), { ready: true })
  await world.settle()
  expect(await world.configMap('a')).toBeDefined()
  expect(await world.condition()).toMatchObject({ status: 'True' })
  await world.client.patchStatus(await world.client.get(Box, { name: 'a', ...place }), { ready: false })
  await world.settle()
  expect(await world.configMap('a')).toBeDefined()
  expect(await world.condition()).toMatchObject({
    status: 'False',
    message: expect.stringContaining('Box a') as string,
  })
  expect(world.errors).toEqual([])
})

test('with more than a hundred children the status has those that are not ready, and counts', async () => {
  await using world = await ChildWorld.start(
    sites(async (_, { children }) => {
      const names = Array.from({ length: 120 }, (_one, index) => `n${String(index).padStart(3, '0')}`)
      await children.declare(names.map((name) => [ConfigMap, { metadata: { name } }, { ready: () => name !== 'n119' }]))
    }),
  )
  await world.site()
  await world.settle()
  const { status } = await world.client.get(Site, { name: 'a', ...place })
  expect(status?.children).toHaveLength(100)
  expect(status?.children?.some(({ name }) => name === 'n119')).toBe(true)
  expect(status?.childCounts).toEqual([{ group: '', kind: 'ConfigMap', total: 120, ready: 119 }])
  world.writes.length = 0
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { metadata: { labels: { x: 'y' } } })
  await world.settle()
  expect(world.writes).toEqual([])
})

test('A31, D8: while the parent is being deleted ChildrenReady is never True, and no child is made', async () => {
  const complaints: string[] = []
  await using world = await ChildWorld.start(
    sites(oneForEach, {
      cleanup: async (site, { children }) => {
        await children.apply(ConfigMap, { metadata: { name: 'late' } }).catch((error: unknown) => {
          complaints.push((error as Error).message)
        })
        return site.spec.text === 'go' ? undefined : { park: 'go' }
      },
    }),
  )
  await world.site('a', { names: ['x'] })
  expect(await world.condition()).toMatchObject({ status: 'True' })
  await world.client.delete(await world.client.get(Site, { name: 'a', ...place }))
  await world.settle()
  expect(await world.condition()).toMatchObject({ status: 'False', reason: 'Terminating' })
  expect(complaints[0]).toContain('is being deleted, and its children with it')
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: 'go' } })
  await world.settle()
  expect(await world.client.find(Site, { name: 'a', ...place })).toBeUndefined()
  expect(await world.configMap('x')).toBeUndefined()
})

test('F7b: a child that only the first run applies is followed, over a restart, without a read or another write', async () => {
  const declaration = sites(
    async (site, { children }) => {
      if (site.spec.text === 'make') await children.apply(Box, { spec: {} }, { prune: false })
    },
    { owns: [Box], resyncMs: 5000 },
  )
  await using world = await ChildWorld.start(declaration)
  await world.site('a', { text: 'make' })
  await boxStatus(world, 'a', false)
  expect(await world.condition()).toMatchObject({ status: 'False', message: 'Box a: warming up' })
  await world.client.patch(await world.client.get(Site, { name: 'a', ...place }), { spec: { text: '' } })
  await boxStatus(world, 'a', true)
  expect(await world.condition()).toMatchObject({ status: 'True', message: '1 child is ready' })
  await world.stopManager()
  await boxStatus(world, 'a', false)
  world.run()
  await world.settle()
  expect(await world.condition()).toMatchObject({ status: 'False', message: 'Box a: warming up' })
  const reads: string[] = []
  world.between = (request, next) => {
    if (request.method === 'GET' && !request.target.includes('watch=')) reads.push(request.target)
    return next(request)
  }
  world.writes.length = 0
  await world.settle(30_000)
  expect([world.writes, reads]).toEqual([[], []])
  await world.client.delete(await world.client.get(Box, { name: 'a', ...place }))
  await world.settle()
  expect(await world.condition()).toMatchObject({ status: 'True', message: '0 children are ready' })
  expect(await world.rows()).toEqual([])
})
