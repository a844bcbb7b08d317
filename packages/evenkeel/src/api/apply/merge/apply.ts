/**
 * An apply: the configuration is laid over the live object, what its manager no longer mentions is pruned, and the
 * manager owns exactly what the configuration says.
 */
import { deepEqual } from '../../json.ts'
import type { JsonObject } from '../../json.ts'
import { fillEmptied } from '../typed/emptied.ts'
import { merge } from '../typed/merge.ts'
import { toFieldSet } from '../typed/to-field-set.ts'
import { reconcileManagers } from './managers.ts'
import type { UpdaterOptions, Managers, TypedObject } from './managers.ts'
import { prune } from './prune.ts'
import { resolveConflicts } from './settle.ts'
import type { Conflicts } from './settle.ts'

export interface ApplyInput {
  readonly live: TypedObject
  /** In the version of the live object. */
  readonly config: JsonObject
  readonly managers: Managers
  readonly manager: string
  /** Takes fields that others own instead of stopping there. */
  readonly force: boolean
}

export type ApplyResult =
  | { readonly ok: true; readonly object: TypedObject; readonly managers: Managers; readonly changed: boolean }
  | { readonly ok: false; readonly conflicts: Conflicts }

/** @throws {TypedError} when the live object or the configuration does not fit its type. */
export function applyConfig(
  { live, config, managers, manager, force }: ApplyInput,
  engine: UpdaterOptions,
): ApplyResult {
  const reconciled = reconcileManagers(live, managers, engine)
  const merged: TypedObject = { ...live, object: merge(live.object, config, live.type) as JsonObject }
  const mentioned = toFieldSet(config, live.type)
  const set = engine.filter ? engine.filter(mentioned) : mentioned
  const owners = new Map(reconciled).set(manager, { set, apiVersion: live.apiVersion, applied: true })
  const rest = prune({ merged, managers: owners, last: reconciled.get(manager), now: set }, engine)
  const pruned = engine.keepsEmpty ? withEmptied(rest, merged, config) : rest
  const settled = resolveConflicts({ before: live, after: pruned, managers: owners, manager }, engine)
  if (!force && settled.conflicts.size > 0) return { ok: false, conflicts: settled.conflicts }
  return { ok: true, object: pruned, managers: settled.managers, changed: !deepEqual(live.object, pruned.object) }
}

/** What is left, where containers that lost everything stay, and so do those the configuration wants empty. */
function withEmptied(rest: TypedObject, { object: merged, type }: TypedObject, config: JsonObject): TypedObject {
  if (rest.object === merged) return rest
  return { ...rest, object: merge(fillEmptied(rest.object, merged, type), config, type) as JsonObject }
}
