/**
 * What a change of the object does to everybody who did not make it.
 *
 * Fields that were changed under a manager are conflicts: with force, or when the write is no apply, the manager loses
 * them; otherwise the write is refused. Fields that are gone are lost without a word.
 */
import type { FieldSet } from '../paths/field-set.ts'
import { compareComplete } from '../typed/compare.ts'
import type { Comparison } from '../typed/compare.ts'
import { convertTo, filterComparison } from './managers.ts'
import type { UpdaterOptions, Managers, TypedObject, VersionedSet } from './managers.ts'

/** The fields of each manager that stand in the way. */
export type Conflicts = ReadonlyMap<string, FieldSet>

export interface ManagedChange {
  readonly before: TypedObject
  readonly after: TypedObject
  readonly managers: Managers
  /** Who makes the change: nothing of theirs is touched. */
  readonly manager: string
}

interface ConflictResolution {
  readonly managers: Map<string, VersionedSet>
  /** What changed, in the version of the request, without what the request cannot own. */
  readonly comparison: Comparison
  readonly conflicts: Conflicts
}

/** Managers that are left with nothing are gone. */
export function resolveConflicts(
  { before, after, managers, manager }: ManagedChange,
  engine: UpdaterOptions,
): ConflictResolution {
  const comparison = filterComparison(compareComplete(before.object, after.object, before.type), engine.filter)
  const losses = new Map<string, LostFields | undefined>([[before.apiVersion, lostFieldsOf(comparison)]])
  const settled = new Map<string, VersionedSet>()
  const conflicts = new Map<string, FieldSet>()
  for (const [other, versioned] of managers) {
    if (other === manager) {
      if (!versioned.set.isEmpty) settled.set(other, versioned)
      continue
    }
    const { apiVersion, set } = versioned
    if (!losses.has(apiVersion)) losses.set(apiVersion, lostFieldsAt(apiVersion, { before, after }, engine))
    const lost = losses.get(apiVersion)
    if (!lost) continue
    const conflict = set.intersection(lost.changed)
    if (!conflict.isEmpty) conflicts.set(other, conflict)
    const left = set.difference(conflict).difference(lost.removed)
    if (!left.isEmpty) settled.set(other, left === set ? versioned : { ...versioned, set: left })
  }
  return { managers: settled, comparison, conflicts }
}

/** What managers of one version lose. */
interface LostFields {
  readonly changed: FieldSet
  readonly removed: FieldSet
}

function lostFieldsOf({ added, modified, removed }: Comparison): LostFields {
  return { changed: modified.union(added), removed }
}

function lostFieldsAt(
  apiVersion: string,
  { before, after }: Pick<ManagedChange, 'before' | 'after'>,
  engine: UpdaterOptions,
): LostFields | undefined {
  const old = convertTo(before, apiVersion, engine)
  const now = old && convertTo(after, apiVersion, engine)
  return now && lostFieldsOf(filterComparison(compareComplete(old.object, now.object, old.type), engine.filter))
}
