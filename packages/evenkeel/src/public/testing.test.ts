import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { ControllerDeclaration, ManagedContext } from './controller.ts'
import { defineController, defineKind } from './index.ts'
import {
  explore,
  exploreModule,
  formatFailure,
  formatHtml,
  formatLine,
  formatProgress,
  formatReport,
  matchers,
  parseReplayFile,
  planeFixture,
  replay,
  replayFile,
  replayFileOf,
  ruleCodes,
  startTestPlane,
  writeReplayFiles,
  type Explored,
  type ExploreModuleOptions,
  type ExploreOptions,
  type Failure,
  type ProcessContext,
  type ProfileName,
  type Progress,
  type Replayed,
  type ReplayFile,
  type ReplayStep,
  type RuleException,
  type StoryLine,
  type TestPlaneOptions,
  type Tier,
  type UserStep,
  type WorldView,
} from './testing.ts'

const Lamp = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Lamp',
  spec: z.object({ color: z.string() }),
  status: z.object({ color: z.string() }),
})

interface House {
  readonly lamps: Lights
}

/** The world external: what shines. */
class Lights {
  readonly on = new Map<string, string>()

  async put(name: string, color: string): Promise<void> {
    await Promise.resolve()
    this.on.set(name, color)
  }

  async clear(name: string): Promise<void> {
    await Promise.resolve()
    this.on.delete(name)
  }
}

const key = { name: 'a', namespace: 'default' }
const steps: readonly UserStep[] = [
  { name: 'creates Lamp a', run: (user) => user.create(Lamp, { metadata: key, spec: { color: 'red' } }) },
  { name: 'deletes Lamp a', run: async (user) => user.delete(await user.get(Lamp, key)) },
]
const noRoles: RuleException = { rule: 'privilege', because: 'the test has no roles' }

const scenario = {
  name: 'lamps',
  steps,
  external: (): House => ({ lamps: new Lights() }),
  expects: ({ list, external }: WorldView<House>): string | undefined =>
    list(Lamp).some(({ metadata }) => !metadata.deletionTimestamp) && external.lamps.on.get('a') !== 'red'
      ? 'the lamp is dark'
      : undefined,
  exceptions: [noRoles],
}

type LampControllers = [ControllerDeclaration<typeof Lamp, ManagedContext>]

/** Switches off what it switched on. */
const controllers = ({ external: { lamps } }: ProcessContext<House>): LampControllers => [
  lampController(lamps, { cleansUp: true }),
]

/** Leaves the lamp on. */
const leaking = ({ external: { lamps } }: ProcessContext<House>): LampControllers => [
  lampController(lamps, { cleansUp: false }),
]

function lampController(lamps: Lights, { cleansUp }: { cleansUp: boolean }): LampControllers[0] {
  return defineController({
    for: Lamp,
    async reconcile(lamp, { status }) {
      await lamps.put(lamp.metadata.name, lamp.spec.color)
      status.set({ color: lamp.spec.color })
    },
    async cleanup(lamp) {
      if (cleansUp) await lamps.clear(lamp.metadata.name)
    },
  })
}

/** A scenario as a module, with a right program and one that leaks. */
const module = fileURLToPath(new URL('../testing/boxes.fixture.ts', import.meta.url))
const leak: ExploreOptions<House> = { controllers: leaking, scenario, tier: 0 }

let folder = ''
let explored: Explored
let failure: Failure
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-testing-'))
  explored = await explore(leak)
  const found = explored.failures.find(({ rule }) => rule === 'cleanup')
  if (!found) throw new Error(formatReport(explored))
  failure = found
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

test('explore finds what is left behind, and reports say it in words', () => {
  expect(ruleCodes).toContain(failure.rule)
  expect([explored.scenario, failure.severity, failure.seen]).toEqual(['lamps', 'error', expect.any(Number)])
  const line: StoryLine | undefined = failure.story?.[0]
  expect(line && formatLine(line)).toMatch(/\w/)
  expect(formatFailure(failure, { schedules: explored.schedules, replay: 'again' })).toMatch(/cleanup[\s\S]*again/)
  expect(formatHtml(explored, { replays: ['again'] })).toMatch(/^<!doctype html>[\s\S]*cleanup/i)
})

test('fault after fault is tried, and a right program keeps the rules', async () => {
  const tier: Tier = 1
  const profile: ProfileName = 'evenkeel'
  const reports: Progress[] = []
  const options: ExploreOptions<House> = {
    controllers,
    scenario,
    tier,
    profile,
    onProgress: (one) => reports.push(one),
  }
  const { failures, schedules, left, coverage } = await explore({ ...options, schedulesMax: 10 })
  expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([])
  expect([schedules, left > 0, coverage.controllers[0]?.name]).toEqual([12, true, 'lamp'])
  const [last] = reports.slice(-1)
  expect(last && formatProgress(last)).toMatch(/\d+\/\d+/)
})

test('a failure is written down and played again, the very same way', async () => {
  const file: ReplayFile | undefined = replayFileOf(failure, explored)
  if (!file) throw new Error('a failure with a story can be played again')
  const steps: ReplayStep[] = []
  const again: Replayed = await replay(file, { ...leak, onStep: (step) => void steps.push(step) })
  expect([again.isFound, again.isSame, again.hash]).toEqual([true, true, file.hash])
  expect(steps.map(({ what }) => what).join('\n')).toContain('Lamp')
  expect((await replay(file, { controllers, scenario })).isFound).toBe(false)
})

test('the same from files and modules, as the command line does it', async () => {
  const options: ExploreModuleOptions = { tier: 0, cores: 1 }
  const found = await exploreModule(`${module}#leaking`, options)
  expect(found.failures.map(({ rule }) => rule)).toContain('cleanup')
  const paths = await writeReplayFiles(found, { directory: folder, module: `${module}#leaking` })
  const path = paths.find((each) => each?.includes('cleanup')) ?? ''
  const file = parseReplayFile(readFileSync(path, 'utf8'))
  expect([file.scenario, file.expected.rule]).toEqual(['boxes', 'cleanup'])
  expect((await replayFile(path)).isFound).toBe(true)
  expect((await replayFile(path, { module })).isFound).toBe(false)
  expect(() => parseReplayFile('{}')).toThrow(RangeError)
})

test('a plane for each test, on a clock that only the test moves', async () => {
  const options: TestPlaneOptions = { kinds: [Lamp], simulated: true, builtin: false, seed: 'two' }
  await using plane = await startTestPlane(options)
  const before = plane.clock.now()
  await plane.advance(3_600_000)
  expect(plane.clock.now() - before).toBe(3_600_000)
  await planeFixture(options)({}, async ({ client }) => {
    await client.create(Lamp, { metadata: { name: 'a' }, spec: { color: 'red' } })
    expect((await client.list(Lamp)).items.map(({ spec }) => spec.color)).toEqual(['red'])
  })
})

test('the matchers extend the expect of any test runner', async () => {
  const { pass, message } = await matchers.toConverge({ controllers: [], scenario: { name: 'nothing', steps: [] } })
  expect([pass, message()]).toEqual([true, 'the program converges'])
})
