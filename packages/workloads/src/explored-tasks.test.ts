/** The Explorer on the controller of Tasks, together with that of Processes: every single fault, and planted mistakes. */
import { formatReport, type WorldView } from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import {
  changeOf,
  createOf,
  exploreWith,
  found,
  isExplored,
  isHeld,
  keepsAll,
  once,
  removalOf,
  single,
  template,
  timelessTask,
  unlike,
  wrapped,
  type Explored,
  type Mistake,
} from './explored-owners.fixture.ts'
import { programsOf, type Machine } from './explored.fixture.ts'
import { Process } from './process-kind.ts'
import { Task } from './tasks/task-kind.ts'

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
  timeless: timelessTask,
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
    const processes = world.list(Process).filter((one) => !isHeld(one)).length
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
    return task && !world.list(Process).some(isHeld) ? unlike('phase', task.status?.['phase'], 'Failed') : undefined
  },
  exceptions: [
    ...(tasks.exceptions ?? []),
    {
      rule: 'failure',
      about: 'default/it',
      because: 'only a parent is told an exit code: after a crash the message says that it is unknown',
    },
  ],
}

const stopping: Explored = {
  ...tasks,
  steps: [
    createOf(Task, { template: template('serve'), retries: 3 }),
    changeOf(Task, 'stops it', { spec: { running: false } }),
    removalOf(Task),
  ],
  expects: (world) => {
    if (world.list(Process).some(isHeld)) return undefined
    const { spec, status } = found(world, Task) ?? {}
    const { reason } = (status?.['execution'] ?? {}) as { readonly reason?: string }
    // Another client may set a deadline for a while: an execution that has finished starts nothing.
    const isWanted = spec?.['running'] === true && reason !== 'DeadlineExceeded'
    return unlike('programs', programsOf(world.external.host), isWanted ? ['serve'] : [])
  },
}

describe('W42: the Explorer finds nothing in any single fault of', () => {
  test.each([
    ['Tasks', tasks],
    ['Tasks that run again', rerun],
    ['Tasks that fail', failing],
    ['Tasks that are stopped', stopping],
  ])(
    '%s',
    async (_, explored) => {
      const result = await exploreWith(explored, undefined, single)
      expect(result.failures.length, formatReport(result)).toBe(0)
      expect(isExplored(result)).toBe(true)
    },
    900_000,
  )
})

/* Planted mistakes. */

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
]

test.each(mistakes)(
  'W42: the Explorer finds a planted mistake: %s',
  async (_, explored, mistake) => {
    const result = await exploreWith(explored, mistake, { until: () => true, stories: 0 })
    expect(result.failures.length).toBeGreaterThan(0)
  },
  300_000,
)
