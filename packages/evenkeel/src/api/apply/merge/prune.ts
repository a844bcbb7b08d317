/**
 * Removes what a manager applied last time and does not apply now, unless somebody else owns it.
 *
 * First everything of the last set goes; then comes back what any manager owns, now including the new configuration,
 * each looked at in its own version; then what the manager never owned. Structs go as a whole or not at all, which is
 * why declared fields count as members here.
 */
import type { JsonObject } from '../../json.ts'
import type { FieldSet } from '../paths/field-set.ts'
import { removeFields } from '../typed/remove.ts'
import { withNamedFields } from '../typed/schema-change.ts'
import { toFieldSet } from '../typed/to-field-set.ts'
import { convertTo } from './managers.ts'
import type { UpdaterOptions, Managers, TypedObject, VersionedSet } from './managers.ts'

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
export function prune({ merged, managers, last, now }: PruneInput, engine: UpdaterOptions): TypedObject {
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
