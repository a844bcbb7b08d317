/**
 * The Explorer on the controllers of Tasks, ProcessSets and Schedules, each together with that of Processes on a simulated machine: every
 * single fault, and planted mistakes.
 */
import type { Client, ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { explore, formatReport, type Scenario, type UserStep, type WorldView } from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import {
  exploredWorkloads,
  historyOfProcess,
  programsOf,
  replaced,
  simulatedMachine,
  withoutFields,
  type Machine,
} from './explored.fixture.ts'
import { Schedule } from './schedules/schedule-kind.ts'
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
  /** What tells of the past in its status. */
  readonly history: readonly string[]
  readonly steps: readonly UserStep[]
  readonly expects: (world: WorldView<Machine>) => string | undefined
  readonly quietMs?: number
}

function scenarioOf({ kind, kinds, history, steps, expects, quietMs }: Explored, mistake?: Mistake): Scenario<Machine> {
  return {
    ...simulatedMachine,
    name: kind.kind,
    steps,
    expects,
    ...(quietMs !== undefined && { quietMs }),
    // Not all of them have a controller here, but all are watched.
    kinds: [Task, ProcessSet],
    controllers: (process) => {
      const [processes, ...owners] = exploredWorkloads(process).controllers
      const chosen = (owners as unknown as readonly Declaration[]).filter((one) => kinds.includes(one.for.kind))
      return [
        withoutFields(processes, historyOfProcess) as unknown as Declaration,
        ...chosen.map((one) =>
          one.for.kind === kind.kind ? withoutFields(mistake ? mistake(one) : one, history) : one,
        ),
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
  list(kind)[0] as
    | { readonly spec: Record<string, unknown>; readonly status?: Record<string, unknown>; readonly metadata: { deletionTimestamp?: string } }
    | undefined

const unlike = (what: string, actual: unknown, expected: unknown): string | undefined =>
  JSON.stringify(actual) === JSON.stringify(expected)
    ? undefined
    : `${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`

/* The scenarios. */

const template = (...command: string[]) => ({ spec: { command } })

const tasks: Explored = {
  kind: Task,
  kinds: ['Task'],
  history: [],
  steps: [
    createOf(Task, { completions: 2, concurrency: 1, retries: 3, template: template('exit', '0', '50') }),
    changeOf(Task, 'requests another execution', { metadata: { annotations: { 'action.evenkeel.dev/rerun': 'again' } } }),
    removalOf(Task),
  ],
  expects: (world) => {
    const task = found(world, Task)
    const programs = programsOf(world.external.host)
    if (programs.length > 0) return `still runs ${programs.join(', ')}`
    return task && unlike('phase', task.status?.['phase'], 'Succeeded')
  },
}

const failing: Explored = {
  ...tasks,
  steps: [createOf(Task, { completions: 2, retries: 1, template: template('exit', '3', '50') })],
  expects: (world) => unlike('phase', found(world, Task)?.status?.['phase'], 'Failed'),
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

const sets: Explored = {
  kind: ProcessSet,
  kinds: ['ProcessSet'],
  history: ['revisions', 'currentRevision'],
  steps: [
    createOf(ProcessSet, { replicas: 2, template: template('serve') }),
    changeOf(ProcessSet, 'gives it a program that does not exist', { spec: { template: template('missing') } }),
    changeOf(ProcessSet, 'gives it one that does', { spec: { template: template('fork') } }),
    removalOf(ProcessSet),
  ],
  expects: (world) => {
    const set = found(world, ProcessSet)
    const { command = [] } = ((set?.spec['template'] ?? {}) as { spec?: { command?: string[] } }).spec ?? {}
    const programs = programsOf(world.external.host)
    if (!set) return unlike('programs', programs, [])
    // A program that does not exist replaces none that runs.
    return command[0] === 'missing' ? undefined : unlike('programs', programs, command[0] === 'fork' ? ['child', 'child', 'fork', 'fork'] : ['serve', 'serve'])
  },
}

const schedules: Explored = {
  kind: Schedule,
  kinds: ['Schedule', 'Task'],
  history: ['active', 'lastScheduleAt'],
  steps: [
    createOf(Schedule, { schedule: '1 0 1 1 *', template: { spec: { template: template('exit', '0', '50'), retries: 3 } } }),
    removalOf(Schedule),
  ],
  quietMs: 90_000,
  expects: (world) =>
    found(world, Schedule) ? unlike('Tasks', world.list(Task).length, 1) : unlike('Tasks', world.list(Task).length, 0),
}

describe('W42: the Explorer finds nothing in any single fault of', () => {
  test.each([
    ['Tasks that complete', tasks],
    ['Tasks that fail', failing],
    ['Tasks that are stopped', stopping],
    ['ProcessSets', sets],
    ['Schedules', schedules],
  ])(
    '%s',
    async (_, explored) => {
      const result = await exploreWith(explored)
      expect(result.failures.length, formatReport(result)).toBe(0)
      expect(result.left).toBe(0)
    },
    900_000,
  )
})
void replaced
void 0 as unknown as Context
