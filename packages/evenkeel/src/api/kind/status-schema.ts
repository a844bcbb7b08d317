/**
 * The standard fields of a status: `conditions` and `observedGeneration` in every kind, and the reports of verbs where
 * a kind asks for them. No field of a status is required.
 *
 * Controllers write these fields, and kubectl (`wait`, `describe`) reads `conditions`. A server prunes fields that are
 * not in the schema, so they are added to a schema without them; a schema with a field of the same name keeps its own.
 *
 * A controller writes a status step by step: a reconcile that waits or fails reports conditions and nothing else. With
 * required fields a server would reject that write, and the report would be lost.
 *
 * Each verb has one field: `children`, `dependencies`, `actions`, `external`. A kind lists the reports that it has;
 * other verbs report in conditions only. The lists are associative, so that two writers of one status do not overwrite
 * each other.
 */
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import type { Condition } from '../conditions.ts'

/** The fields that are added. */
export interface StandardStatus {
  readonly conditions?: readonly Condition[]
  /** The `metadata.generation` that the rest of the status is about. */
  readonly observedGeneration?: number
}

/** A status with the fields that its own type does not have, none of them required. Open types stay as they are. */
export type WithStandardStatus<S, Report extends VerbReport = never> = S extends object
  ? string extends keyof S
    ? [S[string]] extends [never]
      ? Added<Report>
      : S
    : Flatten<Partial<S> & Omit<Added<Report>, keyof S>>
  : S

/** The fields of verbs, only where the kind lists them. */
type Added<Report extends VerbReport> = [Report] extends [never]
  ? StandardStatus
  : StandardStatus & Pick<VerbStatus, Report | ('children' extends Report ? 'childCounts' : never)>

type Flatten<T> = { [Name in keyof T]: T[Name] }

const generation: JsonObject = { type: 'integer', format: 'int64', minimum: 0 }

/** The schema of upstream, with its limits: tools for one kind can read the conditions of any other. */
const conditions: JsonObject = {
  type: 'array',
  description: 'What was observed, one entry for each type.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: {
        type: 'string',
        maxLength: 316,
        pattern:
          '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      observedGeneration: generation,
      lastTransitionTime: { type: 'string', format: 'date-time' },
      reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      message: { type: 'string', maxLength: 32_768 },
    },
  },
}

const standard: JsonObject = {
  conditions,
  observedGeneration: { ...generation, description: 'The metadata.generation that the rest of the status is about.' },
}

/**
 * The schema of a status with the missing standard fields and no required ones. A schema that preserves unknown fields,
 * or is not an object, stays unchanged.
 */
export function withStandardStatus(given: JsonObject, reports: readonly VerbReport[] = []): JsonObject {
  const { required: _, ...schema } = given
  const { type, properties = {}, additionalProperties = false, $ref } = schema
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    additionalProperties !== false ||
    schema['patternProperties'] !== undefined
  if (type !== 'object' || isOpen || $ref !== undefined || !isJsonObject(properties)) return given
  const reported = reports.flatMap((report) => [
    [report, verbStatusSchemas[report]] as const,
    ...Object.entries(additionalStatusSchemas[report] ?? {}),
  ])
  const missing = [...Object.entries(standard), ...reported].filter(([name]) => getOwn(properties, name) === undefined)
  return missing.length === 0 ? schema : { ...schema, properties: { ...properties, ...Object.fromEntries(missing) } }
}

// The reports of verbs.

/** The verbs with a field in the status of a kind. */
export type VerbReport = 'children' | 'dependencies' | 'actions' | 'external'

/** The state of a child or dependency, in one word. */
export type PartState = 'Pending' | 'Applied' | 'Progressing' | 'Ready' | 'Failed' | 'Terminating' | 'Missing'

/** One child, as its parent reports it. */
export interface ChildReport {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly apiVersion?: string
  /** The reporting controller, where several have children of one parent; the first of them omits it. */
  readonly controller?: string
  readonly uid?: string
  /** The generation of the parent for which it was applied. */
  readonly appliedForGeneration?: number
  /** The generation of the child itself. */
  readonly generation?: number
  readonly observedGeneration?: number
  readonly state: PartState
  readonly reason?: string
  readonly message?: string
  /** Changes only with the state. */
  readonly lastTransitionTime?: string
}

/** The number of children of a kind, when there are too many to list. */
export interface ChildCount {
  readonly group: string
  readonly kind: string
  readonly total: number
  readonly ready: number
}

/** One dependency, as the dependent object reports it. */
export interface DependencyReport {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly apiVersion?: string
  readonly uid?: string
  readonly state: PartState
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  /** The generation of the dependent object for which the dependency was ready once, where that is enough. */
  readonly readyForGeneration?: number
  /** The last contract that the ready dependency published, where it is kept. */
  readonly contract?: JsonValue
}

/** The result of the last request for an action. */
export interface ActionReport {
  readonly name: string
  /** The last handled request; it is not handled again. */
  readonly lastHandled?: string
  readonly lastHandledTime?: string
  readonly state?: string
  readonly message?: string
}

/** The external resource of an object. */
export interface ExternalReport {
  readonly id?: string
  /** How the ownership of the external resource is recognised: S1 to S5. */
  readonly strategy?: string
  readonly lastObservedTime?: string
  /** Written before the external resource is created, so that after a crash the controller knows that one may exist. */
  readonly lastCreateAttempt?: {
    /** The number of external resources created, or attempted, for the object. */
    readonly number?: number
    readonly time?: string
    readonly key?: string
    /** Pending, Created, Adopted, Refused or Unknown. */
    readonly outcome?: string
  }
  /** The generation of the object last applied to the external resource. */
  readonly observedGeneration?: number
  /** The needed objects, and their versions last applied to the external resource. */
  readonly needs?: readonly { readonly name: string; readonly uid: string; readonly resourceVersion: string }[]
  readonly drift?: { readonly paths?: readonly string[]; readonly count?: number; readonly lastRevertedTime?: string }
}

/** The fields of a status that verbs write. */
interface VerbStatus {
  readonly children?: readonly ChildReport[]
  /** Only when there are more children than are listed. */
  readonly childCounts?: readonly ChildCount[]
  readonly dependencies?: readonly DependencyReport[]
  readonly actions?: readonly ActionReport[]
  readonly external?: ExternalReport
}

const text: JsonObject = { type: 'string' }
const time: JsonObject = { type: 'string', format: 'date-time' }
const count: JsonObject = { type: 'integer', format: 'int64' }
const state: JsonObject = {
  type: 'string',
  enum: ['Pending', 'Applied', 'Progressing', 'Ready', 'Failed', 'Terminating', 'Missing'],
}

const part = {
  group: text,
  kind: text,
  namespace: text,
  name: text,
  apiVersion: text,
  uid: text,
  generation: count,
  observedGeneration: count,
  state,
  reason: text,
  message: { ...text, maxLength: 1024 },
  lastTransitionTime: time,
}

function partsByName(description: string, properties: JsonObject): JsonObject {
  const keys = ['group', 'kind', 'namespace', 'name']
  return {
    type: 'array',
    description,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    items: { type: 'object', required: [...keys, 'state'], properties },
  }
}

/** The schema of each field. */
const verbStatusSchemas: Readonly<Record<VerbReport, JsonObject>> = {
  children: partsByName('What was made for this object, and how it is.', {
    ...part,
    controller: text,
    appliedForGeneration: count,
  }),
  dependencies: partsByName('What this object depends on, and how it is.', {
    ...part,
    readyForGeneration: count,
    contract: { 'x-kubernetes-preserve-unknown-fields': true },
  }),
  actions: {
    type: 'array',
    description: 'Which requests for actions were handled.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        name: text,
        lastHandled: text,
        lastHandledTime: time,
        state: text,
        message: { ...text, maxLength: 1024 },
      },
    },
  },
  external: {
    type: 'object',
    description: 'The external resource of this object.',
    properties: {
      id: text,
      strategy: text,
      lastObservedTime: time,
      observedGeneration: count,
      lastCreateAttempt: { type: 'object', properties: { number: count, time, key: text, outcome: text } },
      needs: {
        type: 'array',
        items: { type: 'object', properties: { name: text, uid: text, resourceVersion: text } },
      },
      drift: { type: 'object', properties: { paths: { type: 'array', items: text }, count, lastRevertedTime: time } },
    },
  },
}

/** Further fields of a report. */
const additionalStatusSchemas: Readonly<Partial<Record<VerbReport, Readonly<Record<string, JsonObject>>>>> = {
  children: {
    childCounts: {
      type: 'array',
      description: 'How many children there are of each kind, when not all are listed.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['group', 'kind'],
      items: {
        type: 'object',
        required: ['group', 'kind', 'total', 'ready'],
        properties: { group: text, kind: text, total: count, ready: count },
      },
    },
  },
}
