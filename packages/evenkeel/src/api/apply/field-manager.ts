/**
 * The field management of one request: the writer, the objects, and the fields that the request may own.
 *
 * System fields have no owner, because the server writes them: type, name, and part of the metadata. A field filter
 * excludes the fields that an endpoint does not write: the main resource excludes `status`, `/status` excludes
 * everything else, and some subresources of pods include only a few paths. In a filter path, `*` stands for any path
 * element.
 */
import {
  deepEqual,
  formatTime,
  getOwn,
  isJsonObject,
  type JsonObject,
  type JsonObjectDraft,
} from '@evenkeel/cel/primitives'
import type { ManagedFieldsEntry } from '../object.ts'
import type { Schema } from '../schema/schema.ts'
import { FieldSet, type FieldNode } from './field-set.ts'
import { fieldTypeOf } from './field-type.ts'
import { knownIdentity } from './managed-fields.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import type { FieldFilter, Managers, TypedObject, UpdaterOptions } from './updater.ts'

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

// System fields.

const metadataFields = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]

const systemFields = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...metadataFields.map((name) => ['f:metadata', `f:${name}`]),
)

/** Removes the system fields from one manager, and the manager if it owns nothing else. */
export function stripSystemFields(managers: Managers, manager: string): Managers {
  const versioned = managers.get(manager)
  const set = versioned && withoutSystemFields(versioned.set)
  if (!versioned || !set || set === versioned.set) return managers
  const result = new Map(managers)
  if (set.isEmpty) result.delete(manager)
  else result.set(manager, { ...versioned, set })
  return result
}

export function withoutSystemFields(set: FieldSet): FieldSet {
  return set.difference(systemFields)
}

/** Whether the field at a path is a system field, which has no owner. */
export function isSystemField(...names: readonly string[]): boolean {
  return systemFields.has(names.map(fieldElement))
}

// Field filters.

/** Leaves out these fields and everything below them: `excludeFields(['status'])`. */
export function excludeFields(...paths: readonly (readonly string[])[]): FieldFilter {
  const excluded = FieldSet.of(...paths.map((path) => path.map(fieldElement)))
  return (set) => set.recursiveDifference(excluded)
}

/** Leaves in only these fields, what leads to them and what lies below them: `includeFields(['spec', 'containers', '*', 'resources'])`. */
export function includeFields(...paths: readonly (readonly string[])[]): FieldFilter {
  return (set) => include(set, paths)
}

function include(set: FieldSet, paths: readonly (readonly string[])[]): FieldSet {
  const nodes: [PathElement, FieldNode][] = []
  for (const [element, node] of set.nodes()) {
    const rests = paths
      .filter(([step]) => step === '*' || (step !== undefined && fieldElement(step) === element))
      .map((path) => path.slice(1))
    if (rests.length === 0) continue
    const isWhole = rests.some((rest) => rest.length === 0)
    nodes.push([
      element,
      isWhole ? node : { member: node.member, children: node.children && include(node.children, rests) },
    ])
  }
  return FieldSet.fromNodes(nodes)
}

// Comparison of managed fields without their times: a write that changes only times is no write.

/**
 * Whether two lists contain the same managers and field sets, whatever their times.
 *
 * Call this last, after defaulting: an applied object may equal the live object only then.
 */
export function sameManagers(
  before: readonly ManagedFieldsEntry[] | undefined,
  after: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (before === after) return true
  if (!before || !after || before.length !== after.length) return false
  return after.every(
    (entry, index) =>
      entry === before[index] || deepEqual({ ...entry, time: undefined }, { ...before[index], time: undefined }),
  )
}
