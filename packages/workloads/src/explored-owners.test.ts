/**
 * The Explorer on the controllers of Tasks, ProcessSets and Schedules, each together with that of Processes on a simulated machine: every
 * single fault, and planted mistakes.
 */
import type { Client, ControllerDeclaration, Kind, KubeObject } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { explore, formatReport, type Scenario, type UserStep, type WorldView } from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import {
  exploredWorkloads,
  historyOfProcess,
  programsOf,
  replaced,
  simulatedMachine,
  without,
  withStatus,
  type Machine,
} from './explored.fixture.ts'
import { Process } from './process-kind.ts'
import { Schedule } from './schedules/schedule-kind.ts'
import { Container } from './containers/container-kind.ts'
import { Service } from './services/service-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'
import { Task } from './tasks/task-kind.ts'

type Declaration = ControllerDeclaration<Kind, ManagedContext>
type Context = Parameters<NonNullable<Declaration['reconcile']>>[1]
/** The controller with a mistake that is made on purpose. */
type Mistake = (declaration: Declaration) => Declaration

const key = { name: 'it', namespace: 'default' }

const createOf = (kind: Kind, spec: object): UserStep => ({
  name: `creates a ${kind.kind}`,
  run: (user) => user.create(kind, { metadata: key, spec } as never),
})
const changeOf = (kind: Kind, name: string, patch: object): UserStep => ({
  name,
  run: async (user: Client) => user.patch((await user.get(kind, key)) as never, patch as never),
})
const removalOf = (kind: Kind): UserStep => ({
  name: 'deletes it',
  run: async (user: Client) => user.delete((await user.get(kind, key)) as never),
})

interface Explored {
  readonly kind: Kind
  /** The controllers beside that of Processes, by kind; the first one has the mistake. */
  readonly kinds: readonly string[]
  /** Its status, without what tells of the past. */
  readonly timeless: Parameters<typeof withStatus>[1]
  readonly steps: readonly UserStep[]
  readonly expects: (world: WorldView<Machine>) => string | undefined
  readonly quietMs?: number
  readonly exceptions?: Scenario<Machine>['exceptions']
}

function scenarioOf(explored: Explored, mistake?: Mistake): Scenario<Machine> {
  const { kind, kinds, timeless, steps, expects, quietMs, exceptions = [] } = explored
  return {
    ...simulatedMachine,
    exceptions: [
      ...(simulatedMachine.exceptions ?? []),
      {
        rule: 'deletion-first',
        about: 'host.launch',
        because: 'a Process is started for itself: that its owner is being deleted is followed by its own deletion',
      },
      ...exceptions,
    ],
    name: kind.kind,
    steps,
    expects,
    ...(quietMs !== undefined && { quietMs }),
    // Not all of them have a controller here, but all are watched.
    kinds: [Task, ProcessSet, Service, Container],
    controllers: (process) => {
      const [processes, ...owners] = exploredWorkloads(process).controllers
      const chosen = (owners as unknown as readonly Declaration[]).filter((one) => kinds.includes(one.for.kind))
      return [
        withStatus(processes, without(historyOfProcess)) as unknown as Declaration,
        ...chosen.map((one) => (one.for.kind === kind.kind ? withStatus(mistake ? mistake(one) : one, timeless) : one)),
      ]
    },
  }
}

const exploreWith = (explored: Explored, mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(explored, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/** The first object of a kind, as plain data. */
const found = ({ list }: WorldView<Machine>, kind: Kind) =>
  list(kind).find(
    ({ metadata: { name, deletionTimestamp } }) => name === key.name && deletionTimestamp === undefined,
  ) as
    | {
        readonly spec: Record<string, unknown>
        readonly status?: Record<string, unknown>
        readonly metadata: { deletionTimestamp?: string }
      }
    | undefined

const unlike = (what: string, actual: unknown, expected: unknown): string | undefined =>
  JSON.stringify(actual) === JSON.stringify(expected)
    ? undefined
    : `${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`

/* The scenarios. */

const template = (...command: string[]) => ({ spec: { command } })

/** One of the name that is not ours is not touched; one that another client keeps in deletion is waited for. */
const isHeld = ({ metadata }: KubeObject): boolean =>
  metadata.ownerReferences === undefined || metadata.deletionTimestamp !== undefined

/** What is wrong with a Task that has to succeed. */
function whatIsWrong(world: WorldView<Machine>): string | undefined {
  const task = found(world, Task)
  const programs = programsOf(world.external.host)
  if (programs.length > 0) return `still runs ${programs.join(', ')}`
  const processes = world.list(Process)
  if (world.list(Task).length === 0 && processes.length > 0) return 'Processes outlive their Task'
  return task && !processes.some(isHeld) ? unlike('phase', task.status?.['phase'], 'Succeeded') : undefined
}

/** How many executions a Task has begun. */
const executionsOf = (world: WorldView<Machine>): number =>
  ((found(world, Task)?.status?.['execution'] ?? {}) as { readonly number?: number }).number ?? 0

const tasks: Explored = {
  kind: Task,
  kinds: ['Task'],
  timeless: ({ executions: _, ...fields }) => ({
    ...fields,
    ...(fields['execution'] !== undefined && { execution: { ...(fields['execution'] as object), durationSeconds: 0 } }),
  }),
  steps: [createOf(Task, { retries: 3, template: template('exit', '0', '50') })],
  expects: (world) => (executionsOf(world) > 1 ? 'it has run again' : whatIsWrong(world)),
  exceptions: ['state', 'identity', 'cleanup'].map((rule) => ({
    rule,
    about: 'default/it',
    because:
      'a finished execution starts nothing: a Process that another client deletes or keeps in deletion is not made up for',
  })),
}

/** Names and numbers count requests that were performed. */
const rerun: Explored = {
  ...tasks,
  steps: [
    ...tasks.steps,
    changeOf(Task, 'requests another execution', {
      metadata: { annotations: { 'action.evenkeel.dev/rerun': 'again' } },
    }),
  ],
  expects: (world) => {
    const number = executionsOf(world)
    const processes = world.list(Process).length
    if (number > 2) return `the request was performed ${number - 1} times`
    return processes > 1 ? `${processes} Processes are left` : whatIsWrong(world)
  },
  exceptions: ['state', 'identity', 'cleanup', 'failure', 'idempotent'].map((rule) => ({
    rule,
    about: 'default/it',
    because: 'a program that starts after the request has performed fewer executions: the numbers differ',
  })),
}

const failing: Explored = {
  ...tasks,
  steps: [createOf(Task, { retries: 1, template: template('exit', '3', '50') })],
  expects: (world) => {
    const task = found(world, Task)
    return task && unlike('phase', task.status?.['phase'], 'Failed')
  },
}

const stopping: Explored = {
  ...tasks,
  steps: [
    createOf(Task, { template: template('serve') }),
    changeOf(Task, 'stops it', { spec: { running: false } }),
    removalOf(Task),
  ],
  expects: (world) => {
    const isWanted = found(world, Task)?.spec['running'] === true
    return unlike('programs', programsOf(world.external.host), isWanted ? ['serve'] : [])
  },
}

const programOf = (made: unknown): string | undefined =>
  (made as { readonly spec?: { readonly command?: readonly string[] } } | undefined)?.spec?.command?.[0]
/** Two replicas of a program, as the machine shows them. */
const running: Readonly<Record<string, readonly string[]>> = {
  serve: ['serve', 'serve'],
  fork: ['child', 'child', 'fork', 'fork'],
}

const sets: Explored = {
  kind: ProcessSet,
  kinds: ['ProcessSet'],
  timeless: without(['revisions', 'currentRevision']),
  steps: [
    createOf(ProcessSet, { replicas: 2, template: template('serve') }),
    changeOf(ProcessSet, 'gives it another program', { spec: { template: template('fork') } }),
  ],
  expects: (world) => {
    const command = programOf(found(world, ProcessSet)?.spec['template'])
    if (world.list(Process).some(isHeld)) return undefined
    if (command !== 'missing')
      return unlike('programs', programsOf(world.external.host), command === undefined ? [] : running[command])
    // What cannot run takes the place of nothing: only the spare has it, unless all were made with it.
    const those = world.list(Process).filter(({ spec }) => programOf({ spec }) === 'missing')
    const replaced = those.filter(({ metadata }) => (metadata.generation ?? 1) > 1)
    return those.length > 1 && replaced.length > 0 ? `${replaced.length} were replaced` : undefined
  },
  exceptions: ['cleanup', 'idempotent'].map((rule) => ({
    rule,
    about: 'default/it',
    because: 'a roll waits, with its spare, while another client keeps a Process in deletion',
  })),
}

/** A roll that stops at the spare. */
const blocked: Explored = {
  ...sets,
  steps: [
    createOf(ProcessSet, { replicas: 2, template: template('serve') }),
    changeOf(ProcessSet, 'gives it a program that does not exist', { spec: { template: template('missing') } }),
  ],
  exceptions: [
    { rule: 'state', because: 'what runs is kept: a set that was made with this template has nothing to keep' },
  ],
}

const schedules: Explored = {
  kind: Schedule,
  kinds: ['Schedule', 'Task'],
  timeless: without(['active', 'lastScheduleAt']),
  steps: [
    createOf(Schedule, {
      schedule: '3 0 1 1 *',
      template: { spec: { template: template('exit', '0', '50'), retries: 3 } },
    }),
  ],
  // The Schedule is made when the world has been quiet for so long, and is due 50 s later.
  quietMs: 90_000,
  expects: (world) =>
    found(world, Schedule) ? unlike('Tasks', world.list(Task).length, 1) : unlike('Tasks', world.list(Task).length, 0),
}

describe('W42: the Explorer finds nothing in any single fault of', () => {
  test.each([['Tasks', tasks]])(
    '%s',
    async (_, explored) => {
      const result = await exploreWith(explored)
      expect(result.failures.length, formatReport(result)).toBe(0)
      expect(result.left).toBe(0)
    },
    900_000,
  )
})

/* Planted mistakes. */

test.each([
  ['Tasks that run again', rerun],
  ['Tasks that fail', failing],
  ['Tasks that are stopped', stopping],
  ['ProcessSets', sets],
  ['ProcessSets with a template that does not work', blocked],
  ['Schedules', schedules],
])(
  'the Explorer finds nothing in the undisturbed schedule of %s',
  async (_, explored) => {
    const result = await exploreWith(explored, undefined, { tier: 0 })
    expect(result.failures.length, formatReport(result)).toBe(0)
  },
  300_000,
)

/** A controller that sees another object, or works with another context. */
const wrapped =
  (
    change: (object: StoredLike, context: Context) => { readonly object?: StoredLike; readonly context?: Context },
  ): Mistake =>
  (declaration) => ({
    ...declaration,
    reconcile: (object, context) => {
      const changed = change(object as StoredLike, context)
      return declaration.reconcile?.((changed.object ?? object) as never, changed.context ?? context)
    },
  })

interface StoredLike {
  readonly status?: { readonly execution?: { readonly number: number; readonly finishedAt?: string } }
}

const withPart = (context: Context, name: 'children' | 'client', methods: object): Context =>
  Object.create(context, { [name]: { value: replaced<object>(context[name], methods) } }) as Context

/** `children.once` with another spec or key. */
const once = (
  change: (desired: Child, context: Context) => { readonly desired?: object; readonly key?: string },
): Mistake =>
  wrapped((_, context) => ({
    context: withPart(context, 'children', {
      once: (kind: Kind, desired: Child, options: { readonly key: string }) => {
        const changed = change(desired, context)
        const key = `${options.key}${changed.key ?? ''}`
        return context.children.once(kind, (changed.desired ?? desired) as never, { ...options, key })
      },
    }),
  }))

interface Child {
  readonly spec: { readonly restart?: object }
}

const keepsAll: Mistake = wrapped((_, context) => ({
  context: withPart(context, 'client', { delete: () => Promise.resolve(undefined) }),
}))

const looksReady = (process: KubeObject): object => ({
  ...process,
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    observedGeneration: process.metadata.generation,
  },
})

const mistakes: readonly (readonly [name: string, explored: Explored, mistake: Mistake])[] = [
  [
    'a finished Task runs again',
    tasks,
    wrapped((object) => {
      const { number = 0, finishedAt } = object.status?.execution ?? {}
      const status = { ...object.status, execution: { number: number + 1, cause: 'it has finished' } }
      return finishedAt === undefined || number > 1 ? {} : { object: { ...object, status } }
    }),
  ],
  ['Processes of a Task are named by chance', tasks, once((_, { reconcileId }) => ({ key: reconcileId }))],
  [
    'retries are not counted',
    failing,
    once((desired) => ({ desired: { ...desired, spec: { ...desired.spec, restart: { policy: 'OnFailure' } } } })),
  ],
  ['a Task that is stopped does not end its programs', stopping, keepsAll],
  ['two Tasks for one time', schedules, once((_, { reconcileId }) => ({ key: reconcileId }))],
  [
    'an old Process is replaced before the new one is ready',
    blocked,
    wrapped((_, context) => ({
      context: withPart(context, 'children', { list: () => context.children.list().map(looksReady) }),
    })),
  ],
  ['the spare stays', sets, keepsAll],
]

test.each(mistakes)(
  'W42: the Explorer finds a planted mistake: %s',
  async (_, explored, mistake) => {
    const result = await exploreWith(explored, mistake, { until: () => true, stories: 0 })
    expect(result.failures.length).toBeGreaterThan(0)
  },
  300_000,
)
