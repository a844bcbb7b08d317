/**
 * The kind `Schedule`: makes a Task at each time of a cron expression.
 */
import { defineKind, type ObjectOf, type Stored } from 'evenkeel'
import { defaultMaxReplicas, templateMetadata } from '../replica-limit.ts'
import { taskSpec } from '../tasks/task-kind.ts'

const limit = { type: 'integer', minimum: 0, maximum: 1000 } as const

export function scheduleKind({ maxReplicas = defaultMaxReplicas }: { readonly maxReplicas?: number } = {}) {
  return defineKind({
    group: 'workloads.evenkeel.dev',
    version: 'v1',
    kind: 'Schedule',
    shortNames: ['sched'],
    categories: ['app'],
    printerColumns: [
      { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
      { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
      { name: 'Last', type: 'date', jsonPath: '.status.lastScheduleAt' },
      { name: 'Next', type: 'string', jsonPath: '.status.nextScheduleAt' },
      { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    spec: {
      type: 'object',
      required: ['schedule', 'template'],
      properties: {
        schedule: { type: 'string', minLength: 1, maxLength: 200 },
        timeZone: { type: 'string', minLength: 1, maxLength: 100 },
        template: {
          type: 'object',
          required: ['spec'],
          properties: { metadata: templateMetadata, spec: taskSpec(maxReplicas) },
        },
        concurrencyPolicy: { type: 'string', enum: ['Allow', 'Forbid', 'Replace'], default: 'Allow' },
        startingDeadlineSeconds: { type: 'integer', minimum: 1 },
        missedPolicy: { type: 'string', enum: ['RunLatest', 'Skip'], default: 'RunLatest' },
        successfulTasksHistoryLimit: { ...limit, default: 3 },
        failedTasksHistoryLimit: { ...limit, default: 1 },
        suspend: { type: 'boolean', default: false },
      },
    },
    status: {
      type: 'object',
      properties: {
        /** The last time for which a Task was made. */
        lastScheduleAt: { type: 'string', format: 'date-time' },
        nextScheduleAt: { type: 'string', format: 'date-time' },
        /** About every time up to this one it is decided what to do. */
        decidedUntil: { type: 'string', format: 'date-time' },
        /** What `decidedUntil` is about; none while it is suspended. */
        schedule: { type: 'string' },
        active: { type: 'array', items: { type: 'string' } },
      },
    },
    reports: ['actions', 'children'],
  } as const)
}

export const Schedule = scheduleKind()

export type ScheduleObject = Stored<ObjectOf<typeof Schedule>>
