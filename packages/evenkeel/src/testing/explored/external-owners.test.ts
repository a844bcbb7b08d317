/**
 * Whose a shape is: B5, B6, B8 to B12, B34, B35, B39, and G3, G4, G8.
 */
import { expect, test } from 'vitest'
import { defineKind } from '#api'
import { ExternalRef, ExternalSweep } from '#verbs'
import type { ExternalSweepObject } from '#verbs'
import { startShapes } from './shapes-world.fixture.ts'
import type { ShapesWorld } from './shapes-world.fixture.ts'
import { Shape, capabilitySets } from './shapes.fixture.ts'

async function sweepOf(world: ShapesWorld): Promise<ExternalSweepObject | undefined> {
  return world.client.find(ExternalSweep, { name: 'shapes-here-shape' })
}

async function confirm(world: ShapesWorld, hash: string): Promise<void> {
  const sweep = await sweepOf(world)
  if (sweep) await world.client.patch(sweep, { metadata: { annotations: { 'external.evenkeel.dev/confirm': hash } } })
}

test('B5 G3 a foreign shape is left alone over 100 sweeps', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  world.service.put('theirs', { color: 'pink', size: 9 })
  await world.advance(100 * 60_000)
  expect(world.service.shapes.get('theirs')).toEqual({ color: 'pink', size: 9 })
  expect(world.service.count('list')).toBeGreaterThan(90)
  expect(await sweepOf(world)).toBeUndefined()
})

test('B6 exclusive use: listed first, deleted after somebody agreed to this very list', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { use: 'exclusive', scope: 'everything' },
  })
  await world.create()
  await world.synced()
  world.service.put('theirs', { color: 'pink', size: 9 })
  await world.advance(100_000)
  const question = (await sweepOf(world))?.report.questions[0]
  expect(question).toMatchObject({ what: 'deleteForeign', count: 1, ids: ['theirs'] })
  world.service.put('another', { color: 'pink', size: 9 })
  await world.advance(100_000)
  await confirm(world, question?.hash ?? '')
  await world.advance(100_000)
  expect(world.service.shapes.size).toBe(3)
  await confirm(world, (await sweepOf(world))?.report.questions[0]?.hash ?? '')
  await world.until(() => world.service.shapes.size === 1, 1000)
  expect([...world.service.shapes.keys()]).toEqual(['shape-1'])
  await world.until(async () => (await sweepOf(world))?.report.questions.length === 0, 100_000)
})

test.each([
  ['sealed marks: removed', { secret: 's' }, 0],
  ['the policy delete: removed', { orphans: 'delete' as const }, 0],
  ['neither: reported', {}, 1],
])('B8 G4 a shape whose object went without its cleanup is found by a sweep; %s', async (_, options, left) => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, options, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  first.kill()
  await world.force()
  world.start()
  await world.advance(70_000)
  expect(world.service.shapes.size).toBe(left)
  expect((await sweepOf(world))?.report.orphans ?? []).toEqual(left === 0 ? [] : ['shape-1'])
})

test('objects that this controller does not see are no leftovers', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, options: { secret: 's' }, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  await first.stop()
  world.start({ declaration: { labelSelector: 'mine=true' } })
  await world.advance(200_000)
  expect(world.service.shapes.size).toBe(1)
  expect(await sweepOf(world)).toBeUndefined()
})

test('B8 names of ours without marks are found as well', async () => {
  await using world = await startShapes({
    capabilities: { ids: 'deterministic' },
    driver: { list: true },
    options: { orphans: 'delete' },
  })
  await world.create('a')
  await world.create('b')
  await world.synced('a')
  await world.synced('b')
  world.service.put('ek-other-0123456789abcde', { color: 'red', size: 1 })
  await world.force('a')
  await world.advance(70_000)
  expect(world.service.shapes.size).toBe(2)
})

test('B9 forged marks of an object that never was: suspicious, and not deleted', async () => {
  await using world = await startShapes({
    capabilities: capabilitySets.S2,
    options: { secret: 's', orphans: 'delete' },
  })
  await world.create()
  await world.synced()
  world.service.put('forged', {
    color: 'red',
    size: 1,
    labels: {
      instance: 'here',
      kind: 'Shape.shapes.example.com',
      namespace: 'default',
      name: 'nobody',
      uid: 'u-1',
      version: '1',
    },
  })
  await world.advance(70_000)
  expect((await sweepOf(world))?.report.suspicious).toEqual(['forged'])
  expect(world.service.shapes.has('forged')).toBe(true)
})

test('B10 marks copied from a living object: a duplicate is said, and neither is deleted without a policy', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  world.service.put('copy', { color: 'red', size: 1, labels: world.service.shapes.get('shape-1')?.labels })
  await world.advance(70_000)
  expect(await world.condition('Owned')).toBe('False Duplicate')
  expect((await world.conditionOf('Owned'))?.message).toContain('shape-1, copy')
  await world.advance(600_000)
  expect(world.service.shapes.size).toBe(2)
  expect(world.service.count('update')).toBe(0)
  await world.annotate({ duplicates: 'delete' })
  await world.until(async () => (await world.condition('Owned')) === 'True Labelled', 100_000)
  expect([...world.service.shapes.keys()]).toEqual(['shape-1'])
})

test("B11 two installations on one account never touch each other's shapes", async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, options: { orphans: 'delete' } })
  await using other = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  await other.create()
  await other.synced()
  // The other cluster's shapes in this one's account, under an instance of their own.
  const theirs = { ...(other.service.shapes.get('shape-1')?.labels as object), instance: 'there' }
  world.service.put('theirs', { color: 'blue', size: 3, labels: theirs })
  await world.advance(600_000)
  expect(world.service.shapes.get('theirs')).toEqual({ color: 'blue', size: 3, labels: theirs })
  await world.client.delete(await world.get())
  await world.gone()
  expect([...world.service.shapes.keys()]).toEqual(['theirs'])
})

test('B12 G8 marks that somebody took off: not ours any more, choices are offered, nothing is deleted', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  world.service.put('shape-1', { color: 'green', size: 1 })
  await world.advance(70_000)
  expect(await world.condition('Owned')).toBe('False OwnershipLabelsMissing')
  expect((await world.conditionOf('Owned'))?.message).toMatch(/resolve=adopt:ID or recreate:[-0-9a-f]+/)
  expect(['create', 'update', 'remove'].map((operation) => world.service.count(operation as 'create'))).toEqual([
    1, 0, 0,
  ])
  await world.client.delete(await world.get())
  await world.until(async () => (await world.condition('Synced')) === 'False OwnershipLabelsMissing')
  await world.advance(600_000)
  expect(world.service.shapes.size).toBe(1)
  await world.annotate({ resolve: 'adopt:shape-1' })
  await world.gone()
  expect(world.service.shapes.size).toBe(0)
})

test('B34 a tracking object that somebody deletes stays until its shape is gone', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4 })
  await world.create()
  await world.synced()
  const [ref] = (await world.client.list(ExternalRef)).items
  expect(ref?.spec).toMatchObject({ phase: 'Created', id: 'shape-1', owner: { name: 'foo' } })
  expect(ref?.metadata.ownerReferences).toBeUndefined()
  if (ref) await world.client.delete(ref)
  await world.advance(100_000)
  await world.synced()
  expect(world.service.count('create')).toBe(1)
  await world.client.delete(await world.get())
  await world.gone()
  expect((await world.client.list(ExternalRef)).items).toEqual([])
  expect(world.service.shapes.size).toBe(0)
})

test('B34 one that is forced away: reported where there are no marks, rebuilt where there are', async () => {
  for (const [capabilities, isRebuilt] of [
    [capabilitySets.S4, false],
    [{ labels: 'afterCreate' }, true],
  ] as const) {
    await using world = await startShapes({ capabilities })
    await world.create()
    await world.synced()
    const [ref] = (await world.client.list(ExternalRef)).items
    if (ref) await world.client.delete(ref)
    if (ref) await world.client.patch(ref, { metadata: { finalizers: null } })
    await world.advance(100_000)
    expect(await world.condition('Owned')).toBe(isRebuilt ? 'True Tracked' : 'False Unproven')
    expect((await world.client.list(ExternalRef)).items.length).toBe(isRebuilt ? 1 : 0)
    expect(world.service.count('create')).toBe(1)
  }
})

test.each([
  ['never', 0, 'shape-2'],
  ['ifLabelled', 1, 'shape-1'],
] as const)(
  'B35 an object made again under the same name, adoption %s: one shape, and it is of the new one',
  async (adoption, _, id) => {
    await using world = await startShapes({
      capabilities: capabilitySets.S2,
      options: { secret: 's', policy: { adoption } },
      isStarted: false,
    })
    const first = world.start()
    await world.create()
    await world.synced()
    first.kill()
    await world.force()
    const {
      metadata: { uid },
    } = await world.create()
    world.start()
    await world.synced()
    await world.advance(150_000)
    expect([...world.service.shapes.keys()]).toEqual([id])
    expect(world.service.shapes.get(id)?.labels).toMatchObject({ uid })
    expect(await world.condition('Owned')).toBe('True Labelled')
  },
)

test('B35 with records: the old shape goes', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  first.kill()
  await world.force()
  await world.create()
  world.start()
  await world.synced()
  await world.until(() => world.service.shapes.size === 1, 100_000)
  expect([...world.service.shapes.keys()]).toEqual(['shape-2'])
})

test('B38 B39 a list that is empty by mistake: nothing is deleted, nothing is made, somebody is asked', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false })
  let isEmpty = false
  world.start({
    driven: (driver) => ({
      ...driver,
      async *list(query, call) {
        if (isEmpty) yield []
        else yield* driver.list?.(query, call) ?? []
      },
    }),
  })
  for (const name of ['a', 'b', 'c', 'd']) await world.create(name)
  for (const name of ['a', 'b', 'c', 'd']) await world.synced(name)
  isEmpty = true
  await world.advance(300_000)
  expect(['create', 'remove'].map((operation) => world.service.count(operation as 'create'))).toEqual([4, 0])
  const question = (await sweepOf(world))?.report.questions[0]
  expect(question).toMatchObject({
    what: 'recreateMissing',
    count: 4,
    ids: ['default/a', 'default/b', 'default/c', 'default/d'],
  })
  for (const id of ['shape-1', 'shape-2', 'shape-3']) world.service.drop(id)
  await confirm(world, question?.hash ?? '')
  await world.until(() => world.service.shapes.size === 4, 10_000)
})

test('B39 many things without an object: is this the right cluster?', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, options: { orphans: 'delete' } })
  for (let each = 0; each < 5; each++)
    world.service.put(`old-${each}`, {
      color: 'red',
      size: 1,
      labels: {
        instance: 'here',
        kind: 'Shape.shapes.example.com',
        namespace: 'default',
        name: `old-${each}`,
        uid: `u-${each}`,
        version: '1',
      },
    })
  await world.advance(300_000)
  expect(world.service.shapes.size).toBe(5)
  const question = (await sweepOf(world))?.report.questions[0]
  expect(question).toMatchObject({ what: 'deleteOrphans', count: 5 })
  await confirm(world, question?.hash ?? '')
  await world.until(() => world.service.shapes.size === 0, 10_000)
})

test('a driver that lies about its marks: nothing is touched, and there is no second create', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false })
  world.start({
    driven: (driver) => ({
      ...driver,
      create: (desired, call) => driver.create(desired, { ...call, labels: undefined as never }),
    }),
  })
  await world.create()
  await world.until(async () => (await world.condition('Owned')) === 'False OwnershipLabelsMissing')
  await world.advance(600_000)
  expect(world.service.count('create')).toBe(1)
})

test('a driver that lies about ids: no second create', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4, isStarted: false })
  world.start({
    driven: (driver) => ({
      ...driver,
      create: async (desired, call) => ({ id: `not-${(await driver.create(desired, call)).id}` }),
    }),
  })
  await world.create()
  await world.until(async () => (await world.condition('Synced')) === 'False CreateOutcomeUnknown', 100_000)
  await world.advance(600_000)
  expect(world.service.count('create')).toBe(1)
})

test('a kind without room in its status: records do, and conditions say it', async () => {
  const Plain = defineKind({
    group: Shape.group,
    version: 'v1',
    kind: 'Shape',
    spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } } as const,
    status: { type: 'object', properties: {} } as const,
  })
  await using world = await startShapes({ capabilities: capabilitySets.S2, kind: Plain as unknown as typeof Shape })
  await world.create()
  await world.synced()
  expect((await world.get()).status?.external).toBeUndefined()
  expect((await world.client.list(ExternalRef)).items).toHaveLength(1)
  await world.client.delete(await world.get())
  await world.gone()
  expect(world.service.shapes.size).toBe(0)
  expect((await world.client.list(ExternalRef)).items).toEqual([])
})

test('S4: an id that could not be written down at once is not forgotten', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4, isStarted: false })
  // Somebody writes on the ref between the create and the answer.
  world.start({
    driven: (driver) => ({
      ...driver,
      create: async (desired, call) => {
        const made = await driver.create(desired, call)
        const [ref] = (await world.client.list(ExternalRef)).items
        if (ref) await world.client.patch(ref, { metadata: { labels: { touched: 'yes' } } })
        return made
      },
    }),
  })
  await world.create()
  await world.synced()
  expect((await world.client.list(ExternalRef)).items[0]?.spec).toMatchObject({ id: 'shape-1', phase: 'Created' })
})
