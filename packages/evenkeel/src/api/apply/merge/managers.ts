/**
 * Who owns what: a set of fields per manager, each in the version the manager wrote.
 *
 * Objects are compared and pruned in the version of the manager concerned, so a change of representation between
 * versions takes nothing from anybody. A manager of a version that is no longer served owns nothing.
 */
import type { JsonObject } from '../../json.ts'
import type { FieldSet } from '../paths/field-set.ts'
import type { Comparison } from '../typed/compare.ts'
import { reconcileFields } from '../typed/schema-change.ts'
import type { FieldType } from '../typed/field-type.ts'

export interface VersionedSet {
  readonly set: FieldSet
  readonly apiVersion: string
  /** Written by apply; otherwise by any other write. */
  readonly applied: boolean
}

/** Managers by identity. */
export type Managers = ReadonlyMap<string, VersionedSet>

/** An object in one version, with the type it has there. */
export interface TypedObject {
  readonly object: JsonObject
  readonly apiVersion: string
  readonly type: FieldType
}

/** Leaves out fields that a request cannot own, such as `status` where only `/status` writes it. */
export type FieldFilter = (set: FieldSet) => FieldSet

export interface UpdaterOptions {
  /** The object in another version; undefined when that version is no longer served. */
  readonly convert: (object: TypedObject, apiVersion: string) => TypedObject | undefined
  readonly filter: FieldFilter | undefined
  /** Whether containers that an apply takes everything from stay as empty ones; otherwise null is left of them. */
  readonly keepsEmpty: boolean
}

export function convertTo(
  object: TypedObject,
  apiVersion: string,
  { convert }: UpdaterOptions,
): TypedObject | undefined {
  return object.apiVersion === apiVersion ? object : convert(object, apiVersion)
}

/** Managers as they would have written under the schema of today; those of obsolete versions are gone. */
export function reconcileManagers(live: TypedObject, managers: Managers, engine: UpdaterOptions): Managers {
  const result = new Map<string, VersionedSet>()
  for (const [manager, versioned] of managers) {
    const type = convertTo(live, versioned.apiVersion, engine)?.type
    if (!type) continue
    const set = reconcileFields(versioned.set, type)
    result.set(manager, set === versioned.set ? versioned : { ...versioned, set })
  }
  return result
}

export function filterComparison(comparison: Comparison, filter: FieldFilter | undefined): Comparison {
  if (!filter) return comparison
  return { added: filter(comparison.added), modified: filter(comparison.modified), removed: filter(comparison.removed) }
}
