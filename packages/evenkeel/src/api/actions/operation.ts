/**
 * An action that takes its time: an object of its own, with what was asked, how it goes and what came of it.
 */
import type { Condition } from '../conditions.ts'
import type { JsonValue } from '../json.ts'
import { defineKind } from '../kind/define-kind.ts'
import type { Kind } from '../kind/kind.ts'
import type { KubeObject } from '../object.ts'

export type OperationPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Cancelled'

export interface OperationTarget {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

export interface OperationObject extends KubeObject {
  readonly spec: {
    readonly action: string
    readonly target: OperationTarget
    readonly input?: JsonValue
    /** Who asked. */
    readonly by?: string
    /** The one field that may change: asks it to stop. */
    readonly cancel?: boolean
    readonly ttlSeconds?: number
  }
  readonly status?: {
    readonly phase?: OperationPhase
    readonly startTime?: string
    readonly completionTime?: string
    readonly message?: string
    readonly result?: JsonValue
    readonly conditions?: readonly Condition[]
    readonly observedGeneration?: number
  }
}

/** A label of operations: the uid of the object that they are about, which fits where names do not. */
export const operationTargetLabel = 'evenkeel.dev/target-uid'

const text = { type: 'string' }
const anything = { 'x-kubernetes-preserve-unknown-fields': true }

/** In the namespace of the object it is about; operations about objects without a namespace are in `default`. */
export const Operation = defineKind({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'Operation',
  categories: ['evenkeel'],
  printerColumns: [
    { name: 'Action', type: 'string', jsonPath: '.spec.action' },
    { name: 'Target', type: 'string', jsonPath: '.spec.target.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    type: 'object',
    required: ['action', 'target'],
    properties: {
      action: { ...text, minLength: 1, maxLength: 63 },
      target: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: { apiVersion: text, kind: text, name: text, uid: text },
      },
      input: anything,
      by: text,
      cancel: { type: 'boolean' },
      ttlSeconds: { type: 'integer', minimum: 0 },
    },
    'x-kubernetes-validations': [
      {
        rule: 'self.action == oldSelf.action && self.target == oldSelf.target',
        message: 'an operation cannot be changed, only cancelled',
      },
    ],
  },
  status: {
    type: 'object',
    properties: {
      phase: text,
      startTime: { ...text, format: 'date-time' },
      completionTime: { ...text, format: 'date-time' },
      message: { ...text, maxLength: 4096 },
      result: anything,
    },
  },
} as const) as unknown as Kind<OperationObject>

export function isOperationOver({ status }: Pick<OperationObject, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.phase === 'Cancelled'
}
