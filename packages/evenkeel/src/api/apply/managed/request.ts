/**
 * What a write says about itself, as far as field management goes, and the objects it is about.
 */
import { getOwn, isJsonObject } from '../../json.ts'
import type { JsonObject, JsonObjectDraft } from '../../json.ts'
import type { ManagedFieldsEntry } from '../../object.ts'
import type { Schema } from '../../schema/schema.ts'
import { formatTime } from '../../time.ts'
import type { UpdaterOptions, FieldFilter, TypedObject } from '../merge/managers.ts'
import { fieldTypeOf } from '../typed/field-type.ts'
import { knownIdentity } from '../repeat/known-entries.ts'

/** An object in another version, with the schema it has there. */
export interface ConvertedObject {
  readonly object: JsonObject
  readonly schema: Schema | undefined
}

export interface FieldManagerRequest {
  /** The name of the field manager; empty counts as `unknown`. */
  readonly manager: string
  /** The version of the request; live and new object are in it. */
  readonly apiVersion: string
  /** When the request came, in milliseconds since 1970. */
  readonly nowMs: number
  /** The schema of the kind in that version; without one, types are deduced from values. */
  readonly schema?: Schema | undefined
  /** `status`, `scale`, ...; absent for the object itself. */
  readonly subresource?: string | undefined
  /** What this request cannot own. */
  readonly filter?: FieldFilter | undefined
  /**
   * Whether containers that an apply takes everything from stay as empty ones. Upstream leaves null, which a schema may
   * then refuse; where it does not matter, because null means nothing anyway, this does not either.
   *
   * @default false
   */
  readonly keepsEmpty?: boolean
  /** An object of the kind in another version; undefined when that version is not served. Absent when there is only one. */
  readonly convert?: ((object: JsonObject, apiVersion: string) => ConvertedObject | undefined) | undefined
}

export function updaterOptionsOf({ convert, filter, keepsEmpty = false }: FieldManagerRequest): UpdaterOptions {
  return {
    filter,
    keepsEmpty,
    convert: ({ object }, apiVersion) => {
      const converted = convert?.(object, apiVersion)
      return converted && { object: converted.object, apiVersion, type: fieldTypeOf(converted.schema) }
    },
  }
}

export function typedObject(object: JsonObject, { apiVersion, schema }: FieldManagerRequest): TypedObject {
  return { object, apiVersion, type: fieldTypeOf(schema) }
}

export function managerOf(request: FieldManagerRequest, operation: 'Apply' | 'Update'): string {
  return knownIdentity(authorOf(request, operation))
}

/** Who writes, as entries say it. */
export function authorOf(
  { manager, apiVersion, subresource }: FieldManagerRequest,
  operation: 'Apply' | 'Update',
): ManagedFieldsEntry {
  const name = manager === '' ? 'unknown' : manager
  return subresource === undefined
    ? { manager: name, operation, apiVersion }
    : { manager: name, operation, apiVersion, subresource }
}

export function timeOf({ nowMs }: FieldManagerRequest): string {
  return formatTime(nowMs)
}

export function metadataOf(object: JsonObject | undefined): JsonObject {
  const metadata = object && getOwn(object, 'metadata')
  return isJsonObject(metadata) ? metadata : {}
}

/** The list as it came: anything but a list is no list. */
export function entriesOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const entries = getOwn(metadataOf(object), 'managedFields')
  return Array.isArray(entries) ? (entries as readonly unknown[] as readonly ManagedFieldsEntry[]) : undefined
}

/** The object with other managed fields, or without any; the very same object when it has these already. */
export function withEntries(object: JsonObject, entries: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  const metadata = metadataOf(object)
  if (getOwn(metadata, 'managedFields') === entries) return object
  const { managedFields: _, ...rest } = metadata as JsonObjectDraft
  if (entries) rest['managedFields'] = entries as readonly unknown[] as JsonObject['x']
  return { ...object, metadata: rest }
}
