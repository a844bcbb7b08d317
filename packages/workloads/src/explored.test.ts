/** The Explorer on the controller of Processes, with a simulated machine: every single fault, and planted mistakes. */
import { describe, expect, test } from 'vitest'
import { explore, formatReport, type Scenario, type UserStep } from 'evenkeel/testing'
import type { Client } from 'evenkeel'
import { Process } from './process-kind.ts'
import type { Files } from './files.ts'
import type { ProcessHost } from './process-host.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
import { ScriptedProbes } from './plane.fixture.ts'
import { workloads, type Workloads } from './workloads.ts'

const web = { name: 'web', namespace: 'default' }

const spec = async (user: Client, change: object): Promise<unknown> =>
  user.patch(await user.get(Process, web), { spec: change } as never)

const create: UserStep = {
  name: 'creates Process web',
  run: (user) =>
    user.create(Process, { metadata: web, spec: { command: ['fork'], ports: [{ name: 'http' }] } } as never),
}
const remove: UserStep = { name: 'deletes it', run: async (user) => user.delete(await user.get(Process, web)) }
const allSteps: readonly UserStep[] = [
  create,
  { name: 'changes its command', run: (user) => spec(user, { command: ['serve'] }) },
  { name: 'stops it', run: (user) => spec(user, { running: false }) },
  { name: 'starts it', run: (user) => spec(user, { running: true }) },
  remove,
]

type Declaration = Workloads['controllers'][0]

interface External {
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly probes: ScriptedProbes
}

/** What tells of the past: it differs when the past does, as it should. */
const history = ['run', 'runs', 'restarts', 'nextRestartAt']

/** The controller, with a status that does not tell of the past. */
function withoutHistory(declaration: Declaration): Declaration {
  const { reconcile } = declaration
  return {
    ...declaration,
    reconcile: (object, context) => {
      const set = (fields: object): void => {
        context.status.set(Object.fromEntries(Object.entries(fields).filter(([name]) => !history.includes(name))))
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
  readonly host?: (host: ProcessHost) => object
  readonly files?: (files: Files) => object
  readonly declaration?: (declaration: Declaration) => Partial<Declaration>
}

/** The object with some methods replaced. */
function replaced<T extends object>(target: T, methods: object): T {
  return new Proxy(target, {
    get: (real, name): unknown => (name in methods ? Reflect.get(methods, name) : Reflect.get(real, name)),
  })
}

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = {}): Scenario<External> => ({
  name: 'processes',
  steps,
  external: ({ clock }) => ({
    host: new SimulatedHost({ clock }),
    files: new SimulatedFiles(),
    probes: new ScriptedProbes(),
  }),
  services: {
    // Which programs run, not under which pid; what files contain is for the next Evenkeel.
    host: {
      contents: (host: SimulatedHost) =>
        host
          .processes()
          .map(({ command }) => command)
          .sort(),
    },
    files: { contents: () => ({}) },
    probes: { contents: () => ({}) },
  },
  controllers: ({ external, clock, random, log }) => {
    const [declaration] = workloads({
      folder: '/data',
      cwd: '/app',
      env: { PATH: '/bin' },
      host: replaced<ProcessHost>(external.host, mistake.host?.(external.host) ?? {}),
      files: replaced<Files>(external.files, mistake.files?.(external.files) ?? {}),
      checks: external.probes,
      clock,
      random,
      log,
    }).controllers
    return [withoutHistory({ ...declaration, ...mistake.declaration?.(declaration) })]
  },
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file is opened by the first reconcile, whatever that one is about',
    },
  ],
  expects: ({ external: { host }, list }) => {
    const programs = host
      .processes()
      .map(({ command }) => command)
      .sort()
      .join(', ')
    const object = list(Process).find(({ metadata }) => metadata.name === web.name)
    const { command = [], running = true } = (object?.['spec'] ?? {}) as {
      command?: readonly string[]
      running?: boolean
    }
    const isWanted = object?.metadata.deletionTimestamp === undefined && running
    const expected = object && isWanted ? (command[0] === 'fork' ? 'child, fork' : 'serve') : ''
    return programs === expected ? undefined : `runs ${programs || 'nothing'} instead of ${expected || 'nothing'}`
  },
})

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/** A machine whose processes have lost their marks. */
const withoutMarks = (host: ProcessHost): object => ({
  listProcesses: async () => (await host.listProcesses(0)).map(({ mark: _, ...entry }) => entry),
})
/** A session file that has no lines of this event. */
const withoutLines = (event: string) => (files: Files) => ({
  appendText: (path: string, text: string) =>
    text.startsWith(`${event} `) ? Promise.resolve() : files.appendText(path, text),
})

const mistakes: readonly (readonly [name: string, mistake: Mistake])[] = [
  [
    'children are not looked for',
    {
      host: (host) => ({
        listProcesses: async () => (await host.listProcesses(0)).filter(({ command }) => command !== 'child'),
      }),
    },
  ],
  ['marks are not read, so a run that was started and not recorded is not found', { host: withoutMarks }],
  ['the session file is not read', { files: () => ({ findText: () => Promise.resolve(undefined) }) }],
  ['no line before a start', { files: withoutLines('start') }],
  ['no line after a start, and no marks', { host: withoutMarks, files: withoutLines('started') }],
  ['processes outlive their object', { declaration: () => ({ cleanup: () => undefined }) }],
  ['exits are not events', { host: () => ({ exits: { subscribe: () => () => undefined } }) }],
]

describe('W42: the Explorer', () => {
  test('finds nothing in any single fault', async () => {
    const explored = await exploreWith(allSteps)
    expect(explored.failures, formatReport(explored)).toEqual([])
    expect(explored.left).toBe(0)
    expect(explored.schedules).toBeGreaterThan(500)
  }, 900_000)

  test('finds nothing in the scenario of the planted mistakes without one', async () => {
    const explored = await exploreWith([create, remove])
    expect(explored.failures, formatReport(explored)).toEqual([])
  }, 300_000)

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, mistake) => {
      const explored = await exploreWith([create, remove], mistake, { until: () => true, stories: 0 })
      expect(explored.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
