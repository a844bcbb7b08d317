/**
 * The kind `Task`: programs that run to completion, as Processes that the Task owns.
 *
 * Executions are numbered: a Task runs once when it is created, and once more for each request of the action `rerun`.
 */
import { defineKind, type ObjectOf, type Stored } from 'evenkeel'
import { probe, programFields, programRules, seconds } from '../process-kind.ts'
import { countField, defaultMaxReplicas, templateMetadata } from '../replica-limit.ts'

const execution = {
  type: 'object',
  properties: {
    number: { type: 'integer' },
    cause: { type: 'string' },
    startedAt: { type: 'string', format: 'date-time' },
    finishedAt: { type: 'string', format: 'date-time' },
    durationSeconds: { type: 'integer' },
    /** `Completed`, or why it failed. */
    reason: { type: 'string' },
    message: { type: 'string' },
    /** The programs that have succeeded, as in a Job: `0-2,4`. */
    completedIndexes: { type: 'string' },
  },
} as const

/** The spec of a Task; that of a Schedule contains it. */
export function taskSpec(maxReplicas: number) {
  return {
    type: 'object',
    required: ['template'],
    properties: {
      template: {
        type: 'object',
        required: ['spec'],
        properties: {
          metadata: templateMetadata,
          spec: {
            type: 'object',
            properties: {
              ...programFields,
              probes: { type: 'object', properties: { startup: probe, liveness: probe } },
            },
            'x-kubernetes-validations': programRules,
          },
        },
      },
      completions: countField(maxReplicas, { minimum: 1 }),
      concurrency: { type: 'integer', minimum: 1 },
      retries: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 },
      backoff: {
        type: 'object',
        default: {},
        properties: {
          initialSeconds: { ...seconds, default: 1 },
          maxSeconds: { ...seconds, default: 60 },
        },
      },
      activeDeadlineSeconds: { type: 'integer', minimum: 1 },
      ttlSecondsAfterFinished: { type: 'integer', minimum: 0 },
      running: { type: 'boolean', default: true },
    },
  } as const
}

export function taskKind({ maxReplicas = defaultMaxReplicas }: { readonly maxReplicas?: number } = {}) {
  return defineKind({
    group: 'workloads.evenkeel.dev',
    version: 'v1',
    kind: 'Task',
    categories: ['app'],
    printerColumns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Succeeded', type: 'integer', jsonPath: '.status.succeeded' },
      { name: 'Wanted', type: 'integer', jsonPath: '.spec.completions' },
      { name: 'Execution', type: 'integer', jsonPath: '.status.execution.number' },
      { name: 'Seconds', type: 'integer', jsonPath: '.status.execution.durationSeconds' },
      { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    spec: taskSpec(maxReplicas),
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string' },
        active: { type: 'integer' },
        succeeded: { type: 'integer' },
        failed: { type: 'integer' },
        execution,
        executions: { type: 'array', items: execution },
      },
    },
    reports: ['actions', 'children', 'dependencies'],
  } as const)
}

export const Task = taskKind()

export type TaskObject = Stored<ObjectOf<typeof Task>>
type TaskStatus = NonNullable<TaskObject['status']>
export type Execution = NonNullable<TaskStatus['execution']>
