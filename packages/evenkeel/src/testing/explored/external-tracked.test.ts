/**
 * Tracking objects by choice, creates that can be called off, and records of objects that have changed meanwhile.
 */
import { expect, test } from 'vitest'
import { ExternalRef } from '#verbs'
import type { Driver } from '#verbs'
import { startShapes } from './shapes-world.fixture.ts'
import type { ShapesWorld } from './shapes-world.fixture.ts'
import { capabilitySets } from './shapes.fixture.ts'
import type { ShapeBody, ShapeObject } from './shapes.fixture.ts'

type ShapesDriver = Driver<ShapeObject, ShapeBody, ShapeBody>

const tracked = { capabilities: capabilitySets.S3, options: { track: true } } as const

async function refs(world: ShapesWorld): Promise<readonly { readonly phase: string; readonly id?: string }[]> {
  return (await world.client.list(ExternalRef)).items.map(({ spec }) => spec)
}

/** With a way to call a create off; notes which were. */
function canceling(world: ShapesWorld, canceled: string[]): (driver: ShapesDriver) => ShapesDriver {
  return (driver) => ({
    ...driver,
    cancel(key) {
      canceled.push(key)
      for (const id of [...world.service.shapes.keys()]) world.service.drop(id)
      return Promise.resolve()
    },
  })
}

test('track: a record although the status could remember; a lost answer is asked for again under the same token', async () => {
  await using world = await startShapes({ ...tracked, isStarted: false })
  world.service.failNext('create', { isDone: true })
  world.start()
  await world.create()
  await world.synced()
  expect(world.service.shapes.size).toBe(1)
  expect(world.service.count('create')).toBe(2)
  expect(await refs(world)).toMatchObject([{ phase: 'Created', id: 'shape-1' }])
})

test('track: an object that was forced away takes its thing along', async () => {
  await using world = await startShapes(tracked)
  await world.create()
  await world.synced()
  await world.force()
  await world.until(async () => world.service.shapes.size === 0 && (await refs(world)).length === 0)
})

test('cancel: after a crash in the middle of a create a deletion calls it off, at once and without another create', async () => {
  await using world = await startShapes({ ...tracked, isStarted: false })
  const first = world.start({ onStep: (step) => step === 'after create' })
  const {
    metadata: { uid },
  } = await world.create()
  await world.until(() => first.isDead)
  await world.client.delete(await world.get())
  const canceled: string[] = []
  world.start({ driven: canceling(world, canceled) })
  await world.gone('foo', 5000)
  expect(canceled).toEqual([`${uid ?? ''}-1`])
  expect(world.service.count('create')).toBe(1)
  expect([world.service.shapes.size, (await refs(world)).length]).toEqual([0, 0])
})

test('cancel: the same for an object that was forced away', async () => {
  await using world = await startShapes({ ...tracked, isStarted: false })
  const first = world.start({ onStep: (step) => step === 'after create' })
  await world.create()
  await world.until(() => first.isDead)
  await world.force()
  const canceled: string[] = []
  world.start({ driven: canceling(world, canceled) })
  await world.until(async () => (await refs(world)).length === 0)
  expect(canceled).toHaveLength(1)
  expect(world.service.shapes.size).toBe(0)
})

test('S4: nothing is made for an object that is deleted while its record is written, and nobody has to be asked', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4, isStarted: false })
  const object = await world.create()
  let deleting: Promise<unknown> | undefined
  world.start({
    onStep(step) {
      if (step.startsWith('before POST') && step.includes('externalrefs')) deleting ??= world.client.delete(object)
      return false
    },
  })
  await world.until(() => deleting !== undefined)
  await deleting
  await world.gone()
  expect(world.service.count('create')).toBe(0)
  expect(await refs(world)).toEqual([])
})
