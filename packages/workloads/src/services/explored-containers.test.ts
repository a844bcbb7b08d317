/** The Explorer on Services in front of Containers, and on Containers that have their address: every single fault, and planted mistakes. */
import { describe, expect, test } from 'vitest'
import { isConditionTrue, type Client, type ControllerDeclaration, type Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { explore, formatReport, type Scenario, type UserStep, type WorldView } from 'evenkeel/testing'
import { Container, ContainerNetwork, ContainerVolume } from '../containers/container-kind.ts'
import { SimulatedRuntime } from '../containers/simulated-runtime.ts'
import { historyOfProcess, replaced, simulatedMachine, withStatus, without, type Machine } from '../explored.fixture.ts'
import { isExplored, single } from '../explored-owners.fixture.ts'
import { Process } from '../process-kind.ts'
import { ProcessSet } from '../sets/set-kind.ts'
import { Task } from '../tasks/task-kind.ts'
import { workloads } from '../workloads.ts'
import { Endpoint, Service } from './service-kind.ts'
import { SimulatedNetwork } from './simulated-network.ts'

const keyOf = (name: string) => ({ name, namespace: 'default' })
const [published, inside] = [18_081, 80]

const createService: UserStep = {
  name: 'creates Service web',
  run: (user) =>
    user.create(Service, {
      metadata: keyOf('web'),
      spec: { selector: { matchLabels: { app: 'web' } }, targetPort: 'http', port: 9000 },
    } as never),
}
const createServer = (image: string): UserStep => ({
  name: 'creates Container server behind it',
  run: (user) =>
    user.create(Container, {
      metadata: { ...keyOf('server'), labels: { app: 'web' } },
      spec: { ...program, image, ports: [{ name: 'http', containerPort: inside, hostPort: published }] },
    } as never),
})
const stopServer: UserStep = {
  name: 'stops Container server',
  run: async (user: Client) =>
    user.patch(await user.get(Container, keyOf('server')), { spec: { running: false } } as never),
}
const createClient: UserStep = {
  name: 'creates Container api, which has its URL',
  run: (user) =>
    user.create(Container, {
      metadata: keyOf('api'),
      spec: { ...program, env: [{ name: 'WEB', valueFrom: { service: { name: 'web' } } }] },
    } as never),
}
const moveService: UserStep = {
  name: 'moves the Service',
  run: async (user: Client) => user.patch(await user.get(Service, keyOf('web')), { spec: { port: 9090 } } as never),
}
const removeService: UserStep = {
  name: 'deletes the Service',
  run: async (user) => user.delete(await user.get(Service, keyOf('web'))),
}

const program = { image: 'app:1', stop: { gracePeriodSeconds: 1 } }
const behind = [createService, createServer('app:1'), stopServer, removeService]
const neverReady = [createService, createServer('missing:1')]
const inFront = [createClient, createService, moveService]

interface External extends Machine {
  readonly network: SimulatedNetwork
  readonly runtime: SimulatedRuntime
}

type Declaration = ControllerDeclaration<Kind, ManagedContext>
type Context = Parameters<NonNullable<Declaration['reconcile']>>[1]
/** The controller with a mistake that is made on purpose. */
type Mistake = (declaration: Declaration) => Partial<Declaration>

/** Of a Container that runs its ports stay: a Service reads them. One that never ran has none. */
const timeless: Parameters<typeof withStatus>[1] = (fields) => {
  const { ports } = (fields['run'] ?? {}) as { readonly ports?: readonly object[] }
  const run = fields['phase'] === 'Running' && ports ? { ports } : undefined
  return { ...without(historyOfProcess)(fields), ...('phase' in fields && { run }) }
}

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = () => ({})): Scenario<External> => ({
  name: 'containers behind services',
  steps,
  external: (world) => ({
    ...simulatedMachine.external(world),
    network: new SimulatedNetwork(),
    runtime: new SimulatedRuntime({ clock: world.clock, images: ['app:1'] }),
  }),
  kinds: [Process, Service, Endpoint, Task, ProcessSet, Container, ContainerNetwork, ContainerVolume],
  services: {
    ...simulatedMachine.services,
    network: { contents: (network: SimulatedNetwork) => network.listening(), reads: [] },
    runtime: { contents: running },
  },
  controllers: ({ external, clock, random, log }) =>
    workloads({
      ...{ folder: '/data', cwd: '/app', env: { PATH: '/bin' }, clock, random, log },
      host: external.host,
      files: external.files,
      // Faults of log files are those of explored-files.test.ts.
      logFiles: external.disk.logFiles,
      network: external.network,
      containerRuntime: external.runtime,
      checks: external.probes,
    }).controllers.flatMap((declaration) => {
      const plain = declaration as unknown as Declaration
      return [Container, Service].some((kind) => kind === (plain.for as unknown))
        ? [withStatus({ ...plain, ...mistake(plain) }, timeless)]
        : []
    }),
  exceptions: [
    ...simulatedMachine.exceptions,
    {
      rule: 'truth',
      because: 'Containers and Services follow each other: a status is about what its own run has seen',
    },
    {
      rule: 'ownership',
      about: 'Service',
      because: 'an Endpoint of another client that names a Service is one of its own',
    },
    {
      rule: 'failure',
      about: 'Service',
      because: 'a Container that is selected counts, also when it cannot be served',
    },
    ...['state', 'identity', 'cleanup'].map((rule) => ({
      rule,
      about: 'Container default/api',
      because: 'a program goes on when what it refers to disappears: whether it had started by then is history',
    })),
  ],
  expects: whatIsWrong,
})

/** Which containers run, not under which id. */
function running(runtime: SimulatedRuntime): readonly string[] {
  return runtime
    .containers()
    .filter(({ state }) => state === 'running')
    .map(({ name }) => name.replace(/-\w{8}$/, ''))
    .sort()
}

interface Seen {
  readonly status?: { readonly url?: string; readonly port?: number; readonly conditions?: [] }
  readonly spec: { readonly running?: boolean; readonly service?: string; readonly port?: number }
}

function whatIsWrong(world: WorldView<External>): string | undefined {
  const { network, runtime } = world.external
  const present = (kind: Kind) =>
    world
      .list(kind)
      .flatMap((one) => (one.metadata.deletionTimestamp === undefined ? [{ ...one, ...(one as object as Seen) }] : []))
  const services = present(Service)
  const [heard, wanted] = [network.listening().join(), services.map(({ status }) => `127.0.0.1:${status?.port}`).join()]
  if (heard !== wanted) return `listens on ${heard || 'nothing'} instead of ${wanted || 'nothing'}`
  const containers = present(Container)
  const server = containers.find(({ metadata }) => metadata.name === 'server' && metadata.labels?.['app'] === 'web')
  const isServing = server?.spec.running !== false && isConditionTrue(server?.status?.conditions, 'Ready')
  if (isServing && !running(runtime).includes('default-server')) return 'Container server is Ready and does not run'
  // An Endpoint of another client may have the name.
  const endpoints = present(Endpoint).filter(({ spec }) => spec.service === 'web')
  const ports = endpoints.map(({ spec }) => spec.port).join()
  const expected = services.length > 0 && isServing ? `${published}` : ''
  if (endpoints.every(({ metadata }) => metadata.ownerReferences) && ports !== expected)
    return `has the endpoints ${ports || 'nowhere'} instead of ${expected || 'nowhere'}`
  const api = runtime.containers().find(({ name, state }) => name.startsWith('default-api') && state === 'running')
  const given = api && runtime.planOf(api.name)?.env['WEB']
  const url = services[0]?.status?.url?.replace('127.0.0.1', 'host.simulated.internal')
  return api && url !== undefined && given !== url ? `api was started with ${given} instead of ${url}` : undefined
}

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/* Planted mistakes. */

/** A controller of Services that works with another context. */
const withContext =
  (change: (context: Context) => Context): Mistake =>
  ({ for: kind, reconcile }) =>
    kind === (Service as unknown) && reconcile
      ? { reconcile: (object, context) => reconcile(object, change(context)) }
      : {}

/** The Service sees Containers in another state. */
const seesContainers = (change: (status: object) => object): Mistake =>
  withContext((context) => {
    const list = async (kind: Kind, options: object): Promise<object> => {
      const seen = await context.client.list(kind as typeof Container, options)
      if (kind !== (Container as unknown)) return seen
      return { ...seen, items: seen.items.map((item) => ({ ...item, status: change(item.status ?? {}) })) }
    }
    return Object.create(context, { client: { value: replaced(context.client, { list }) } }) as Context
  })

const mistakes: readonly (readonly [name: string, mistake: Mistake, steps?: readonly UserStep[]])[] = [
  [
    'an endpoint before its Container is ready',
    seesContainers(() => ({
      run: { ports: [{ name: 'http', port: published }] },
      conditions: [{ type: 'Ready', status: 'True' }],
    })),
    neverReady,
  ],
  [
    'an endpoint at the port in the container',
    seesContainers((status) => ({ ...status, run: { ports: [{ name: 'http', port: inside }] } })),
  ],
  [
    'an endpoint that is not withdrawn',
    withContext((context) => {
      const declare = async (children: readonly (readonly [never, never])[]): Promise<void> => {
        for (const [kind, desired] of children) await context.children.apply(kind, desired, { prune: false } as never)
      }
      return Object.create(context, { children: { value: { declare } } }) as Context
    }),
  ],
  [
    'a Service that does not follow its Containers',
    ({ for: kind, watches }) =>
      kind === (Service as unknown)
        ? { watches: (watches ?? []).filter(({ kind: watched }) => watched !== (Container as unknown)) }
        : {},
  ],
]

describe('W42: the Explorer', () => {
  test.each([
    ['a Service with a Container behind it', behind],
    ['a Container that has the URL of a Service', inFront],
  ])(
    'finds nothing in any single fault of %s',
    async (_, steps) => {
      const explored = await exploreWith(steps, undefined, single)
      expect(explored.failures.length, formatReport(explored)).toBe(0)
      expect(isExplored(explored)).toBe(true)
    },
    900_000,
  )

  test.each(mistakes.map(([name, mistake, steps = behind]) => [name, mistake, steps] as const))(
    'finds a planted mistake: %s',
    async (_, mistake, steps) => {
      const explored = await exploreWith(steps, mistake, { until: () => true, stories: 0 })
      expect(explored.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
