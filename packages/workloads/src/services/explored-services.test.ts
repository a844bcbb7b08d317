/** The Explorer on Services, Endpoints and Processes that refer to them: every single fault, and planted mistakes. */
import { describe, expect, test } from 'vitest'
import { isConditionTrue, type Client, type ControllerDeclaration, type Kind, type KubeObject } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { explore, formatReport, type Scenario, type UserStep, type WorldView } from 'evenkeel/testing'
import { Container } from '../containers/container-kind.ts'
import { replaced, simulatedMachine, withoutHistory, type Machine } from '../explored.fixture.ts'
import { ProcessSet } from '../sets/set-kind.ts'
import { Task } from '../tasks/task-kind.ts'
import { Process } from '../process-kind.ts'
import { workloads } from '../workloads.ts'
import type { Network } from './network.ts'
import { Endpoint, Service } from './service-kind.ts'
import { SimulatedNetwork } from './simulated-network.ts'

const web = { name: 'web', namespace: 'default' }
const server = { name: 'server', namespace: 'default' }

const spec = { selector: { matchLabels: { app: 'web' } }, targetPort: 8081 }

const createService: UserStep = {
  name: 'creates Service web',
  run: (user) => user.create(Service, { metadata: web, spec } as never),
}
const createServer: UserStep = {
  name: 'creates Process server behind it',
  run: (user) =>
    user.create(Process, {
      metadata: { ...server, labels: { app: 'web' } },
      spec: { command: ['serve'], ports: [{ name: 'http', port: 8081 }] },
    } as never),
}
const createClient: UserStep = {
  name: 'creates Process api, which has its URL',
  run: (user) =>
    user.create(Process, {
      metadata: { name: 'api', namespace: 'default' },
      spec: { command: ['serve', 'api'], env: [{ name: 'WEB', valueFrom: { service: { name: 'web' } } }] },
    } as never),
}
const stopServer: UserStep = {
  name: 'stops Process server',
  run: async (user: Client) => user.patch(await user.get(Process, server), { spec: { running: false } } as never),
}
const moveService: UserStep = {
  name: 'moves the Service',
  run: async (user: Client) => user.patch(await user.get(Service, web), { spec: { port: 9090 } } as never),
}
const createEndpoint: UserStep = {
  name: 'creates an Endpoint for it',
  run: (user) => user.create(Endpoint, { metadata: web, spec: { service: 'web', port: 8081 } } as never),
}
const removeService: UserStep = {
  name: 'deletes the Service',
  run: async (user) => user.delete(await user.get(Service, web)),
}

interface External extends Machine {
  readonly network: SimulatedNetwork
}

type AnyDeclaration = ControllerDeclaration<Kind, ManagedContext>

/** A mistake that is made on purpose, and where it shows. */
interface Mistake {
  readonly steps?: readonly UserStep[]
  /** Whose controllers run. @default of Process and Service */
  readonly kinds?: readonly Kind[]
  readonly network?: (network: Network) => object
  readonly declaration?: (declaration: AnyDeclaration) => Partial<AnyDeclaration>
}

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = {}): Scenario<External> => ({
  name: 'services',
  steps,
  external: (world) => ({ ...simulatedMachine.external(world), network: new SimulatedNetwork() }),
  kinds: [Process, Service, Endpoint, Task, ProcessSet, Container],
  services: {
    ...simulatedMachine.services,
    // `listen` is no list.
    network: { contents: (network: SimulatedNetwork) => network.listening(), reads: [] },
  },
  controllers: ({ external, clock, random, log }) =>
    workloads({
      folder: '/data',
      cwd: '/app',
      env: { PATH: '/bin' },
      host: external.host,
      files: external.files,
      logFiles: external.logFiles,
      network: replaced<Network>(external.network, mistake.network?.(external.network) ?? {}),
      checks: external.probes,
      clock,
      random,
      log,
    }).controllers.flatMap((declaration) => {
      const plain = declaration as unknown as AnyDeclaration
      const { kinds = [Process, Service] } = mistake
      return kinds.includes(plain.for) ? [withoutHistory({ ...plain, ...mistake.declaration?.(plain) })] : []
    }),
  exceptions: [
    ...simulatedMachine.exceptions,
    { rule: 'truth', because: 'Processes and Services follow each other: a status is about what its own run has seen' },
    {
      rule: 'ownership',
      about: 'Service',
      because: 'an Endpoint of another client that names a Service is one of its own',
    },
    { rule: 'failure', about: 'Service', because: 'a Process that is selected counts, also when it cannot be served' },
    ...['state', 'identity', 'cleanup'].map((rule) => ({
      rule,
      about: 'Process default/api',
      because: 'a process goes on when what it refers to disappears: whether it had started by then is history',
    })),
  ],
  expects: ({ external: { host, network }, list }) => {
    if (mistake.kinds && !mistake.kinds.includes(Service)) return undefined
    const services = list(Service).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const statuses = services.map((one) => (one['status'] ?? {}) as { url?: string; port?: number })
    const heard = network.listening().join()
    const wanted = statuses
      .map(({ port }) => `127.0.0.1:${port}`)
      .sort()
      .join()
    if (heard !== wanted) return `listens on ${heard || 'nothing'} instead of ${wanted || 'nothing'}`
    const index = services.findIndex(({ metadata }) => metadata.name === web.name)
    const problem = index < 0 ? undefined : checkEndpoints({ list })
    if (problem !== undefined) return problem
    const url = statuses[index]?.url
    const api = host.processes().find(({ command }) => command === 'serve api')
    const given = api && host.launchOf(api.pid)?.env['WEB']
    return api && url !== undefined && given !== url ? `api was started with ${given} instead of ${url}` : undefined
  },
})

/** A Process has an Endpoint while it is Ready, and no other one. An Endpoint of another client may have the name. */
function checkEndpoints({ list }: Pick<WorldView, 'list'>): string | undefined {
  const isMade = ({ metadata }: KubeObject): boolean => (metadata.ownerReferences ?? []).length > 0
  const endpoints = list(Endpoint).filter(
    ({ metadata, spec: of }) =>
      metadata.deletionTimestamp === undefined && (of as { service?: string }).service === web.name,
  )
  if (!endpoints.every(isMade)) return undefined
  const ready = list(Process).filter((one) => {
    const { status, spec: wanted } = one as { status?: { conditions?: [] }; spec?: { running?: boolean } }
    const isWanted = wanted?.running !== false && one.metadata.deletionTimestamp === undefined
    return isWanted && one.metadata.labels?.['app'] === 'web' && isConditionTrue(status?.conditions, 'Ready')
  })
  const [expected, found] = [ready.length, endpoints.length]
  return found === expected ? undefined : `has ${found} endpoints instead of ${expected}`
}

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

type Change = (object: never, context: never) => readonly [object: unknown, context: unknown]

/** The controller of a kind with another view of its object and context. */
const changed =
  (kind: Kind, change: Change) =>
  (declaration: AnyDeclaration): Partial<AnyDeclaration> => {
    const { reconcile } = declaration
    if (declaration.for !== kind || !reconcile) return {}
    return {
      reconcile: (object, context) => {
        const [first, second] = change(object as never, context as never)
        return reconcile(first as never, second as never)
      },
    }
  }

type ServiceContext = Parameters<NonNullable<ControllerDeclaration<typeof Service, ManagedContext>['reconcile']>>[1]

/** The Service sees Processes in another state. */
const seesProcesses = (change: (status: object) => object): Mistake => ({
  declaration: changed(Service as never, (object: never, context: ServiceContext) => {
    const list = async (kind: Kind, options: object): Promise<object> => {
      const found = (await context.client.list(kind as typeof Process, options)) as unknown as {
        items: readonly { status?: object }[]
      }
      if (kind !== (Process as unknown)) return found
      return { ...found, items: found.items.map((item) => ({ ...item, spec: {}, status: change(item.status ?? {}) })) }
    }
    return [object, Object.create(context, { client: { value: replaced(context.client, { list }) } })]
  }),
})

const mistakes: readonly (readonly [name: string, mistake: Mistake])[] = [
  [
    'an endpoint before its Process is ready',
    seesProcesses((status) => ({
      ...status,
      run: { ports: [{ port: 8081 }] },
      conditions: [{ type: 'Ready', status: 'True' }],
    })),
  ],
  [
    'an endpoint that is not withdrawn',
    {
      declaration: changed(Service as never, (object: never, context: ServiceContext) => {
        const declare = async (children: readonly (readonly [never, never])[]): Promise<void> => {
          for (const [kind, desired] of children) await context.children.apply(kind, desired, { prune: false } as never)
        }
        return [object, Object.create(context, { children: { value: { declare } } })]
      }),
    },
  ],
  ['a port that stays open when the Service is gone', { network: () => ({ unlisten: () => Promise.resolve() }) }],
  [
    'a status that is trusted after a crash, so that nothing listens any more',
    {
      declaration: (declaration) => {
        const { reconcile } = declaration
        if (declaration.for !== (Service as unknown) || !reconcile) return {}
        return {
          reconcile: (object, context) =>
            (object as { status?: { url?: string } }).status?.url === undefined
              ? reconcile(object, context)
              : undefined,
        }
      },
    },
  ],
  [
    'an address that is not in the status',
    {
      declaration: changed(Service as never, (object: never, context: ServiceContext) => [
        object,
        Object.create(context, { status: { value: replaced(context.status, { set: () => undefined }) } }),
      ]),
    },
  ],
  [
    'a process that starts before the address exists',
    {
      steps: [createClient, createService],
      declaration: changed(Process as never, (object: { spec: { env?: object[] } }, context: never) => [
        { ...object, spec: { ...object.spec, env: [] } },
        context,
      ]),
    },
  ],
]

const scenarios: readonly (readonly [name: string, steps: readonly UserStep[], kinds: readonly Kind[]])[] = [
  ['a Service with a Process behind it', [createService, createServer, stopServer, removeService], [Process, Service]],
  ['a Process that has the URL of a Service', [createClient, createService, moveService], [Process, Service]],
  ['an Endpoint of a user', [createEndpoint, createService], [Endpoint]],
]

describe('W42: the Explorer', () => {
  test.each(scenarios)(
    'finds nothing in any single fault of %s',
    async (_, steps, kinds) => {
      const explored = await exploreWith(steps, { kinds })
      expect(explored.failures.length, formatReport(explored)).toBe(0)
      expect(explored.left).toBe(0)
    },
    900_000,
  )

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, { steps = [createService, createServer, stopServer, removeService], ...mistake }) => {
      const explored = await exploreWith(steps, mistake, { until: () => true, stories: 0 })
      expect(explored.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
