/**
 * The controllers of the kinds that own Processes: Task, Schedule and ProcessSet, with limits and a time zone for all of them.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { defaultMaxReplicas } from './replica-limit.ts'
import { ScheduleController } from './schedules/schedule-controller.ts'
import { Schedule, scheduleKind } from './schedules/schedule-kind.ts'
import { ProcessSetController } from './sets/set-controller.ts'
import { ProcessSet, processSetKind } from './sets/set-kind.ts'
import { TaskController } from './tasks/task-controller.ts'
import { Task, taskKind } from './tasks/task-kind.ts'

export interface ProcessOwnersOptions {
  /** How many processes one Task or ProcessSet may ask for. @default 1000 */
  readonly maxReplicas?: number
  /** The time zone of Schedules that name none. @default 'UTC' */
  readonly timeZone?: string
}

export type ProcessOwners = readonly [
  ControllerDeclaration<typeof Task, ManagedContext>,
  ControllerDeclaration<typeof ProcessSet, ManagedContext>,
  ControllerDeclaration<typeof Schedule, ManagedContext>,
]

/** @throws {RangeError} for an option that cannot be used */
export function processOwners({
  maxReplicas = defaultMaxReplicas,
  timeZone = 'UTC',
}: ProcessOwnersOptions = {}): ProcessOwners {
  const isUsual = maxReplicas === defaultMaxReplicas
  const task = isUsual ? Task : taskKind({ maxReplicas })
  const set = isUsual ? ProcessSet : processSetKind({ maxReplicas })
  const schedule = isUsual ? Schedule : scheduleKind({ maxReplicas })
  return [
    new TaskController({ kind: task }).declaration(),
    new ProcessSetController({ kind: set }).declaration(),
    new ScheduleController({ kinds: { schedule, task }, timeZone }).declaration(),
  ]
}
