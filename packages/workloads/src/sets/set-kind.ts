/**
 * The kind `ProcessSet`: several Processes from one template, which a change of the template replaces one after the other.
 */
import { defineKind, type ObjectOf, type Stored } from 'evenkeel'
import { probesField, programFields, programRules, restartField } from '../process-kind.ts'
import { countField, defaultMaxReplicas, templateMetadata } from '../replica-limit.ts'

const revision = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    since: { type: 'string', format: 'date-time' },
    cause: { type: 'string' },
  },
} as const

const printerColumns = [
  { name: 'Wanted', type: 'integer', jsonPath: '.spec.replicas' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
  { name: 'Updated', type: 'integer', jsonPath: '.status.updatedReplicas' },
  { name: 'Revision', type: 'string', jsonPath: '.status.updateRevision', priority: 1 },
  { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const

export function processSetKind({ maxReplicas = defaultMaxReplicas }: { readonly maxReplicas?: number } = {}) {
  return defineKind({
    group: 'workloads.evenkeel.dev',
    version: 'v1',
    kind: 'ProcessSet',
    shortNames: ['pset'],
    categories: ['app'],
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
    printerColumns,
    spec: {
      type: 'object',
      required: ['template'],
      properties: {
        replicas: countField(maxReplicas, { minimum: 0 }),
        template: {
          type: 'object',
          required: ['spec'],
          properties: {
            metadata: templateMetadata,
            spec: {
              type: 'object',
              properties: { ...programFields, restart: restartField, probes: probesField },
              'x-kubernetes-validations': programRules,
            },
          },
        },
        /** A change of the template reaches only Processes with this number or a higher one. */
        partition: { type: 'integer', minimum: 0, default: 0 },
        /** A change of the template waits. */
        paused: { type: 'boolean', default: false },
      },
    },
    status: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        readyReplicas: { type: 'integer' },
        updatedReplicas: { type: 'integer' },
        selector: { type: 'string' },
        /** The revision that all Processes had last. */
        currentRevision: { type: 'string' },
        /** The revision of the template. */
        updateRevision: { type: 'string' },
        revisions: { type: 'array', items: revision },
        /** The last request to restart all Processes. */
        restart: { type: 'object', properties: { token: { type: 'string' }, by: { type: 'string' } } },
      },
    },
    reports: ['actions', 'children', 'dependencies'],
  } as const)
}

export const ProcessSet = processSetKind()

export type ProcessSetObject = Stored<ObjectOf<typeof ProcessSet>>
export type ProcessSetStatus = NonNullable<ProcessSetObject['status']>
