/**
 * What every status has, asked for or not: `conditions` and `observedGeneration`; and what none has: required fields.
 *
 * Controllers write both, and kubectl (`wait`, `describe`) reads them. A server drops what the schema of a kind does not
 * mention, so a schema that says nothing about them gets them added; one that has a field of such a name keeps its own.
 *
 * A status is written bit by bit: a reconcile that waits or fails has conditions to report and nothing else yet. A server
 * would refuse that for the lack of a required field, and what it should have said would be lost.
 */
import type { Condition } from '../conditions.ts'
import { getOwn, isJsonObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { additionalStatusSchemas, verbStatusSchemas } from './verb-status.ts'
import type { VerbReport, VerbStatus } from './verb-status.ts'

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

/** The verbs' fields only where the kind says that it reports them. */
type Added<Report extends VerbReport> = [Report] extends [never]
  ? StandardStatus
  : StandardStatus & Pick<VerbStatus, Report | ('children' extends Report ? 'childCounts' : never)>

type Flatten<T> = { [Name in keyof T]: T[Name] }

const generation: JsonObject = { type: 'integer', format: 'int64', minimum: 0 }

/** As upstream has it, limits included: the lists of one kind can be read by the tools for any other. */
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

/** The schema of a status with the fields it lacks and none required; one that keeps whatever it is given, or is no object, as it is. */
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
