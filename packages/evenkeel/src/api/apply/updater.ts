/**
 * Who owns what: a set of fields per manager, each in the version the manager wrote.
 *
 * Objects are compared and pruned in the version of the manager concerned, so a change of representation between
 * versions takes nothing from anybody. A manager of a version that is no longer served owns nothing.
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

/** Leaves out fields that a request cannot own, such as `status` where only `/status` writes it. */
export type FieldFilter = (set: FieldSet) => FieldSet

export interface UpdaterOptions {
  /** The object in another version; undefined when that version is no longer served. */
  readonly convert: (object: TypedObject, apiVersion: string) => TypedObject | undefined
  readonly filter: FieldFilter | undefined
  /** Whether containers that an apply takes everything from stay as empty ones; otherwise null is left of them. */
  readonly keepsEmpty: boolean
}

function convertTo(object: TypedObject, apiVersion: string, { convert }: UpdaterOptions): TypedObject | undefined {
  return object.apiVersion === apiVersion ? object : convert(object, apiVersion)
}

/** Managers as they would have written under the schema of today; those of obsolete versions are gone. */
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

/*
 * What a change of the object does to everybody who did not make it.
 *
 * Fields that were changed under a manager are conflicts: with force, or when the write is no apply, the manager loses
 * them; otherwise the write is refused. Fields that are gone are lost without a word.
 */

/** The fields of each manager that stand in the way. */
export type Conflicts = ReadonlyMap<string, FieldSet>

interface ManagedChange {
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

/*
 * A write that is no apply: the writer comes to own what changed, everybody else loses it.
 */

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

/*
 * Removes what a manager applied last time and does not apply now, unless somebody else owns it.
 *
 * First everything of the last set goes; then comes back what any manager owns, now including the new configuration,
 * each looked at in its own version; then what the manager never owned. Structs go as a whole or not at all, which is
 * why declared fields count as members here.
 */

interface PruneInput {
  /** The live object with the configuration laid over it. */
  readonly merged: TypedObject
  /** With what the applying manager says now. */
  readonly managers: Managers
  /** What the applying manager said last time. */
  readonly last: VersionedSet | undefined
  /** What it says now. */
  readonly now: FieldSet
}

/** The object in the version it came in. */
function prune({ merged, managers, last, now }: PruneInput, engine: UpdaterOptions): TypedObject {
  if (!last || last.set.isEmpty) return merged
  // Everything it said last time it says again: whatever would go would come back.
  if (last.apiVersion === merged.apiVersion && last.set.difference(now).isEmpty) return merged
  const whole = convertTo(merged, last.apiVersion, engine)
  if (!whole) return merged
  const bare = without(whole, withNamedFields(last.set, whole.type))
  // Nothing of the last set is in the object: there is nothing to bring back.
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
  /** What is left so far. */
  readonly bare: TypedObject
  readonly mentions: MentionedFields
}

/** Every field an object mentions, structs included. */
type MentionedFields = (typed: TypedObject) => FieldSet

/** The whole object is looked at several times, and not a small thing to look at. */
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
  // Their own version first: a conversion may need fields that were just taken away.
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

/** What the manager did not own last time is not its to remove. */
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

/*
 * An apply: the configuration is laid over the live object, what its manager no longer mentions is pruned, and the
 * manager owns exactly what the configuration says.
 */

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
