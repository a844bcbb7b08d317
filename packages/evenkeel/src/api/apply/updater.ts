/**
 * The core of field management: conflicts, updates, applies and pruning, on one field set per manager.
 *
 * Objects are compared and pruned in the version of each manager, so a different representation in another version
 * takes no fields from a manager. A manager whose version is no longer served owns nothing.
 *
 * A change of a field that another manager owns is a conflict. An update, or an apply with force, takes the field; an
 * apply without force fails. Removed fields lose their owners without a conflict.
 *
 * An apply merges the configuration into the live object, prunes the fields that its manager no longer applies, and
 * makes the manager the owner of exactly the fields of the configuration. Pruning first removes every field of the last
 * applied set. Then it restores the fields that any manager owns, including the new configuration, each in the version
 * of its manager, and the fields that the manager never owned. Structs are removed as a whole or not at all, so
 * declared fields count as members here.
 */
import { deepEqual, type JsonObject } from '@evenkeel/cel/primitives'
import { compareComplete, type Comparison } from './compare.ts'
import { noFields, type FieldSet } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import { fillEmptied, merge } from './merge.ts'
import { removeFields } from './remove.ts'
import { reconcileFields, toFieldSet, withNamedFields } from './typed-fields.ts'

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

/** Excludes fields that a request cannot own, such as `status` where only `/status` writes it. */
export type FieldFilter = (set: FieldSet) => FieldSet

export interface UpdaterOptions {
  /** The object in another version; undefined when that version is no longer served. */
  readonly convert: (object: TypedObject, apiVersion: string) => TypedObject | undefined
  readonly filter: FieldFilter | undefined
  /** Whether containers that an apply empties stay as empty ones; otherwise they become null. */
  readonly keepsEmpty: boolean
}

function convertTo(object: TypedObject, apiVersion: string, { convert }: UpdaterOptions): TypedObject | undefined {
  return object.apiVersion === apiVersion ? object : convert(object, apiVersion)
}

/** The managers under the current schema, without those of versions that are no longer served. */
function reconcileManagers(live: TypedObject, managers: Managers, engine: UpdaterOptions): Managers {
  const result = new Map<string, VersionedSet>()
  for (const [manager, versioned] of managers) {
    const type = convertTo(live, versioned.apiVersion, engine)?.type
    if (!type) continue
    const set = reconcileFields(versioned.set, type)
    result.set(manager, set === versioned.set ? versioned : { ...versioned, set })
  }
  return result
}

function filterComparison(comparison: Comparison, filter: FieldFilter | undefined): Comparison {
  if (!filter) return comparison
  return { added: filter(comparison.added), modified: filter(comparison.modified), removed: filter(comparison.removed) }
}

// Conflicts: the effect of a change on the other managers.

/** The conflicting fields of each manager. */
export type Conflicts = ReadonlyMap<string, FieldSet>

interface ManagedChange {
  readonly before: TypedObject
  readonly after: TypedObject
  readonly managers: Managers
  /** The manager that makes the change. Its fields are not affected. */
  readonly manager: string
}

interface ConflictResolution {
  readonly managers: Map<string, VersionedSet>
  /** The changed fields in the version of the request, without those that the request cannot own. */
  readonly comparison: Comparison
  readonly conflicts: Conflicts
}

/** Managers without fields are removed. */
function resolveConflicts(
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

/** The fields that managers of one version lose. */
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

// Updates: the writer gains the changed fields, the other managers lose them.

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

// Pruning: removes fields that the manager applied last time and does not apply now, unless another manager owns them.

interface PruneInput {
  /** The live object merged with the configuration. */
  readonly merged: TypedObject
  /** Includes the new set of the applying manager. */
  readonly managers: Managers
  /** The last applied set of the applying manager. */
  readonly last: VersionedSet | undefined
  /** Its new set. */
  readonly now: FieldSet
}

/** The object in its original version. */
function prune({ merged, managers, last, now }: PruneInput, engine: UpdaterOptions): TypedObject {
  if (!last || last.set.isEmpty) return merged
  // The new set contains the whole last set: every removed field would be restored.
  if (last.apiVersion === merged.apiVersion && last.set.difference(now).isEmpty) return merged
  const whole = convertTo(merged, last.apiVersion, engine)
  if (!whole) return merged
  const bare = without(whole, withNamedFields(last.set, whole.type))
  // The object has no field of the last set: there is nothing to restore.
  if (bare.object === whole.object) return merged
  const mentions = rememberMentions()
  const owned = addBackOwned({ whole, bare, mentions }, managers, engine)
  const pruned = addBackDangling({ whole, bare: owned, mentions }, last, engine)
  const result = convertTo(pruned, merged.apiVersion, engine)
  if (!result) throw new RangeError(`the version of the request, ${merged.apiVersion}, is not served`)
  return result
}

interface PruneState {
  /** Before pruning. */
  readonly whole: TypedObject
  /** After pruning so far. */
  readonly bare: TypedObject
  readonly mentions: MentionedFields
}

/** All fields of an object, structs included. */
type MentionedFields = (typed: TypedObject) => FieldSet

/** A cache: the set of the whole object is needed several times and is expensive. */
function rememberMentions(): MentionedFields {
  const known = new Map<JsonObject, FieldSet>()
  return ({ object, type }) => {
    let set = known.get(object)
    if (!set) known.set(object, (set = withNamedFields(toFieldSet(object, type), type)))
    return set
  }
}

function addBackOwned(halves: PruneState, managers: Managers, engine: UpdaterOptions): TypedObject {
  const owned = new Map<string, FieldSet>()
  for (const { set, apiVersion } of managers.values()) owned.set(apiVersion, owned.get(apiVersion)?.union(set) ?? set)
  // The own version first: a conversion may need fields that were just removed.
  const first = halves.bare.apiVersion
  const versions = [...owned.keys()].sort((a, b) => Number(b === first) - Number(a === first))
  let now = halves
  for (const version of versions) now = addBackAt(now, { version, set: owned.get(version) as FieldSet }, engine)
  return now.bare
}

function addBackAt(
  halves: PruneState,
  { version, set }: { version: string; set: FieldSet },
  engine: UpdaterOptions,
): PruneState {
  const { mentions } = halves
  const whole = convertTo(halves.whole, version, engine)
  if (!whole) return halves
  const bare = convertTo(halves.bare, version, engine)
  if (!bare) return { ...halves, whole }
  const keep = mentions(bare).union(withNamedFields(set, whole.type))
  return { whole, bare: without(whole, mentions(whole).difference(keep)), mentions }
}

/** The manager may not remove fields that it did not own last time. */
function addBackDangling(
  { whole, bare, mentions }: PruneState,
  last: VersionedSet,
  engine: UpdaterOptions,
): TypedObject {
  const left = convertTo(bare, last.apiVersion, engine)
  if (!left) return whole
  return without(whole, mentions(whole).difference(mentions(left)).intersection(withNamedFields(last.set, whole.type)))
}

function without(typed: TypedObject, fields: FieldSet): TypedObject {
  const object = removeFields(typed.object, fields, typed.type)
  return object === typed.object ? typed : { ...typed, object: object as JsonObject }
}

// Applies.

export interface ApplyInput {
  readonly live: TypedObject
  /** In the version of the live object. */
  readonly config: JsonObject
  readonly managers: Managers
  readonly manager: string
  /** Takes fields from other managers instead of failing with conflicts. */
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

/** The pruned object, in which emptied containers stay, as do those that are empty in the configuration. */
function withEmptied(rest: TypedObject, { object: merged, type }: TypedObject, config: JsonObject): TypedObject {
  if (rest.object === merged) return rest
  return { ...rest, object: merge(fillEmptied(rest.object, merged, type), config, type) as JsonObject }
}
