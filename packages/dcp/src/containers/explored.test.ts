/** The Explorer on the controllers of containers, with a runtime in memory: faults at every effect, and planted mistakes. */
import {
  SimulatedFiles,
  SimulatedHost,
  SimulatedRuntime,
  type ContainerPlan,
  type ContainerRuntime,
  type ContainerStreams,
  type ExecPlan,
} from '@evenkeel/workloads'
import type { Client, Kind } from 'evenkeel'
import {
  explore,
  formatReport,
  type RuleException,
  type Scenario,
  type UserStep,
  type WorldView,
} from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import { dcpControllers } from '../controllers/controllers.ts'
import { replaced, withoutHistory, type AnyDeclaration } from '../controllers/explored.fixture.ts'
import { allKinds } from '../kinds/all.ts'
import { Container, ContainerExec, ContainerVolume } from '../kinds/container.ts'
import { ContainerNetwork, ContainerNetworkConnection } from '../kinds/network.ts'

/** The programs that were started in containers: a call of its own, so that the Explorer can lose it. */
class Programs {
  readonly #started: string[] = []

  start(program: string): Promise<void> {
    this.#started.push(program)
    return Promise.resolve()
  }

  started(): readonly string[] {
    return this.#started
  }
}

interface Machine {
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly runtime: SimulatedRuntime
  readonly programs: Programs
}

/** Different names: a call that names an object is attributed to it by its name. */
const [web, data, back, job] = [{ name: 'web' }, { name: 'data' }, { name: 'back' }, { name: 'job' }]
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
const remove = (kind: Kind, key: { readonly name: string }): UserStep => ({
  name: `deletes ${kind.kind} ${key.name}`,
  run: async (user: Client) => user.delete(await user.get(kind as typeof Container, key)),
})
const networks: readonly UserStep[] = [
  {
    name: 'creates ContainerNetwork back',
    run: (user) => user.create(ContainerNetwork, { metadata: back, spec: {} }),
  },
  {
    name: 'creates Container web in it',
    run: (user) =>
      user.create(Container, {
        metadata: web,
        spec: { image: 'app:1', containerName: 'web', networks: [{ name: 'back' }] },
      }),
  },
  remove(Container, web),
  remove(ContainerNetwork, back),
]
const execs: readonly UserStep[] = [
  createContainer,
  {
    name: 'creates ContainerExec job',
    run: (user) =>
      user.create(ContainerExec, {
        metadata: job,
        spec: { containerName: 'web', command: 'sh', args: ['-c', 'echo done; exit 3'] },
      }),
  },
]

/** A mistake that is made on purpose. */
interface Mistake {
  readonly runtime?: (runtime: ContainerRuntime) => object
  readonly declaration?: (declaration: AnyDeclaration) => Partial<AnyDeclaration>
}

interface Plan {
  readonly steps: readonly UserStep[]
  /** The kinds whose controllers run: with fewer of them a schedule is faster. */
  readonly kinds: readonly Kind[]
  readonly exceptions?: readonly RuleException[]
  /** Fields of a status that another controller reads, although they tell of the past. */
  readonly shown?: readonly string[]
}

const plans = {
  container: { steps: containers, kinds: [Container] },
  volume: { steps: volumes, kinds: [ContainerVolume] },
  networks: { steps: networks, kinds: [Container, ContainerNetwork, ContainerNetworkConnection] },
  execs: {
    steps: execs,
    kinds: [Container, ContainerExec],
    // Where its program is started, and how it ended.
    shown: ['containerId', 'exitCode'],
    exceptions: [
      {
        rule: 'failure',
        about: 'ContainerExec',
        because: 'its program is never started twice: how one ended that was started before a crash is not known',
      },
    ],
  },
} satisfies Readonly<Record<string, Plan>>

const scenarioOf = (
  { steps, kinds, exceptions = [], shown: except = [] }: Plan,
  mistake: Mistake = {},
): Scenario<Machine> => ({
  name: 'dcp containers',
  steps,
  kinds: allKinds,
  external: ({ clock }) => ({
    host: new SimulatedHost({ clock }),
    files: new SimulatedFiles(),
    runtime: new SimulatedRuntime({ clock, images: ['app:1'] }),
    programs: new Programs(),
  }),
  services: {
    host: { contents: () => ({}) },
    files: { contents: () => ({}) },
    // Which containers there are and what they do, not under which id.
    runtime: {
      contents: (runtime: SimulatedRuntime) => ({
        containers: runtime
          .containers()
          .map((one) => `${one.name} ${one.state} ${one.networks.map(({ name }) => plainNetwork(name)).join()}`),
        networks: runtime.networks().map(({ name }) => plainNetwork(name)),
        volumes: runtime.volumes().map(({ name }) => name),
      }),
    },
    programs: { contents: () => ({}) },
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
      containerRuntime: replaced<ContainerRuntime>(external.runtime, {
        streams: streamsOf(external),
        ...mistake.runtime?.(external.runtime),
      }),
      ...{ clock, random, log },
    })
      .controllers.filter((declaration) => kinds.includes(declaration.for))
      .map((declaration) => withoutHistory({ ...declaration, ...mistake.declaration?.(declaration) }, { except })),
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file and the record of the runtime are about the program, not about one object',
    },
    ...exceptions,
  ],
  expects: (world) => (kinds.includes(ContainerExec) ? wrongExecs(world) : undefined) ?? wrongNetworks(world),
})

/** The streams of the runtime: a program of an exec is started by a call that can be lost. */
function streamsOf({ runtime, programs }: Machine): ContainerStreams {
  return replaced<ContainerStreams>(runtime.streams, {
    exec: async (id: string, plan: ExecPlan) => {
      await programs.start(plan.command.join(' '))
      return runtime.streams.exec(id, plan)
    },
  })
}

/** Without the part that is of the uid. */
function plainNetwork(name: string): string {
  return name.replace(/-\w{8}$/, '')
}

interface Stored {
  readonly metadata: { readonly name?: string; readonly deletionTimestamp?: string }
  readonly status?: { readonly state?: string; readonly exitCode?: number }
}

/** A program runs at most once, and its object says how it ended, if that is known. */
function wrongExecs({ external: { programs, runtime }, list }: WorldView<Machine>): string | undefined {
  const started = programs.started().length
  if (started > 1) return `started the program ${started} times`
  const [exec] = list(ContainerExec) as readonly Stored[]
  const { state, exitCode } = exec?.status ?? {}
  if (!exec || exec.metadata.deletionTimestamp !== undefined || state === 'Unknown') return undefined
  const hasContainer = runtime.containers().some((one) => one.state === 'running') && list(Container).length > 0
  if (!hasContainer && (started === 0 || state === 'FailedToStart')) return undefined
  return state === 'Finished' && exitCode === 3 && started === 1
    ? undefined
    : `ends as ${state} with the exit code ${exitCode} after ${started} starts`
}

/** A Container is in its network while both are there; no network is left without its object. */
function wrongNetworks({ external: { runtime }, list }: WorldView<Machine>): string | undefined {
  const isThere = (kind: Kind) =>
    (list(kind) as readonly Stored[]).some(({ metadata }) => metadata.deletionTimestamp === undefined)
  const [network] = runtime.networks()
  if (!isThere(ContainerNetwork)) return network ? `the network ${network.name} is left` : undefined
  if (!network) return 'has no network'
  const [container] = runtime.containers()
  if (!isThere(Container) || !container) return undefined
  const [made, wanted] = [list(ContainerNetworkConnection).length, container.state === 'running' ? 1 : 0]
  if (made !== wanted) return `has ${made} connections instead of ${wanted}`
  return container.networks.some(({ name }) => name === network.name) ? undefined : 'its container is in no network'
}

const exploreWith = (plan: Plan, mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(plan, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/** The status is not written before the end of a reconcile: what was announced is lost with the program. */
const withoutAnnouncement = (declaration: AnyDeclaration): Partial<AnyDeclaration> => {
  const { reconcile } = declaration
  if (declaration.for !== (ContainerExec as Kind)) return {}
  return {
    reconcile: (object, context) => {
      const subresource = () => ({ patch: () => Promise.resolve(object) })
      const client = replaced(context.client, { subresource })
      return reconcile?.(object, Object.create(context, { client: { value: client } }) as typeof context)
    },
  }
}

const ofKind =
  (kind: Kind, methods: Partial<AnyDeclaration>) =>
  (declaration: AnyDeclaration): Partial<AnyDeclaration> =>
    declaration.for === kind ? methods : {}

const mistakes: readonly (readonly [name: string, plan: Plan, mistake: Mistake])[] = [
  [
    'a container outlives its object',
    plans.container,
    { runtime: () => ({ removeContainer: () => Promise.resolve() }) },
  ],
  ['a volume outlives its object', plans.volume, { runtime: () => ({ removeVolume: () => Promise.resolve() }) }],
  [
    'a network outlives its object',
    plans.networks,
    { declaration: ofKind(ContainerNetwork, { cleanup: () => undefined }) },
  ],
  [
    'a network that was made for its object counts as that of another program',
    plans.networks,
    {
      runtime: (runtime) => ({
        findNetwork: async (name: string) => {
          const found = await runtime.findNetwork(name)
          return found && { ...found, labels: {} }
        },
      }),
    },
  ],
  [
    'a container is never connected to its network',
    plans.networks,
    {
      runtime: (runtime) => ({
        createContainer: (plan: ContainerPlan) => runtime.createContainer({ ...plan, networks: [] }),
        connectNetwork: () => Promise.resolve(),
      }),
    },
  ],
  [
    'connections outlive their Container',
    plans.networks,
    {
      declaration: (declaration) => {
        const { cleanup, reconcile } = declaration
        if (declaration.for !== (Container as Kind) || typeof cleanup !== 'function') return {}
        const client = <T extends { readonly client: object }>(context: T): T =>
          Object.create(context, {
            client: { value: replaced(context.client, { delete: () => Promise.resolve(undefined) }) },
          }) as T
        return {
          reconcile: (object, context) => reconcile?.(object, client(context)),
          cleanup: (object, context) => cleanup(object, client(context)),
        }
      },
    },
  ],
  [
    'the start of a program is not recorded, so that it is started twice',
    plans.execs,
    { declaration: withoutAnnouncement },
  ],
  [
    'a program whose answer was lost is started again',
    plans.execs,
    {
      declaration: (declaration) => {
        const { reconcile } = declaration
        if (declaration.for !== (ContainerExec as Kind)) return {}
        return {
          reconcile: (object, context) => {
            const set = (fields: { readonly state?: string }): void => {
              if (fields.state === 'Unknown') throw new Error('tried again')
              context.status.set(fields as never)
            }
            const status = replaced(context.status, { set })
            const { status: before } = object as { readonly status?: { readonly state?: string } }
            const asked = before?.state === 'Running' ? { ...object, status: { state: 'Starting' } } : object
            return reconcile?.(asked, Object.create(context, { status: { value: status } }) as typeof context)
          },
        }
      },
    },
  ],
  [
    'the end of a program is never noticed',
    plans.execs,
    { runtime: (runtime) => ({ streams: replaced(runtime.streams, { exec: () => new Promise(() => undefined) }) }) },
  ],
]

/** These deviations come first. */
const schedulesMax = 160

describe('W42: the Explorer on the controllers of containers', () => {
  test.each(Object.entries(plans))(
    'finds nothing in a crash, a refusal or a lost answer at any effect: %s',
    async (_, plan) => {
      const result = await exploreWith(plan, undefined, { schedulesMax })
      expect(result.failures, formatReport(result)).toEqual([])
    },
    900_000,
  )

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, plan, mistake) => {
      const result = await exploreWith(plan, mistake, { until: () => true, stories: 0 })
      expect(result.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
