/**
 * Converts the managed fields of the replica count between an object and its `scale` subresource.
 *
 * The replica count has one path in Scale and another in each version of the object. Owners of one path appear as
 * owners of the other. A write through `scale` takes the replica count from its owner in the object.
 */
import type { ManagedFieldsEntry } from '../object.ts'
import { FieldSet } from './field-set.ts'
import { decodeManagedFields, encodeManagedFields } from './managed-fields.ts'
import { fieldElement, type ElementPath } from './path-element.ts'
import type { Managers, VersionedSet } from './updater.ts'

/** The path of the replica count in each version, `['spec', 'replicas']`; null for a version without `scale`. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | null>

const scaleVersion = 'autoscaling/v1'
const scalePath: ElementPath = ['f:spec', 'f:replicas']

/** The managed fields of the Scale: the entries of the object that own the replica count. */
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
  /** The managed fields of the live object. */
  readonly parent: readonly ManagedFieldsEntry[] | undefined
  /** The managed fields of the Scale after the write. */
  readonly scale: readonly ManagedFieldsEntry[] | undefined
  /** The version of the object. */
  readonly apiVersion: string
}

/** The managed fields of the object after a write of its Scale. */
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
  // The times are those of the object. As upstream, a manager from the Scale has no time.
  return encodeManagedFields({ managers, times: before.times, source: before.source })
}

/** A manager that owned the replica count and is missing in the Scale loses it; the others stay. */
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
