/** The Explorer on the controller of Schedules, together with those of Tasks and Processes: every single fault, and planted mistakes. */
import type { KubeObject } from 'evenkeel'
import { formatReport } from 'evenkeel/testing'
import { expect, test } from 'vitest'
import {
  changeOf,
  exploreWith,
  isExplored,
  single,
  key,
  once,
  template,
  type Explored,
} from './explored-owners.fixture.ts'
import { without } from './explored.fixture.ts'
import { Schedule } from './schedules/schedule-kind.ts'
import { Task } from './tasks/task-kind.ts'

const schedules: Explored = {
  kind: Schedule,
  kinds: ['Schedule', 'Task'],
  timeless: without(['active', 'lastScheduleAt']),
  // Due two minutes after the world has begun, also by a clock that is five minutes wrong within the quiet time.
  objects: [
    {
      apiVersion: 'workloads.evenkeel.dev/v1',
      kind: 'Schedule',
      metadata: key,
      spec: { schedule: '2 0 1 1 *', template: { spec: { template: template('exit', '0', '50'), retries: 3 } } },
    } as KubeObject,
  ],
  steps: [changeOf(Schedule, 'labels it', { metadata: { labels: { seen: 'yes' } } })],
  quietMs: 480_000,
  expects: (world) => {
    // Another client makes Tasks that fail, with names of their own.
    const made = world.list(Task).filter(({ metadata: { name } }) => /^it-\d+$/.test(name ?? ''))
    return made.length > 1 ? `${made.length} Tasks for one time` : undefined
  },
  // What a crash or an error must not lose is compared with the undisturbed schedule by the other rules.
  exceptions: ['state', 'identity', 'cleanup'].map((rule) => ({
    rule,
    about: 'default/it',
    because:
      'a time is decided once, and a Schedule that is made again has no times in the past: a Task that another client deletes is not made up for',
  })),
}

test('W42: the Explorer finds nothing in any single fault of Schedules', async () => {
  const result = await exploreWith(schedules, undefined, single)
  expect(result.failures.length, formatReport(result)).toBe(0)
  expect(isExplored(result)).toBe(true)
}, 900_000)

test('W42: the Explorer finds a planted mistake: two Tasks for one time', async () => {
  const mistake = once((_, { reconcileId }) => ({ key: reconcileId }))
  const result = await exploreWith(schedules, mistake, { until: () => true, stories: 0 })
  expect(result.failures.length).toBeGreaterThan(0)
}, 300_000)
