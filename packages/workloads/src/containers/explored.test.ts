/** The Explorer on the controllers of containers, with a runtime in memory: every single fault, and planted mistakes. */
import { describe, expect, test } from 'vitest'
import { explore, formatReport, type Scenario, type UserStep } from 'evenkeel/testing'
import type { Client, ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { Files } from '../files.ts'
import { ScriptedProbes } from '../plane.fixture.ts'
import { SimulatedFiles, SimulatedHost } from '../simulated-host.ts'
import { workloads, type Workloads } from '../workloads.ts'
import { Container, ContainerNetwork, ContainerVolume } from './container-kind.ts'
import { labelOf } from './container-labels.ts'
import type { ContainerPlan, ContainerRuntime, Labels } from './container-runtime.ts'
import { SimulatedRuntime } from './simulated-runtime.ts'

const keyOf = (name: string) => ({ name, namespace: 'default' })
const web = keyOf('web')

const patch = async (user: Client, spec: object): Promise<unknown> =>
  user.patch(await user.get(Container, web), { spec } as never)

const createWeb = (spec: object): UserStep => ({
  name: 'creates Container web',
  run: (user) =>
    user.create(Container, {
      metadata: web,
      spec: { image: 'app:1', stop: { gracePeriodSeconds: 1 }, ...spec },
    } as never),
})
const removeStep = (kind: Kind, name: string): UserStep => ({
  name: `deletes ${kind.kind} ${name}`,
  run: async (user) => user.delete(await user.get(kind as typeof Container, keyOf(name))),
})
const createOther = (kind: Kind, name: string, spec: object): UserStep => ({
  name: `creates ${kind.kind} ${name}`,
  run: (user) => user.create(kind as typeof Container, { metadata: keyOf(name), spec } as never),
})

const containerSteps: readonly UserStep[] = [
  createWeb({ ports: [{ name: 'http', containerPort: 80 }] }),
  { name: 'changes its user', run: (user) => patch(user, { user: '1000' }) },
  removeStep(Container, 'web'),
]
const attachmentSteps: readonly UserStep[] = [
  createOther(ContainerNetwork, 'back', {}),
  createOther(ContainerVolume, 'data', { persistent: false }),
  removeStep(ContainerNetwork, 'back'),
  removeStep(ContainerVolume, 'data'),
]
/** A container in a network. */
const createMember = createWeb({ networks: [{ name: 'back', aliases: ['www'] }] })
const memberSteps: readonly UserStep[] = [
  createOther(ContainerNetwork, 'back', {}),
  createMember,
  removeStep(Container, 'web'),
  removeStep(ContainerNetwork, 'back'),
]
const shortSteps: readonly UserStep[] = [createWeb({}), removeStep(Container, 'web')]

interface External {
  readonly runtime: SimulatedRuntime
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly probes: ScriptedProbes
}

type Declaration = ControllerDeclaration<Kind, ManagedContext>

/** What tells of the past, or has the uid in it: it differs when those do, as it should. */
const history = ['run', 'runs', 'restarts', 'nextRestartAt', 'networkId', 'subnets', 'gateways']

/** The controller, with a status that does not tell of the past. */
function withoutHistory(declaration: Workloads['controllers'][number]): Declaration {
  const { reconcile, ...rest } = declaration as unknown as Declaration
  return {
    ...rest,
    reconcile: (object, context) => {
      const set = (fields: object): void => {
        const shown = Object.fromEntries(Object.entries(fields).filter(([name]) => !history.includes(name)))
        context.status.set(shown as never)
      }
      const status = new Proxy(context.status, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target)
          return name === 'set' ? set : typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
      return reconcile?.(object, Object.create(context, { status: { value: status } }) as typeof context)
    },
  }
}

/** A mistake that is made on purpose. */
interface Mistake {
  readonly runtime?: (runtime: ContainerRuntime) => object
  readonly declaration?: (declaration: Declaration) => Partial<Declaration>
}

/** The object with some methods replaced. */
function replaced<T extends object>(target: T, methods: object): T {
  return new Proxy(target, {
    get: (real, name): unknown => (name in methods ? Reflect.get(methods, name) : Reflect.get(real, name)),
  })
}

/** The container of another program, and its volume. */
const stranger: ContainerPlan = {
  ...{ name: 'stranger', image: 'app:1', env: {}, labels: {}, ports: [], mounts: [], networks: [] },
  ...{ stopSignal: 'SIGTERM', extraHosts: [] },
}

function makeExternal({
  clock,
}: {
  readonly clock: ConstructorParameters<typeof SimulatedRuntime>[0]['clock']
}): External {
  const runtime = new SimulatedRuntime({ clock, images: ['app:1'] })
  runtime.addStranger(stranger)
  return { runtime, host: new SimulatedHost({ clock }), files: new SimulatedFiles(), probes: new ScriptedProbes() }
}

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = {}): Scenario<External> => ({
  name: 'containers',
  steps,
  external: makeExternal,
  services: {
    // Which containers there are and what they do, not under which id.
    runtime: {
      contents: (runtime: SimulatedRuntime) => ({
        // One that has ended is kept for its log: it tells of the past.
        containers: runtime
          .containers()
          .filter(({ state }) => state !== 'exited')
          .map(({ name, state }) => `${name.replace(/-\w{8}$/, '')} ${state}`),
        networks: runtime.networks().map(({ name }) => name.replace(/-\w{8}$/, '')),
        volumes: runtime.volumes().map(({ name }) => name),
      }),
    },
    host: { contents: () => ({}) },
    files: { contents: () => ({}) },
    probes: { contents: () => ({}) },
  },
  controllers: ({ external, clock, random, log }) =>
    workloads({
      folder: '/data',
      cwd: '/app',
      env: { PATH: '/bin' },
      host: external.host,
      containerRuntime: replaced<ContainerRuntime>(external.runtime, mistake.runtime?.(external.runtime) ?? {}),
      files: external.files as Files,
      checks: external.probes,
      clock,
      random,
      log,
    })
      .controllers.slice(1)
      .map((declaration) => {
        const made = withoutHistory(declaration)
        return { ...made, ...mistake.declaration?.(made) }
      }),
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file is opened by the first reconcile, whatever that one is about',
    },
  ],
  expects: ({ external: { runtime }, list }) => {
    const isThere = (kind: Kind, name: string) => {
      const object = list(kind).find(({ metadata }) => metadata.name === name)
      return object !== undefined && object.metadata.deletionTimestamp === undefined ? object : undefined
    }
    const object = isThere(Container, 'web')
    const {
      running = true,
      user = '',
      containerName,
      networks: wantedNetworks = [],
    } = (object?.['spec'] ?? {}) as {
      running?: boolean
      user?: string
      containerName?: string
      networks?: readonly object[]
    }
    const isMember = wantedNetworks.length > 0
    const [network] = runtime.networks()
    // Without its network it is not started; one that runs stays in it.
    const isWanted =
      object !== undefined && running && containerName !== stranger.name && (!isMember || network !== undefined)
    const seen = runtime
      .containers()
      .filter(({ state }) => state === 'running')
      .map(({ name }) => `${name.replace(/-\w{8}$/, '')}${runtime.planOf(name)?.user ?? ''}`)
      .sort()
    const expected = ['stranger', ...(isWanted ? [`default-web${user}`] : [])].sort()
    if (seen.join() !== expected.join()) return `runs ${seen.join() || 'nothing'} instead of ${expected.join()}`
    if (!object && runtime.containers().length > 1) return 'a container is left that belongs to no object'
    if (!isThere(ContainerNetwork, 'back') && network && !isMember) return 'a network is left'
    const inIt = runtime.containers().filter((one) => one.networks.some(({ name }) => name === network?.name))
    if (isWanted && isMember && inIt.length !== 1) return `has ${inIt.length} containers in its network`
    const volumes = ['theirs', ...(isThere(ContainerVolume, 'data') ? ['default-data'] : [])].sort().join()
    const found = runtime
      .volumes()
      .map(({ name }) => name)
      .sort()
      .join()
    return found === volumes ? undefined : `has the volumes ${found} instead of ${volumes}`
  },
})

/** These deviations come first. */
const schedulesMax = 250

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

let made = 0
/** A runtime that claims that everything is ours. */
const withOurLabels = <T extends { readonly labels: Labels }>(found: T | undefined, object: string): T | undefined =>
  found && { ...found, labels: { ...found.labels, [labelOf.object]: object } }

const mistakes: readonly (readonly [name: string, steps: readonly UserStep[], mistake: Mistake])[] = [
  [
    'a second container after a lost answer: names that differ, and labels that are not read',
    shortSteps,
    {
      runtime: (runtime) => ({
        createContainer: (plan: ContainerPlan) => runtime.createContainer({ ...plan, name: `${plan.name}-${++made}` }),
        listContainers: () => Promise.resolve([]),
      }),
    },
  ],
  [
    'a container with the wanted name is removed, whoever it belongs to',
    [createWeb({ containerName: 'stranger' }), removeStep(Container, 'web')],
    {
      runtime: (runtime) => ({
        findContainer: async (name: string) => (name === stranger.name ? undefined : runtime.findContainer(name)),
        createContainer: async (plan: ContainerPlan) => {
          await runtime.removeContainer(plan.name)
          return runtime.createContainer(plan)
        },
      }),
    },
  ],
  [
    'a volume of another program is deleted',
    [
      createOther(ContainerVolume, 'theirs', { volumeName: 'theirs', persistent: false }),
      removeStep(ContainerVolume, 'theirs'),
    ],
    {
      runtime: (runtime) => ({
        findVolume: async (name: string) => withOurLabels(await runtime.findVolume(name), 'default/theirs'),
      }),
    },
  ],
  [
    'drift of the spec is not repaired',
    [createWeb({}), { name: 'changes its user', run: (user) => patch(user, { user: '1000' }) }],
    {
      runtime: (runtime) => ({
        createContainer: ({ user: _, ...plan }: ContainerPlan) => runtime.createContainer(plan),
      }),
    },
  ],
  ['containers outlive their object', shortSteps, { declaration: () => ({ cleanup: () => undefined }) }],
  [
    'a container that was created and not started is not looked for',
    shortSteps,
    {
      runtime: (runtime) => ({
        findContainer: async (name: string) => {
          const found = await runtime.findContainer(name)
          return found?.state === 'created' ? { ...found, state: 'running' } : found
        },
      }),
    },
  ],
  [
    'a network is left when its object goes',
    [createOther(ContainerNetwork, 'back', {}), removeStep(ContainerNetwork, 'back')],
    { runtime: () => ({ listNetworks: () => Promise.resolve([]) }) },
  ],
  [
    'a container is made without its network',
    memberSteps,
    {
      runtime: (runtime) => ({
        createContainer: (plan: ContainerPlan) => runtime.createContainer({ ...plan, networks: [] }),
      }),
    },
  ],
  [
    'a network counts as removed while a container is in it',
    [
      createOther(ContainerNetwork, 'back', {}),
      createMember,
      removeStep(ContainerNetwork, 'back'),
      removeStep(Container, 'web'),
    ],
    { runtime: (runtime) => ({ removeNetwork: (name: string) => runtime.removeNetwork(name).catch(() => undefined) }) },
  ],
]

describe('W42: the Explorer on containers', () => {
  test.each([
    ['a Container', containerSteps],
    ['networks and volumes', attachmentSteps],
  ])(
    'finds nothing in any single fault: %s',
    async (_, steps) => {
      const explored = await exploreWith(steps)
      expect(explored.failures, formatReport(explored)).toEqual([])
      expect(explored.left).toBe(0)
      expect(explored.schedules).toBeGreaterThan(50)
    },
    900_000,
  )

  test('finds nothing in a crash, a refusal or a lost answer at any effect: a Container in a network', async () => {
    const explored = await exploreWith(memberSteps, undefined, { schedulesMax })
    expect(explored.failures, formatReport(explored)).toEqual([])
  }, 900_000)

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, steps, mistake) => {
      const explored = await exploreWith(steps, mistake, { until: () => true, stories: 0 })
      expect(explored.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
