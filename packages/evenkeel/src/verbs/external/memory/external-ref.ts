/**
 * ExternalRef: a record of ours for one thing outside, for systems that cannot say themselves whose it is.
 *
 *   Intent ──▶ Created (with its id) ──▶ Deleting ──▶ gone
 *
 * It is written before the thing is made and goes when the thing is confirmed gone. It has a finalizer and no owner
 * reference: it must outlive the object, whatever happens to that.
 */
import { declareKind } from '#api'
import type { JsonObject, KubeObject } from '#api'

export interface ExternalRefObject extends KubeObject {
  readonly spec: {
    /** The driver, and the installation. */
    readonly system: string
    readonly instance: string
    readonly owner: {
      readonly apiVersion: string
      readonly kind: string
      readonly namespace?: string
      readonly name: string
      readonly uid: string
    }
    readonly phase: 'Intent' | 'Created' | 'Deleting'
    readonly id?: string
    readonly attempt?: {
      readonly number: number
      readonly key: string
      readonly time: string
      readonly outcome: string
    }
    readonly observedGeneration?: number
  }
}

/** On every ExternalRef: it stays until its thing is confirmed gone. */
export const refFinalizer = 'external.evenkeel.dev/thing'

const text: JsonObject = { type: 'string' }
const count: JsonObject = { type: 'integer', format: 'int64' }

export const ExternalRef = declareKind<ExternalRefObject>({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'ExternalRef',
  scope: 'Cluster',
  statusSubresource: false,
  printerColumns: [
    { name: 'System', type: 'string', jsonPath: '.spec.system' },
    { name: 'Phase', type: 'string', jsonPath: '.spec.phase' },
    { name: 'Id', type: 'string', jsonPath: '.spec.id' },
    { name: 'Owner', type: 'string', jsonPath: '.spec.owner.name' },
  ],
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        required: ['system', 'instance', 'owner', 'phase'],
        properties: {
          system: text,
          instance: text,
          id: text,
          observedGeneration: count,
          phase: { type: 'string', enum: ['Intent', 'Created', 'Deleting'] },
          owner: {
            type: 'object',
            required: ['apiVersion', 'kind', 'name', 'uid'],
            properties: { apiVersion: text, kind: text, namespace: text, name: text, uid: text },
          },
          attempt: {
            type: 'object',
            required: ['key', 'outcome'],
            properties: { number: count, key: text, time: text, outcome: text },
          },
        },
      },
    },
  },
})
