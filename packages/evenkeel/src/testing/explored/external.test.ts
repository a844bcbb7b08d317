/**
 * One object and its shape: B1 to B5, B7, B26 to B30, B36 to B38, B40, and the guarantees they stand for.
 */
import { expect, test } from 'vitest'
import { ExternalError, ExternalRef } from '#verbs'
import { startShapes } from './shapes-world.fixture.ts'
import { capabilitySets } from './shapes.fixture.ts'

test.each(Object.entries(capabilitySets))(
  'B1 %s: a shape is made with marks, and the status has its id',
  async (strategy, capabilities) => {
    await using world = await startShapes({ capabilities })
    await world.create()
    await world.synced()
    const { status } = await world.get()
    expect(world.service.shapes.size).toBe(1)
    const [[id, shape] = []] = world.service.shapes
    expect(status?.external).toMatchObject({
      id,
      strategy,
      observedGeneration: 1,
      lastCreateAttempt: { number: 1, outcome: 'Created' },
    })
    expect(shape).toMatchObject({ color: 'red', size: 1 })
    if ('labels' in capabilities)
      expect(shape?.labels).toMatchObject({
        instance: 'here',
        kind: 'Shape.shapes.example.com',
        namespace: 'default',
        name: 'foo',
      })
    expect(await world.condition('Ready')).toBe('True Ready')
  },
)

test('B2 a change of the spec changes the shape in place', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  await world.client.patch(await world.get(), { spec: { color: 'blue' } })
  await world.until(() => world.service.shapes.get('shape-1')?.color === 'blue')
  await world.until(async () => (await world.get()).status?.external?.observedGeneration === 2)
  expect(world.service.count('create')).toBe(1)
  expect(await world.condition('Drifted')).toBe('False AsDesired')
})

test('B3 G5 a shape that somebody deleted is made again: at once with a watch', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, driver: { watch: true } })
  await world.create()
  await world.synced()
  world.service.drop('shape-1')
  await world.until(() => world.service.shapes.size === 1, 100)
  await world.until(async () => (await world.get()).status?.external?.id === 'shape-2', 100)
  expect((await world.get()).status?.external?.lastCreateAttempt?.number).toBe(2)
})

test.each([
  ['with a list', capabilitySets.S2],
  ['look by look', capabilitySets.S3],
])('B3 G5 without a watch it is made again within the poll interval, %s', async (_, capabilities) => {
  await using world = await startShapes({ capabilities })
  await world.create()
  await world.synced()
  world.service.drop('shape-1')
  await world.advance(50_000)
  expect(world.service.shapes.size).toBe(0)
  await world.advance(20_000)
  expect(world.service.shapes.size).toBe(1)
})

test('B4 a shape that somebody recoloured is put right', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  const { labels } = world.service.shapes.get('shape-1') ?? {}
  world.service.put('shape-1', { color: 'green', size: 1, labels })
  await world.advance(70_000)
  expect(world.service.shapes.get('shape-1')?.color).toBe('red')
  expect((await world.get()).status?.external?.drift?.lastRevertedTime).toBeDefined()
})

test('B4 the policy report says so and touches nothing; ignore says nothing', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { policy: { drift: 'report', driftPaths: { size: 'ignore' } } },
  })
  await world.create()
  await world.synced()
  const { labels } = world.service.shapes.get('shape-1') ?? {}
  world.service.put('shape-1', { color: 'red', size: 7, labels })
  await world.advance(70_000)
  expect(await world.condition('Drifted')).toBe('False AsDesired')
  world.service.put('shape-1', { color: 'green', size: 7, labels })
  await world.advance(70_000)
  expect(await world.condition('Drifted')).toBe('True Drifted')
  expect(await world.condition('Synced')).toBe('False Drifted')
  expect((await world.get()).status?.external?.drift).toMatchObject({ paths: ['color'], count: 1 })
  expect(world.service.count('update')).toBe(0)
  const calls = world.service.count('observe')
  await world.advance(600_000)
  expect(world.service.count('observe')).toBe(calls)
})

test('B7 an object that was deleted while nobody ran: its shape goes when somebody does', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  await first.stop()
  await world.client.delete(await world.get())
  await world.advance(600_000)
  expect(world.service.shapes.size).toBe(1)
  world.start()
  await world.gone()
  expect(world.service.shapes.size).toBe(0)
})

test('B26 G2 a system that can say nothing, and a lost answer: CreateOutcomeUnknown, and no second create until somebody answers', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4 })
  world.service.failNext('create', { isDone: true })
  await world.create()
  await world.until(async () => (await world.condition('Synced')) === 'False CreateOutcomeUnknown')
  await world.advance(3_600_000)
  expect(world.service.count('create')).toBe(1)
  expect(await world.condition('Owned')).toBe('False CreateOutcomeUnknown')
  await world.annotate({ resolve: 'adopt:shape-1' })
  await world.synced()
  expect(world.service.shapes.size).toBe(1)
  await world.client.delete(await world.get())
  await world.gone()
  expect(world.service.shapes.size).toBe(0)
})

test('B26 the other answer makes another one, and answers no later question', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4 })
  world.service.failNext('create')
  await world.create()
  await world.until(async () => (await world.condition('Synced')) === 'False CreateOutcomeUnknown')
  const key = (await world.get()).status?.external?.lastCreateAttempt?.key ?? ''
  world.service.failNext('create')
  await world.annotate({ resolve: `recreate:${key}` })
  await world.until(async () => (await world.get()).status?.external?.lastCreateAttempt?.number === 2)
  await world.advance(600_000)
  expect(await world.condition('Synced')).toBe('False CreateOutcomeUnknown')
  expect(world.service.count('create')).toBe(2)
})

test('a create that is refused is tried again, and a person need not answer', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4 })
  world.service.failNext('create', { error: new ExternalError('no more shapes today', { status: 403 }) })
  await world.create()
  await world.synced()
  expect(world.service.shapes.size).toBe(1)
  expect((await world.get()).status?.external?.lastCreateAttempt).toMatchObject({ number: 1, outcome: 'Created' })
})

test.each(Object.entries(capabilitySets))(
  'a create that is refused for ever does not run hot: %s',
  async (_, capabilities) => {
    await using world = await startShapes({ capabilities })
    for (let each = 0; each < 10_000; each++)
      world.service.failNext('create', { error: new ExternalError('no more shapes today', { status: 403 }) })
    await world.create()
    await world.until(async () => (await world.condition('Synced')) === 'False CreateFailed')
    await world.advance(10_000)
    const {
      metadata: { resourceVersion },
    } = await world.get()
    const tries = world.service.count('create')
    await world.advance(600_000)
    expect((await world.get()).metadata.resourceVersion).toBe(resourceVersion)
    expect(world.service.count('create') - tries).toBeLessThan(10)
  },
)

test.each(Object.entries(capabilitySets))(
  'B27 %s: a shape that is shown only after 10 s is made once',
  async (_, capabilities) => {
    await using world = await startShapes({
      capabilities: { ...capabilities, consistencyWindowMs: 10_000 },
      service: { showsAfterMs: 9000 },
    })
    await world.create()
    await world.until(async () => (await world.condition('Synced')) === 'False Settling')
    await world.synced('foo', 30_000)
    expect(world.service.shapes.size).toBe(1)
    expect(world.service.count('create')).toBe(1)
  },
)

test('B28 G9 a delete that takes 30 s: the finalizer stays, a condition tells, and then it goes', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, service: { deletesAfterMs: 30_000 } })
  await world.create()
  await world.synced()
  await world.client.delete(await world.get())
  await world.until(async () => (await world.condition('Synced')) === 'False Deleting')
  await world.advance(20_000)
  expect((await world.get()).metadata.finalizers).toEqual(['external.evenkeel.dev/shapes'])
  expect((await world.conditionOf('Ready'))?.status).toBe('False')
  expect(world.service.count('remove')).toBe(1)
  await world.gone('foo', 60_000)
  expect(world.service.shapes.size).toBe(0)
})

test('B29 a delete that finds nothing is done', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4 })
  await world.create()
  await world.synced()
  world.service.shapes.clear()
  await world.client.delete(await world.get())
  await world.gone()
  expect((await world.client.list(ExternalRef)).items).toEqual([])
})

test('B30 G7 a system that is down: a deletion waits visibly, and recovers without a restart', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  world.service.isDown = true
  await world.client.delete(await world.get())
  await world.until(async () => (await world.condition('Synced')) === 'False Deleting')
  const calls = world.service.calls.length
  await world.advance(600_000)
  // Left alone for longer and longer, a minute at most.
  expect(world.service.calls.length - calls).toBeLessThan(40)
  world.service.isDown = false
  await world.gone('foo', 1_000_000)
  expect(world.service.shapes.size).toBe(0)
})

test('B30 the forced way: the shape that is left is found, and said', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  world.service.isDown = true
  await world.force()
  world.service.isDown = false
  await world.advance(200_000)
  expect(world.service.shapes.size).toBe(1)
  expect(world.logs.some(({ message }) => message.includes('but no object'))).toBe(true)
})

test('B36 adoption by id: taken over without a write when it is equal', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { policy: { adoption: 'explicitId' } },
  })
  world.service.put('old', { color: 'red', size: 1 })
  await world.create('foo', {}, { adopt: 'old' })
  await world.synced()
  expect((await world.get()).status?.external).toMatchObject({ id: 'old', lastCreateAttempt: { outcome: 'Adopted' } })
  expect(['create', 'update', 'mark', 'remove'].map((operation) => world.service.count(operation as 'create'))).toEqual(
    [0, 0, 0, 0],
  )
})

test('B36 with a difference it is changed only if that is allowed', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { policy: { adoption: 'explicitId' } },
  })
  world.service.put('old', { color: 'green', size: 1 })
  await world.create('foo', {}, { adopt: 'old', manage: 'observe,adopt' })
  await world.until(async () => (await world.condition('Synced')) === 'False UpdateNotAllowed')
  expect(world.service.shapes.get('old')?.color).toBe('green')
  await world.annotate({ manage: null })
  await world.synced()
  expect(world.service.shapes.get('old')?.color).toBe('red')
})

test('B36 without the policy nothing is taken over', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  world.service.put('old', { color: 'red', size: 1 })
  await world.create('foo', {}, { adopt: 'old' })
  await world.synced()
  expect((await world.get()).status?.external?.id).toBe('shape-1')
})

test('B37 deletion orphan: the shape stays, and its marks say that nobody looks after it', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { policy: { deletion: 'orphan' } },
  })
  await world.create()
  await world.synced()
  await world.client.delete(await world.get())
  await world.gone()
  expect(world.service.shapes.get('shape-1')?.labels).toMatchObject({ state: 'orphaned' })
})

test('B38 G6 credentials are revoked: not in sync, with the age of the last look', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S3 })
  await world.create()
  await world.synced()
  for (let each = 0; each < 1000; each++)
    world.service.failNext('observe', { error: new ExternalError('who are you?', { status: 401 }) })
  await world.advance(65_000)
  // One failed look says little; a look not long ago says more.
  expect(await world.condition('Synced')).toBe('True Synced')
  await world.advance(120_000)
  const synced = await world.conditionOf('Synced')
  expect(synced).toMatchObject({ status: 'False', reason: 'ObserveFailed' })
  expect(synced?.message).toMatch(/last observed at .*who are you/)
  expect(world.service.shapes.size).toBe(1)
  expect(world.service.count('remove')).toBe(0)
})

test('B38 G6 with a list: a system that cannot be asked for long is said so on every object, and that it is back', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  world.service.isDown = true
  await world.advance(100_000)
  expect(await world.condition('Synced')).toBe('True Synced')
  await world.advance(200_000)
  expect((await world.conditionOf('Synced'))?.status).toBe('False')
  expect((await world.conditionOf('Synced'))?.message).toContain('cannot observe the resource in shapes')
  world.service.isDown = false
  await world.synced('foo', 100_000)
  expect(world.service.count('create')).toBe(1)
})

test('B36 a thing to be taken over that is not there: waited for, and no other one is made', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { policy: { adoption: 'explicitId' } },
  })
  await world.create('foo', {}, { adopt: 'old' })
  await world.until(async () => (await world.condition('Synced')) === 'False AdoptionPending')
  await world.advance(100_000)
  expect(world.service.count('create')).toBe(0)
  world.service.put('old', { color: 'red', size: 1 })
  await world.synced('foo', 100_000)
})

test('B40 paused: looked at, said, and not touched', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  await world.annotate({ paused: 'true' })
  const { labels } = world.service.shapes.get('shape-1') ?? {}
  world.service.put('shape-1', { color: 'green', size: 1, labels })
  await world.until(async () => (await world.condition('Synced')) === 'False Paused', 100_000)
  expect(await world.condition('Drifted')).toBe('True Drifted')
  expect(world.service.count('update')).toBe(0)
  await world.annotate({ paused: null })
  await world.synced()
  expect(world.service.shapes.get('shape-1')?.color).toBe('red')
})

test('a policy that is not understood: nothing is done, and the condition says what', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create('foo', {}, { deletion: 'perhaps' })
  await world.until(async () => (await world.condition('Synced')) === 'False InvalidPolicy')
  expect(world.service.count('create')).toBe(0)
  expect((await world.conditionOf('Synced'))?.message).toContain(
    'deletion must be one of delete, orphan, got "perhaps"',
  )
})

test('G1 the finalizer and the intent are durable before the first create', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false })
  const process = world.start()
  await world.create()
  await world.synced()
  const effects = process.steps.filter((step) => step.startsWith('after ') && !step.endsWith('observe'))
  expect(effects.slice(0, 3)).toEqual(['after PATCH shapes/foo', 'after PATCH foo/status', 'after create'])
})

test('G6 quiescence: nothing is written while nothing changes, and the time of the last look once in a while', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S3, options: { maxAgeMs: 1_800_000 } })
  await world.create()
  await world.synced()
  const {
    metadata: { resourceVersion },
    status,
  } = await world.get()
  await world.advance(1_500_000)
  expect((await world.get()).metadata.resourceVersion).toBe(resourceVersion)
  await world.advance(400_000)
  const later = await world.get()
  expect(later.metadata.resourceVersion).not.toBe(resourceVersion)
  expect(later.status?.external?.lastObservedTime).not.toBe(status?.external?.lastObservedTime)
  expect(later.status?.conditions).toEqual(status?.conditions)
})
