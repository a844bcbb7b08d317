/**
 * Owners of replicas, between an object and its `scale`.
 *
 * The count has one place in Scale and another in the object, in each of its versions. Owners of the one are shown as
 * owners of the other; who sets the count through `scale` takes it from whoever set it in the object.
 */
import type { ManagedFieldsEntry } from '../object.ts'
import { FieldSet } from './field-set.ts'
import { decodeManagedFields, encodeManagedFields } from './managed-fields.ts'
import { fieldElement, type ElementPath } from './path-element.ts'
import type { Managers, VersionedSet } from './updater.ts'

/** Where each version of the kind has its count, `['spec', 'replicas']`; null for a version without `scale`. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | null>

const scaleVersion = 'autoscaling/v1'
const scalePath: ElementPath = ['f:spec', 'f:replicas']

/** Managed fields for the Scale of an object: those of its entries that own the count. */
export function toScaleEntries(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const { managers, times } = decodeManagedFields(entries)
  const scale = new Map<string, VersionedSet>()
  for (const [identity, { set, apiVersion, applied }] of managers) {
    const path = pathAt(apiVersion, paths)
    if (path && set.has(path)) scale.set(identity, { set: FieldSet.of(scalePath), apiVersion: scaleVersion, applied })
  }
  return encodeManagedFields({ managers: scale, times, source: undefined })
}

interface ScaleResult {
  /** The managed fields of the object as it is. */
  readonly parent: readonly ManagedFieldsEntry[] | undefined
  /** Those of the Scale after the write. */
  readonly scale: readonly ManagedFieldsEntry[] | undefined
  /** The version of the object. */
  readonly apiVersion: string
}

/** Managed fields for the object, after its Scale was written. */
export function fromScaleEntries(
  { parent, scale, apiVersion }: ScaleResult,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const before = decodeManagedFields(parent)
  const after = decodeManagedFields(scale)
  const managers = keepParents(before.managers, after.managers, paths)
  const path = pathAt(apiVersion, paths)
  for (const [identity, { set, applied }] of after.managers) {
    if (ownsReplicas(before.managers.get(identity), paths) || !path || !set.has(scalePath)) continue
    managers.set(identity, { set: FieldSet.of(path), apiVersion, applied })
  }
  // Times are those of the object: as upstream has it, a manager that came in through the Scale has none.
  return encodeManagedFields({ managers, times: before.times, source: before.source })
}

/** Who owned the count and is not in the Scale any more has lost it; everybody else is left alone. */
function keepParents(parents: Managers, scale: Managers, paths: ReplicasPaths): Map<string, VersionedSet> {
  const kept = new Map<string, VersionedSet>()
  for (const [identity, versioned] of parents) {
    const path = pathAt(versioned.apiVersion, paths)
    if (path === undefined) continue
    const set = path === null || scale.has(identity) ? versioned.set : versioned.set.difference(FieldSet.of(path))
    if (set === versioned.set) kept.set(identity, versioned)
    else if (!set.isEmpty) kept.set(identity, { ...versioned, set })
  }
  return kept
}

function ownsReplicas(versioned: VersionedSet | undefined, paths: ReplicasPaths): boolean {
  const path = versioned && pathAt(versioned.apiVersion, paths)
  return !!path && versioned.set.has(path)
}

function pathAt(apiVersion: string, paths: ReplicasPaths): ElementPath | null | undefined {
  return paths.get(apiVersion)?.map(fieldElement) ?? (paths.has(apiVersion) ? null : undefined)
}
