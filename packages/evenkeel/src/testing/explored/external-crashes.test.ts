/**
 * The process dies at every point at which it has an effect, and another one takes over: B13 to B25.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileCheckpoint } from '#verbs'
import type { Checkpoint } from '#verbs'
import { startShapes } from './shapes-world.fixture.ts'
import type { Process, ShapesWorld } from './shapes-world.fixture.ts'
import { capabilitySets, Shape } from './shapes.fixture.ts'

type Strategy = keyof typeof capabilitySets | 'S5'

interface Played {
  readonly steps: readonly string[]
  /** The most shapes that there ever were. */
  readonly most: number
  readonly wasAsked: boolean
}

/** A shape is wished for, recoloured and given up, and the process dies where `isLast` says so. */
async function play(
  strategy: Strategy,
  isLast: (step: string, index: number) => boolean,
  { checkpoint }: { checkpoint?: () => Checkpoint } = {},
): Promise<Played> {
  await using world = await startShapes({
    capabilities: strategy === 'S5' ? {} : capabilitySets[strategy],
    isStarted: false,
    options: { callTimeoutMs: 500 },
  })
  const options = (): { options?: { checkpoint: Checkpoint } } =>
    checkpoint ? { options: { checkpoint: checkpoint() } } : {}
  let index = 0
  const first = world.start({ ...options(), onStep: (step) => isLast(step, index++) })
  const life: Life = { world, first, most: 0, wasAsked: false, revive: () => world.start(options()) }
  await world.create()
  await processes(life, async () => (await world.condition('Synced')) === 'True Synced')
  expect(world.service.shapes.size).toBe(1)
  await world.client.patch(await world.get(), { spec: { color: 'blue' } })
  await processes(
    life,
    async () =>
      (await world.get()).status?.observedGeneration === 2 && (await world.condition('Synced')) === 'True Synced',
  )
  expect([...world.service.shapes.values()].map(({ color }) => color)).toEqual(['blue'])
  await world.client.delete(await world.get())
  await processes(life, async () => (await world.find()) === undefined)
  expect(world.service.shapes.size).toBe(0)
  return { steps: first.steps, most: life.most, wasAsked: life.wasAsked }
}

interface Life {
  readonly world: ShapesWorld
  readonly first: Process
  readonly revive: () => Process
  second?: Process
  most: number
  wasAsked: boolean
}

/** Goes on until it is so; a person answers what nobody can know. */
async function processes(life: Life, isSo: () => Promise<boolean>): Promise<void> {
  const { world, first } = life
  await world.until(async () => {
    if (first.isDead && !life.second) life.second = life.revive()
    life.most = Math.max(life.most, world.service.shapes.size)
    const object = await world.find()
    const synced = object && (await world.conditionOf('Synced'))
    if (object && synced?.reason === 'CreateOutcomeUnknown') {
      life.wasAsked = true
      const [id] = world.service.shapes.keys()
      const key = /attempt ([-0-9a-f]+)/.exec(synced.message)?.[1] ?? ''
      await world.annotate({
        resolve:
          id === undefined
            ? object.metadata.deletionTimestamp === undefined
              ? `recreate:${key}`
              : `orphan:${key}`
            : `adopt:${id}`,
      })
    }
    return isSo()
  }, 60_000)
}

test.each(['S1', 'S2', 'S3', 'S4'] as const)(
  'B13-B25 %s: wherever the process dies, there is exactly one shape, and none after the delete',
  async (strategy) => {
    const { steps } = await play(strategy, () => false)
    expect(steps.length).toBeGreaterThan(10)
    for (let at = 0; at < steps.length; at++) {
      const { most, wasAsked } = await play(strategy, (_, index) => index === at)
      expect({ at: steps[at], most }).toEqual({ at: steps[at], most: 1 })
      if (strategy !== 'S4') expect(wasAsked).toBe(false)
    }
  },
  480_000,
)

test('B13-B25 S5: wherever the process dies, there is exactly one shape, and none after the delete', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shapes-'))
  let file = 0
  try {
    // Every life of the process reads the file anew.
    const run = (isLast: Parameters<typeof play>[1]): Promise<Played> => {
      const path = join(folder, String(file++))
      return play('S5', isLast, { checkpoint: () => fileCheckpoint(path) })
    }
    const { steps } = await run(() => false)
    for (let at = 0; at < steps.length; at++)
      expect({ at: steps[at], most: (await run((_, index) => index === at)).most }).toEqual({ at: steps[at], most: 1 })
  } finally {
    await rm(folder, { recursive: true })
  }
}, 480_000)

const crashPoints: readonly (readonly [id: string, name: string, step: string])[] = [
  ['B13', 'K0 before the finalizer', 'before PATCH shapes/foo'],
  ['B14', 'K1 the finalizer is written', 'after PATCH shapes/foo'],
  ['B15', 'K2 the intent is written', 'after PATCH foo/status'],
  ['B16', 'K3 the create is about to be sent', 'before create'],
  ['B17', 'K4 the create was answered, the id not stored', 'after create'],
  ['B19', 'K6 the update was sent', 'after update'],
  ['B20', 'K7 the removal was sent', 'after remove'],
]

test.each(crashPoints)('%s %s: there is one shape, and none after the delete', async (_, __, step) => {
  let isDead = false
  const { most } = await play('S2', (each) => {
    const isHere = !isDead && each === step
    isDead ||= isHere
    return isHere
  })
  expect(isDead).toBe(true)
  expect(most).toBe(1)
})

test('B18 K5 the id is stored, the rest of the status is not: it is rebuilt from a look', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2 })
  await world.create()
  await world.synced()
  await world.client.patchStatus(await world.get(), { external: null, conditions: null } as never)
  await world.synced()
  expect((await world.get()).status?.external).toMatchObject({ id: 'shape-1', strategy: 'S2', observedGeneration: 1 })
  expect(world.service.count('create')).toBe(1)
})

test('B21 K8 the shape is gone and the finalizer is there: it is taken off', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S1, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  first.kill()
  await world.client.delete(await world.get())
  world.service.shapes.clear()
  world.start()
  await world.gone()
  expect(world.service.shapes.size).toBe(0)
})

test('B22 K9 the object is gone and its ExternalRef is left: the shape and the ref go', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S4, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  first.kill()
  await world.force()
  expect(world.service.shapes.size).toBe(1)
  world.start()
  await world.until(
    async () =>
      world.service.shapes.size === 0 &&
      (await world.client.list({ apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ExternalRef' })).items.length === 0,
  )
})

test('B23 K10 during a sweep: the next one does the same', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, isStarted: false, options: { secret: 'x' } })
  const first = world.start()
  for (const name of ['a', 'b']) await world.create(name)
  for (const name of ['a', 'b']) await world.synced(name)
  first.kill()
  await world.force('a')
  const second = world.start({ onStep: (step) => step === 'before remove' })
  await world.until(() => second.isDead)
  world.start()
  await world.until(() => world.service.shapes.size === 1)
  expect([...world.service.shapes.keys()]).toEqual(['shape-2'])
})

test('B24 K11 the cursor of a watch is lost: everything is listed', async () => {
  await using world = await startShapes({ capabilities: capabilitySets.S2, driver: { watch: true }, isStarted: false })
  const first = world.start()
  await world.create()
  await world.synced()
  first.kill()
  world.service.put('shape-1', { ...world.service.shapes.get('shape-1'), color: 'green', size: 1 })
  const before = world.service.count('list')
  world.start()
  await world.until(() => world.service.shapes.get('shape-1')?.color === 'red')
  expect(world.service.count('list')).toBeGreaterThan(before)
})

test('B25 K12 another leader takes over in the middle of a create: it waits until nothing can come of it any more', async () => {
  await using world = await startShapes({
    capabilities: { ...capabilitySets.S2, consistencyWindowMs: 2000 },
    isStarted: false,
    options: { callTimeoutMs: 3000 },
  })
  const first = world.start({ onStep: (step) => step === 'before create' })
  await world.create()
  await world.until(() => first.isDead)
  world.start()
  await world.until(async () => (await world.condition('Synced')) === 'False Settling')
  // The request of the first leader was on its way.
  await world.advance(2500)
  expect(world.service.count('create')).toBe(0)
  const {
    metadata: { uid, name, namespace },
  } = await world.get()
  world.service.create(
    { color: 'red', size: 1 },
    {
      labels: {
        instance: 'here',
        kind: `Shape.${Shape.group}`,
        namespace,
        name,
        uid,
        version: '1',
        state: 'owned',
        seal: '',
      },
    },
  )
  await world.synced()
  expect(world.service.count('create')).toBe(0)
  expect(world.service.shapes.size).toBe(1)
})
