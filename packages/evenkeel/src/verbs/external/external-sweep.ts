/**
 * ExternalSweep: the result of the last sweep that belongs to no object, and the questions that a person must confirm.
 *
 * There is one cluster-scoped object for each verb. A question has a hash over its resource ids. A person confirms it by
 * putting that hash into the annotation `external.evenkeel.dev/confirm`. Another set of ids has another hash, so a
 * confirmation never covers resources that the person has not seen.
 */
import { declareKind, deepEqual, type JsonObject, type KubeObject } from '#api'
import type { BaseContext } from '#controller'
import { resourceHash } from './ownership-labels.ts'
import { annotationOf } from './policy.ts'

/** An action that needs the confirmation of a person. */
export interface SweepQuestion {
  readonly what: 'deleteForeign' | 'deleteOrphans' | 'recreateMissing'
  readonly message: string
  readonly count: number
  /** The first 100. */
  readonly ids: readonly string[]
  readonly hash: string
}

interface SweepReport {
  readonly system: string
  readonly instance: string
  readonly questions: readonly SweepQuestion[]
  /** Resources with our ownership labels whose object is gone. */
  readonly orphans: readonly string[]
  /** Resources with our ownership labels and an invalid seal. */
  readonly suspicious: readonly string[]
}

export interface ExternalSweepObject extends KubeObject {
  readonly report: SweepReport
}

const text: JsonObject = { type: 'string' }
const texts: JsonObject = { type: 'array', items: text }

export const ExternalSweep = declareKind<ExternalSweepObject>({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'ExternalSweep',
  scope: 'Cluster',
  statusSubresource: false,
  printerColumns: [
    { name: 'System', type: 'string', jsonPath: '.report.system' },
    { name: 'Asks', type: 'string', jsonPath: '.report.questions[*].what' },
  ],
  schema: {
    type: 'object',
    required: ['report'],
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object' },
      report: {
        type: 'object',
        required: ['system', 'instance'],
        properties: {
          system: text,
          instance: text,
          orphans: texts,
          suspicious: texts,
          questions: {
            type: 'array',
            items: {
              type: 'object',
              required: ['what', 'hash'],
              properties: {
                what: text,
                message: text,
                hash: text,
                ids: texts,
                count: { type: 'integer', format: 'int64' },
              },
            },
          },
        },
      },
    },
  },
})

const idsMax = 100

export function makeQuestion(what: SweepQuestion['what'], message: string, ids: readonly string[]): SweepQuestion {
  const sorted = [...ids].sort()
  return {
    what,
    message,
    count: sorted.length,
    ids: sorted.slice(0, idsMax),
    hash: resourceHash(JSON.stringify([what, sorted])),
  }
}

export function sweepName({
  system,
  instance,
  kind,
}: {
  readonly system: string
  readonly instance: string
  readonly kind: string
}): string {
  return `${system}-${instance}-${kind.toLowerCase()}`
}

/** Whether a person has confirmed exactly this question. */
export function isConfirmed(sweep: ExternalSweepObject | undefined, { hash }: SweepQuestion): boolean {
  return (
    sweep !== undefined &&
    (annotationOf(sweep, 'confirm') ?? '')
      .split(',')
      .map((each) => each.trim())
      .includes(hash)
  )
}

/** Writes the report if it has changed. An empty report is written only over an existing one. */
export async function writeSweep(
  known: ExternalSweepObject | undefined,
  { name, report }: { name: string; report: SweepReport },
  { client, signal }: Pick<BaseContext, 'client' | 'signal'>,
): Promise<void> {
  const isEmpty = report.questions.length === 0 && report.orphans.length === 0 && report.suspicious.length === 0
  if (known ? deepEqual(known.report, report) : isEmpty) return
  const capped = { ...report, orphans: report.orphans.slice(0, idsMax), suspicious: report.suspicious.slice(0, idsMax) }
  if (known && deepEqual(known.report, capped)) return
  await client.apply(
    ExternalSweep,
    { apiVersion: ExternalSweep.apiVersion, kind: ExternalSweep.kind, metadata: { name }, report: capped },
    { fieldManager: 'evenkeel-external', force: true, signal },
  )
}
