/**
 * The shop on a machine in memory, for the Explorer: `api` of app.ts with everything that it needs, without probes and on fixed ports.
 *
 * The machine runs a script instead of each program: the migration ends with success, the others run until they are stopped. What must
 * hold, whatever fails: the API starts only after the migration has succeeded, what runs is what the objects ask for, and nothing is
 * left when they are gone.
 */
import { isConditionTrue, type Kind, type KubeObject } from 'evenkeel'
import type { ControllerDeclaration, ManagedContext } from 'evenkeel/controller'
import type { ProcessContext, Scenario, UserStep, WorldView } from 'evenkeel/testing'
import type { Clock } from 'evenkeel/unstable/base'
import {
  Container,
  Process,
  ProcessSet,
  selectWorkloads,
  Service,
  SimulatedFiles,
  SimulatedHost,
  SimulatedLogFiles,
  SimulatedNetwork,
  Task,
  workloads,
  type Launch,
  type LaunchResult,
  type ProcessObject,
} from '@evenkeel/workloads'
import { app } from './app.ts'

/** `node programs/migrate.mjs` is `migrate`. */
const programOf = ({ command }: Pick<Launch, 'command'>): string => /(\w+)\.mjs/.exec(command.join(' '))?.[1] ?? ''

/** Runs a script for each program, and knows in which order they were started. */
class ShopHost extends SimulatedHost {
  readonly started: string[] = []

  override launch(launch: Launch): Promise<LaunchResult> {
    const program = programOf(launch)
    this.started.push(program)
    return super.launch({ ...launch, command: [...(program === 'migrate' ? ['exit', '0', '50'] : ['serve']), program] })
  }

  programs(): readonly string[] {
    return this.processes()
      .map(({ command }) => command.split(' ').at(-1) ?? '')
      .sort()
  }
}

interface Machine {
  readonly host: ShopHost
  readonly files: SimulatedFiles
  /** Not explored: calls of what is in a service have no faults. */
  readonly disk: { readonly logFiles: SimulatedLogFiles }
}

function workloadsOf({ external, clock, random, log }: ProcessContext<Machine>) {
  const { host, files, disk } = external
  return workloads({
    ...{ folder: '/data', cwd: '/', env: { PATH: '/bin' }, host, files, ...disk, clock, random, log },
    network: new SimulatedNetwork(),
    checks: { findHealth: () => Promise.resolve({ isOk: true, output: 'ok' }) },
  })
}

const namespace = 'default'
const { objects } = selectWorkloads(
  app.objects.map((object) => ({ object })),
  ['api'],
)

/** Without what is chosen by chance (ports), and without what costs thousands of steps and no write (probes). */
function simplified({ object }: (typeof objects)[number], index: number): KubeObject {
  const { probes: _, ...spec } = { ...object.spec }
  const ports = (spec['ports'] as readonly object[] | undefined)?.map((one) => ({ ...one, port: 8000 + index }))
  const port = object.kind === 'Service' && { port: 9000 + index }
  const metadata = { ...object.metadata, namespace }
  return { ...object, metadata, spec: { ...spec, ...(ports && { ports }), ...port } } as KubeObject
}

const steps: readonly UserStep[] = [
  {
    name: 'runs the shop',
    async run(user) {
      for (const [index, one] of objects.entries()) await user.create(simplified(one, index))
    },
  },
]

const nameOfProgram = (object: KubeObject): string =>
  programOf({ command: (object as ProcessObject).spec.command ?? [] })
const isReady = (object: KubeObject): boolean => isConditionTrue((object as ProcessObject).status?.conditions, 'Ready')

function whatIsWrong({ external: { host }, list }: WorldView<Machine>): string | undefined {
  const [api, migrate] = ['api', 'migrate'].map((name) => host.started.indexOf(name))
  if (api !== undefined && api >= 0 && (migrate === -1 || api < (migrate ?? 0)))
    return `the API was started before the migration: ${host.started.join(', ')}`
  const running = new Set(host.programs())
  const processes = list(Process).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const names = new Set(processes.map(nameOfProgram))
  const stray = host.programs().find((name) => !names.has(name))
  if (stray !== undefined) return `runs ${stray}, which no object asks for`
  const idle = processes.find((one) => isReady(one) && !running.has(nameOfProgram(one)))
  return idle && `Process ${idle.metadata.name} is Ready and does not run`
}

type Declaration = ControllerDeclaration<Kind, ManagedContext>
type Fields = Readonly<Record<string, unknown>>

/** What counts what has happened, and differs when that does. */
const history: ReadonlySet<string> = new Set(['run', 'runs', 'restarts', 'nextRestartAt', 'execution', 'executions'])

function withoutHistory(declaration: Declaration): Declaration {
  return {
    ...declaration,
    reconcile: (object, context) => {
      const set = (fields: Fields): void => {
        context.status.set(Object.fromEntries(Object.entries(fields).filter(([name]) => !history.has(name))) as never)
      }
      const status = new Proxy(context.status, {
        get: (real, name): unknown => {
          if (name === 'set') return set
          const value: unknown = Reflect.get(real, name, real)
          return typeof value === 'function' ? (value.bind(real) as unknown) : value
        },
      })
      return declaration.reconcile?.(object, Object.create(context, { status: { value: status } }) as typeof context)
    },
  }
}

const explored: readonly Pick<Kind, 'kind'>['kind'][] = ['Process', 'Task', 'Service', 'Endpoint']

export const scenario: Scenario<Machine> = {
  name: 'shop',
  steps,
  controllers: (process) =>
    (workloadsOf(process).controllers as readonly unknown[] as readonly Declaration[])
      .filter((one) => explored.includes(one.for.kind))
      .map(withoutHistory),
  // Watched, because a program may depend on them.
  kinds: [Task, ProcessSet, Service, Container],
  external: ({ clock }: { readonly clock: Clock }) => ({
    host: new ShopHost({ clock }),
    files: new SimulatedFiles(),
    disk: { logFiles: new SimulatedLogFiles({ clock }) },
  }),
  services: {
    host: { contents: (host: ShopHost) => host.programs() },
    files: { contents: () => ({}) },
    disk: { contents: () => ({}) },
  },
  expects: whatIsWrong,
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file is opened by the first reconcile, whatever that one is about',
    },
    {
      rule: 'deletion-first',
      about: 'host.launch for',
      because:
        'programs and objects have the same names: database.mjs is the program of db, and migrate.mjs that of a Process',
    },
    { rule: 'truth', because: 'these objects follow each other: a status is about what its own reconcile has seen' },
  ],
}
