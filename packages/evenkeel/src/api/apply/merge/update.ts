/**
 * A write that is no apply: the writer comes to own what changed, everybody else loses it.
 */
import { noFields } from '../paths/field-set.ts'
import { reconcileManagers } from './managers.ts'
import type { UpdaterOptions, Managers } from './managers.ts'
import { resolveConflicts } from './settle.ts'
import type { ManagedChange } from './settle.ts'

/**
 * The managers after a write.
 *
 * @throws {TypedError} when an object does not fit its type.
 */
export function updateManagers(change: ManagedChange, engine: UpdaterOptions): Managers {
  const reconciled = reconcileManagers(change.before, change.managers, engine)
  const { managers, comparison } = resolveConflicts({ ...change, managers: reconciled }, engine)
  const owned = (managers.get(change.manager)?.set ?? noFields)
    .difference(comparison.removed)
    .union(comparison.modified)
    .union(comparison.added)
  const set = engine.filter ? engine.filter(owned) : owned
  if (set.isEmpty) managers.delete(change.manager)
  else managers.set(change.manager, { set, apiVersion: change.before.apiVersion, applied: false })
  return managers
}
