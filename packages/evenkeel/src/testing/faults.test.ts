import { describe, expect, test } from 'vitest'
import { declareKind, defineKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { profiles, type Deviation, type DeviationAction, type SchedulePoint } from './deviation.ts'
import { buildInitialState } from './initial-state.ts'
import { kindsOf, type ProcessContext, type Scenario, type UserStep } from './scenario.ts'
import { referenceOf, runSchedule } from './schedule.ts'
import type { World } from './world.ts'

interface Note extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const ConfigMap = declareKind<Note>({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const Box = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Box',
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: { stored: { type: 'string' } } },
})

class Shelf {
  readonly places = new Map<string, number>()

  put(name: string, size: number): void {
    this.places.set(name, size)
  }

  clear(name: string): void {
    this.places.delete(name)
  }
}

interface External {
  readonly shelf: { put(name: string, size: number): Promise<void>; clear(name: string): Promise<void> }
}

const place = { name: 'a', namespace: 'default' }
const box = { apiVersion: 'test.dev/v1', kind: 'Box', ...place }

/** Puts a Box on the shelf and records it in a ConfigMap. */
function controllers({ external: { shelf } }: ProcessContext<External>): ControllerDeclaration[] {
  const declaration: ControllerDeclaration<typeof Box> = {
    for: Box,
    owns: [ConfigMap],
    async reconcile(one, { client, status }) {
      const {
        apiVersion,
        kind,
        metadata: { name, namespace = '', uid },
        spec: { size = 0 },
      } = one
      await shelf.put(name, size)
      await client.apply(
        ConfigMap,
        {
          metadata: { name, namespace, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] },
          data: { size: String(size) },
        },
        { force: true },
      )
      status.set({ stored: String(size) })
    },
    async cleanup({ metadata: { name } }) {
      await shelf.clear(name)
    },
  }
  return [declaration as unknown as ControllerDeclaration]
}

const steps: readonly UserStep[] = [
  { name: 'creates Box a', run: (user) => user.create(Box, { metadata: place, spec: { size: 1 } }) },
  { name: 'makes Box a bigger', run: async (user) => user.patch(await user.get(Box, place), { spec: { size: 2 } }) },
]

const scenario = {
  name: 'boxes',
  controllers,
  external: () => ({ shelf: new Shelf() }),
  steps,
} as unknown as Scenario

/** Runs one schedule with this deviation. */
async function runWith(at: SchedulePoint, action: DeviationAction): Promise<World> {
  const base = {
    scenario,
    seed: '1',
    profile: profiles.evenkeel,
    initialState: await buildInitialState(scenario, { kinds: kindsOf(scenario), seed: '1' }),
    keepsTrace: true,
  }
  const first = await runSchedule({ ...base, deviations: [] })
  const deviations: Deviation[] = [{ at, action }]
  return runSchedule({ ...base, deviations, reference: await referenceOf(first, base) })
}

function reported({ trace }: World, what: RegExp): string[] {
  return trace.entries.map((entry) => `${entry.actor}: ${entry.what}`).filter((line) => what.test(line))
}

const start: SchedulePoint = { type: 'start', index: 0 }
const quiet = (index: number): SchedulePoint => ({ type: 'quiet', index })

describe('a trouble', () => {
  test('evict: the objects of the namespace go, creates fail meanwhile, and a correct program has no failure', async () => {
    const world = await runWith(quiet(1), { type: 'evict', namespace: 'default' })
    expect(reported(world, /deletes the namespace/)).toHaveLength(1)
    expect(world.history.ofResource('boxes')).toEqual([])
    expect((world.services as { shelf: Shelf }).shelf.places.size).toBe(0)
    expect(world.findings).toEqual([])
  })

  test('outage of a service: its calls fail until it is available, and then the work gets done', async () => {
    const world = await runWith({ type: 'effect', index: 1 }, { type: 'outage', service: 'shelf' })
    expect(reported(world, /shelf\.put.*: refuse/).length).toBeGreaterThan(3)
    expect((world.services as { shelf: Shelf }).shelf.places.get('a')).toBe(2)
    expect(world.findings).toEqual([])
  })

  test('outage of the API server: watches break, requests fail with 503, and the program recovers', async () => {
    const world = await runWith({ type: 'effect', index: 2 }, { type: 'outage' })
    expect(reported(world, /answer .*: 503/).length).toBeGreaterThan(0)
    expect(reported(world, /the API server is available again/)).toHaveLength(1)
    expect(world.history.ofResource('configmaps').map((object) => object['data'])).toEqual([{ size: '2' }])
    expect(world.findings).toEqual([])
  })

  test('absent: the program waits for a kind that is installed later', async () => {
    const world = await runWith(start, { type: 'absent', resource: 'boxes' })
    expect(reported(world, /boxes.*: 404/).length).toBeGreaterThan(0)
    expect(world.history.ofResource('configmaps')).toHaveLength(1)
    expect(world.findings).toEqual([])
  })

  test('mutate: a webhook changes written objects, and a correct program has no failure', async () => {
    const world = await runWith(start, { type: 'mutate', resource: 'configmaps' })
    expect(
      world.history
        .ofResource('configmaps')
        .map(({ metadata }) => metadata.annotations?.['another-client.example.com/admitted']),
    ).toEqual(['yes'])
    expect(world.findings).toEqual([])
  })

  test('poison: every effect for one object fails, and the other object is not affected', async () => {
    const world = await runWith(quiet(1), { type: 'poison', object: box })
    expect(reported(world, /shelf\.put\(a-always-fails.*: refuse/).length).toBeGreaterThan(1)
    expect(world.history.ofResource('configmaps').map(({ metadata }) => metadata.name)).toEqual(['a'])
    expect(world.findings).toEqual([])
  })

  test('vanish: a resource is removed from a service, and the next reconcile restores it', async () => {
    const world = await runWith(quiet(1), { type: 'vanish', service: 'shelf', nth: 0 })
    expect(reported(world, /removes a from shelf/)).toHaveLength(1)
    expect((world.services as { shelf: Shelf }).shelf.places.get('a')).toBe(2)
    expect(world.findings).toEqual([])
  })

  test('slow: a response arrives when the world is quiet', async () => {
    const world = await runWith({ type: 'effect', index: 1, when: 'after' }, { type: 'slow' })
    expect(reported(world, /is slow/)).toHaveLength(1)
    expect(world.findings).toEqual([])
  })

  test('late: a program that starts after the last step reaches the same state', async () => {
    const world = await runWith(start, { type: 'late', steps: 2 })
    expect(reported(world, /^A: starts|^user: /)).toEqual([
      'user: creates Box a',
      'user: makes Box a bigger',
      'A: starts',
    ])
    expect(world.findings).toEqual([])
  })

  test('a clock at another rate: the time of a process passes faster', async () => {
    const world = await runWith(start, { type: 'skew', offsetMs: 0, rate: 1.2 })
    const [proc] = world.processes
    expect((proc?.clock.now() ?? 0) - world.clock.now()).toBe(Math.round(world.clock.monotonic() * 0.2))
    expect(world.findings).toEqual([])
  })
})
