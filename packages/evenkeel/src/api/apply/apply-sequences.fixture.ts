/** Runs sequences of writes on one object, as a server would, for tests. */
import type { JsonObject } from '@evenkeel/cel/primitives'
import { isApiError } from '../errors/api-error.ts'
import type { ManagedFieldsEntry } from '../object.ts'
import type { Schema } from '../schema/schema.ts'
import { applyConfiguration } from './apply-configuration.ts'
import type { ConvertedObject } from './field-manager.ts'
import { decodeFields } from './fields-v1.ts'
import { gardenSchema, shownPaths } from './schemas.fixture.ts'
import { trackUpdate } from './track-update.ts'
import type { FieldFilter } from './updater.ts'

export interface Step {
  readonly op: 'apply' | 'force' | 'update'
  readonly manager: string
  readonly object: JsonObject
  readonly version?: string
  readonly schema?: Schema | undefined
  readonly subresource?: string
  readonly filter?: FieldFilter
  readonly convert?: (object: JsonObject, apiVersion: string) => ConvertedObject | undefined
}

type Extra = Omit<Step, 'op' | 'manager' | 'object'>

export const apply = (manager: string, object: JsonObject, extra: Extra = {}): Step => ({
  op: 'apply',
  manager,
  object,
  ...extra,
})
export const force = (manager: string, object: JsonObject, extra: Extra = {}): Step => ({
  op: 'force',
  manager,
  object,
  ...extra,
})
export const update = (manager: string, object: JsonObject, extra: Extra = {}): Step => ({
  op: 'update',
  manager,
  object,
  ...extra,
})

export interface Outcome {
  /** The object as it is at the end, without type and metadata. */
  readonly content: JsonObject
  readonly object: JsonObject
  /** Paths by manager: `a` applies, `a*` updates, `a/status` through a subresource. */
  readonly owners: Record<string, string[]>
  /** What the last step was refused with. */
  readonly refusal?: string
}

/** The second of the first step; each step is one second later. */
export const startMs = 978_307_200_000

export function run(steps: readonly Step[]): Outcome {
  let live: JsonObject | undefined
  for (const [index, step] of steps.entries()) {
    try {
      live = { ...take(step, live, index) }
      live = { ...live, metadata: { ...(live['metadata'] as JsonObject), uid: 'u' } }
    } catch (error) {
      if (!isApiError(error) || index < steps.length - 1) throw error
      return { ...outcomeOf(live ?? {}), refusal: error.message }
    }
  }
  return outcomeOf(live ?? {})
}

function take(step: Step, live: JsonObject | undefined, index: number): JsonObject {
  const { op, manager, object, version = 'v1', schema = gardenSchema, ...rest } = step
  const apiVersion = `example.io/${version}`
  const metadata = {
    name: 'g',
    ...(live && op === 'update' && { uid: 'u' }),
    ...(object['metadata'] as JsonObject | undefined),
  }
  const wanted = { apiVersion, kind: 'Garden', ...object, metadata }
  const request = {
    manager,
    apiVersion,
    nowMs: startMs + index * 1000,
    schema: 'schema' in step ? step.schema : schema,
    ...rest,
  }
  if (op === 'update') return trackUpdate({ ...request, live, next: wanted })
  return applyConfiguration({ ...request, kind: 'Garden', live, config: wanted, force: op === 'force' })
}

function outcomeOf(object: JsonObject): Outcome {
  const { apiVersion: _a, kind: _k, metadata, ...content } = object
  const entries = (metadata as JsonObject | undefined)?.['managedFields'] as readonly unknown[] as
    | readonly ManagedFieldsEntry[]
    | undefined
  const owners: Record<string, string[]> = {}
  for (const { manager = '', operation, subresource, fieldsV1 = {} } of entries ?? []) {
    owners[`${manager}${operation === 'Update' ? '*' : ''}${subresource === undefined ? '' : `/${subresource}`}`] =
      shownPaths(decodeFields(fieldsV1))
  }
  return { content, object, owners }
}
