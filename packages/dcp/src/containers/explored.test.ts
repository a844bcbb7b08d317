/** The Explorer on the controllers of containers, with a runtime in memory: faults at every effect, and planted mistakes. */
import { SimulatedFiles, SimulatedHost, SimulatedRuntime, type ContainerRuntime } from '@evenkeel/workloads'
import { explore, formatReport, type Scenario, type UserStep } from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import { dcpControllers } from '../controllers/controllers.ts'
import { replaced, withoutHistory } from '../controllers/explored.fixture.ts'
import { allKinds } from '../kinds/all.ts'
import { Container, ContainerVolume } from '../kinds/container.ts'

interface Machine {
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly runtime: SimulatedRuntime
}

/** Different names: a call that names an object is attributed to it by its name. */
const [web, data] = [{ name: 'web' }, { name: 'data' }]
const spec = { image: 'app:1', containerName: 'web', ports: [{ containerPort: 80, hostPort: 8080 }] }
const createContainer: UserStep = {
  name: 'creates Container web',
  run: (user) => user.create(Container, { metadata: web, spec }),
}
const containers: readonly UserStep[] = [
  createContainer,
  { name: 'deletes it', run: async (user) => user.delete(await user.get(Container, web)) },
]
const volumes: readonly UserStep[] = [
  {
    name: 'creates ContainerVolume data',
    run: (user) => user.create(ContainerVolume, { metadata: data, spec: { name: 'data', persistent: false } }),
  },
  { name: 'deletes it', run: async (user) => user.delete(await user.get(ContainerVolume, data)) },
]
const explored: readonly string[] = [Container.kind, ContainerVolume.kind]

type Mistake = (runtime: ContainerRuntime) => object

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = () => ({})): Scenario<Machine> => ({
  name: 'dcp containers',
  steps,
  kinds: allKinds,
  external: ({ clock }) => ({
    host: new SimulatedHost({ clock }),
    files: new SimulatedFiles(),
    runtime: new SimulatedRuntime({ clock, images: ['app:1'] }),
  }),
  services: {
    host: { contents: () => ({}) },
    files: { contents: () => ({}) },
    // Which containers there are and what they do, not under which id.
    runtime: {
      contents: (runtime: SimulatedRuntime) => ({
        containers: runtime.containers().map(({ name, state }) => `${name} ${state}`),
        volumes: runtime.volumes().map(({ name }) => name),
      }),
    },
  },
  controllers: ({ external, clock, random, log }) =>
    dcpControllers({
      folder: '/runs',
      sessionFolder: '/session',
      cwd: '/app',
      env: { PATH: '/bin' },
      checks: { findHealth: () => Promise.resolve({ isOk: true, output: '' }) },
      host: external.host,
      files: external.files,
      containerRuntime: replaced<ContainerRuntime>(external.runtime, mistake(external.runtime)),
      ...{ clock, random, log },
    })
      .controllers.filter((declaration) => explored.includes(declaration.for.kind))
      .map(withoutHistory),
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file and the record of the runtime are about the program, not about one object',
    },
  ],
})

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/** These deviations come first. */
const schedulesMax = 160

describe('W42: the Explorer on the controllers of containers', () => {
  test.each([
    ['a container', containers],
    ['a volume', volumes],
  ] as const)(
    'finds nothing in a crash, a refusal or a lost answer at any effect: %s',
    async (_, steps) => {
      const result = await exploreWith(steps, undefined, { schedulesMax })
      expect(result.failures, formatReport(result)).toEqual([])
    },
    900_000,
  )

  test.each([
    ['a container outlives its object', containers, { removeContainer: () => Promise.resolve() }],
    ['a volume outlives its object', volumes, { removeVolume: () => Promise.resolve() }],
  ] as const)(
    'finds a planted mistake: %s',
    async (_, steps, methods) => {
      const result = await exploreWith(steps, () => methods, { until: () => true, stories: 0 })
      expect(result.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
