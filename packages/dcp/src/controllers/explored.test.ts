/** The Explorer on the controllers of dcp, with a simulated machine: faults at every effect, and planted mistakes. */
import {
  SimulatedFiles,
  SimulatedHost,
  SimulatedLogFiles,
  SimulatedNetwork,
  type Files,
  type Network,
  type ProcessHost,
} from '@evenkeel/workloads'
import type { Client, Kind } from 'evenkeel'
import { explore, formatReport, type Scenario, type UserStep, type WorldView } from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import { allKinds } from '../kinds/all.ts'
import { Executable, ExecutableReplicaSet } from '../kinds/executable.ts'
import { Endpoint, Service } from '../kinds/network.ts'
import { dcpControllers } from './controllers.ts'
import { replaced, withoutHistory, type AnyDeclaration } from './explored.fixture.ts'

interface Machine {
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly logFiles: SimulatedLogFiles
  readonly network: SimulatedNetwork
}

/** A mistake that is made on purpose. */
interface Mistake {
  readonly host?: (host: ProcessHost) => object
  readonly files?: (files: Files) => object
  readonly network?: (network: Network) => object
  readonly declaration?: (declaration: AnyDeclaration) => Partial<AnyDeclaration>
}

/** Different names: a call that names an object is attributed to it by its name. */
const [web, app] = [{ name: 'web' }, { name: 'app' }]
const createService: UserStep = {
  name: 'creates Service web',
  run: (user) => user.create(Service, { metadata: web, spec: { port: 8080, addressAllocationMode: 'IPv4ZeroOne' } }),
}
const createExecutable: UserStep = {
  name: 'creates Executable app, which serves it',
  run: (user) =>
    user.create(Executable, {
      metadata: { ...app, annotations: { 'service-producer': '[{"serviceName":"web"}]' } },
      spec: { executablePath: 'fork', env: [{ name: 'PORT', value: '{{- portForServing "web" -}}' }] },
    }),
}
const createSet: UserStep = {
  name: 'creates a set of one',
  run: (user) =>
    user.create(ExecutableReplicaSet, {
      metadata: web,
      spec: { replicas: 1, template: { spec: { executablePath: 'serve' } } },
    }),
}
const shrinkSet: UserStep = {
  name: 'makes the set empty',
  run: async (user) => user.patch(await user.get(ExecutableReplicaSet, web), { spec: { replicas: 0 } } as never),
}
const stopExecutable: UserStep = {
  name: 'stops the Executable',
  run: async (user) => user.patch(await user.get(Executable, app), { spec: { stop: true } } as never),
}
const remove = (kind: typeof Executable | typeof ExecutableReplicaSet | typeof Service): UserStep => ({
  name: `deletes the ${kind.kind}`,
  run: async (user: Client) => user.delete(await user.get(kind as typeof Executable, kind === Executable ? app : web)),
})

const programs: readonly UserStep[] = [createService, createExecutable, remove(Executable)]
const stops: readonly UserStep[] = [createService, createExecutable, stopExecutable]
const sets: readonly UserStep[] = [createSet, shrinkSet, remove(ExecutableReplicaSet)]
/** Kinds that no step is about: without their controllers a schedule is faster. */
const others: readonly string[] = allKinds.map(({ kind }) => kind).filter((kind) => /^Container/.test(kind))

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = {}): Scenario<Machine> => ({
  name: 'dcp',
  steps,
  kinds: allKinds,
  external: ({ clock }) => ({
    host: new SimulatedHost({ clock }),
    files: new SimulatedFiles(),
    logFiles: new SimulatedLogFiles({ clock }),
    network: new SimulatedNetwork(),
  }),
  services: {
    // Which programs run, not under which pid; what files contain is for the next dcp.
    host: {
      contents: (host: SimulatedHost) =>
        host
          .processes()
          .map(({ command }) => command)
          .sort(),
    },
    files: { contents: () => ({}) },
    logFiles: { contents: (logFiles: SimulatedLogFiles) => logFiles.paths() },
    // `listen` is no list.
    network: { contents: (network: SimulatedNetwork) => network.listening(), reads: [] },
  },
  controllers: ({ external, clock, random, log }) =>
    dcpControllers({
      folder: '/runs',
      sessionFolder: '/session',
      cwd: '/app',
      env: { PATH: '/bin' },
      checks: { findHealth: () => Promise.resolve({ isOk: true, output: '' }) },
      host: replaced<ProcessHost>(external.host, mistake.host?.(external.host) ?? {}),
      files: replaced<Files>(external.files, mistake.files?.(external.files) ?? {}),
      network: replaced<Network>(external.network, mistake.network?.(external.network) ?? {}),
      logFiles: external.logFiles,
      ...{ clock, random, log },
    })
      .controllers.filter((declaration) => !others.includes(declaration.for.kind))
      .map((declaration) => withoutHistory({ ...declaration, ...mistake.declaration?.(declaration) })),
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file is opened by the first reconcile, whatever that one is about',
    },
    {
      rule: 'deletion-first',
      about: 'host.launch for ExecutableReplicaSet',
      because: 'the names of its Executables begin with its name: the call is about one that is not deleted yet',
    },
    ...(steps === stops
      ? [
          {
            rule: 'failure',
            about: 'Executable',
            because: 'it has failed to start when it is stopped before its start: dcp is down for a while',
          } as const,
        ]
      : []),
  ],
  expects: (world) => wrongPrograms(world) ?? wrongListeners(world) ?? wrongEndpoints(world),
})

interface Stored {
  readonly metadata: { readonly deletionTimestamp?: string; readonly ownerReferences?: readonly object[] }
  readonly spec?: { readonly executablePath?: string; readonly stop?: boolean }
  readonly status?: { readonly state?: string; readonly effectivePort?: number }
}

const stored = ({ list }: WorldView<Machine>, kind: Kind): readonly Stored[] =>
  (list(kind) as readonly Stored[]).filter(({ metadata }) => metadata.deletionTimestamp === undefined)

/**
 * An Executable that is not stopped has its program, once, with its child; nothing else runs. Without its Service it waits,
 * unless it was started before.
 */
function wrongPrograms(world: WorldView<Machine>): string | undefined {
  const hasService = stored(world, Service).length > 0
  const wanted = stored(world, Executable)
    .filter(
      ({ spec, status }) =>
        spec?.stop !== true && (hasService || spec?.executablePath !== 'fork' || status?.state === 'Running'),
    )
    .flatMap(({ spec }) => (spec?.executablePath === 'fork' ? ['child', 'fork'] : ['serve']))
    .sort()
  const found = world.external.host.processes().map(({ command }) => command)
  return isSame(found, wanted) ? undefined : `runs ${text(found)} instead of ${text(wanted)}`
}

function wrongListeners(world: WorldView<Machine>): string | undefined {
  const wanted = stored(world, Service).map(({ status }) => `127.0.0.1:${status?.effectivePort}`)
  const found = world.external.network.listening()
  return isSame(found, wanted) ? undefined : `listens on ${text(found)} instead of ${text(wanted)}`
}

function wrongEndpoints(world: WorldView<Machine>): string | undefined {
  const running = stored(world, Executable).filter(
    ({ spec, status }) => spec?.executablePath === 'fork' && status?.state === 'Running',
  )
  const own = stored(world, Endpoint).filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0)
  const [wanted, found] = [running.length, own.length]
  return found === wanted ? undefined : `has ${found} Endpoints instead of ${wanted}`
}

function isSame(found: readonly string[], wanted: readonly string[]): boolean {
  return [...found].sort().join() === [...wanted].sort().join()
}

function text(names: readonly string[]): string {
  return names.join(', ') || 'nothing'
}

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

const mistakes: readonly (readonly [name: string, steps: readonly UserStep[], mistake: Mistake])[] = [
  [
    'programs outlive their object',
    [createService, createExecutable, remove(Executable)],
    { declaration: (declaration) => (declaration.for === (Executable as Kind) ? { cleanup: () => undefined } : {}) },
  ],
  [
    'the session file has no line before a start, so a program is started twice',
    [createService, createExecutable],
    {
      files: (files) => ({
        appendText: (path: string, line: string) =>
          line.startsWith('start ') ? Promise.resolve() : files.appendText(path, line),
      }),
    },
  ],
  [
    'a port stays open when its Service is gone',
    [createService, remove(Service)],
    { network: () => ({ unlisten: () => Promise.resolve() }) },
  ],
  [
    'exits are not events',
    [createService, createExecutable, stopExecutable],
    { host: () => ({ exits: { subscribe: () => () => undefined } }) },
  ],
  [
    'a set that is made smaller keeps its replicas',
    [createSet, shrinkSet],
    {
      declaration: (declaration) => {
        const { reconcile } = declaration
        if (declaration.for !== (ExecutableReplicaSet as Kind)) return {}
        return {
          reconcile: (object, context) => {
            const client = replaced(context.client, { delete: () => Promise.resolve(undefined) })
            return reconcile?.(object, Object.create(context, { client: { value: client } }) as typeof context)
          },
        }
      },
    },
  ],
]

/** These deviations come first; those of other clients are not explored. */
const schedulesMax = 160

describe('W42: the Explorer on the controllers of dcp', () => {
  test.each([
    ['a program behind a Service', programs],
    ['a program that is stopped', stops],
    ['sets', sets],
  ] as const)(
    'finds nothing in a crash, a refusal or a lost answer at any effect: %s',
    async (_, steps) => {
      const explored = await exploreWith(steps, undefined, { schedulesMax })
      expect(explored.failures, formatReport(explored)).toEqual([])
    },
    900_000,
  )

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, steps, mistake) => {
      const result = await exploreWith(steps, mistake, { until: () => true, stories: 0 })
      expect(result.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
