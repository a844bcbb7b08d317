/**
 * `metadata.managedFields` and the managers it describes, both ways.
 *
 * A manager is who wrote (name), how (Apply or Update), for Update in which version, and through which subresource; an
 * applier keeps its identity when it moves to another version. Entries nobody touched are given back as they are, and a
 * list of which every entry is as it was is given back itself: callers see with `===` that nothing happened.
 */
import type { ManagedFieldsEntry } from '../../object.ts'
import { compareText } from '../../text.ts'
import { parseTime } from '../../time.ts'
import { encodeFields } from '../paths/fields-v1.ts'
import type { Managers, VersionedSet } from '../merge/managers.ts'
import { readEntry } from '../repeat/known-entries.ts'

/** Managers, when each last changed something, and where this was read. */
export interface ManagedState {
  readonly managers: Managers
  readonly times: ReadonlyMap<string, string>
  readonly source: DecodedSource | undefined
}

interface DecodedSource {
  readonly entries: readonly ManagedFieldsEntry[]
  readonly byIdentity: ReadonlyMap<string, { readonly entry: ManagedFieldsEntry; readonly versioned: VersionedSet }>
}

export const noManagers: ManagedState = { managers: new Map(), times: new Map(), source: undefined }

/**
 * Reads a list of entries.
 *
 * @throws {RangeError} when an entry is not what an API server writes.
 */
export function decodeManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): ManagedState {
  return entries === undefined || entries === null ? noManagers : decodeEntries(entries)
}

/** What is wrong with a list somebody made, a webhook for instance; undefined when nothing is. */
export function managedFieldsError(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    decodeManagedFields(entries)
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return error.message
    throw error
  }
}

/** Writes managers, sorted; undefined when there are none. */
export function encodeManagedFields({
  managers,
  times,
  source,
}: ManagedState): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined
  const entries = [...managers]
    .map(([identity, versioned]) => {
      const time = times.get(identity)
      const read = source?.byIdentity.get(identity)
      return read?.versioned === versioned && read.entry.time === time
        ? read.entry
        : encodeEntry(identity, versioned, { time })
    })
    .sort(compareEntries)
  const old = source?.entries
  return old?.length === entries.length && entries.every((entry, index) => entry === old[index]) ? old : entries
}

function decodeEntries(entries: readonly ManagedFieldsEntry[]): ManagedState {
  if (!Array.isArray(entries)) throw new RangeError('managed fields are a list')
  const managers = new Map<string, VersionedSet>()
  const times = new Map<string, string>()
  const byIdentity = new Map<string, { entry: ManagedFieldsEntry; versioned: VersionedSet }>()
  for (const [index, entry] of entries.entries()) {
    const { identity, versioned } = readEntry(entry, index)
    managers.set(identity, versioned)
    if (entry.time) times.set(identity, entry.time)
    else times.delete(identity)
    byIdentity.set(identity, { entry, versioned })
  }
  return { managers, times, source: { entries, byIdentity } }
}

function encodeEntry(
  identity: string,
  versioned: VersionedSet,
  { time }: { time: string | undefined },
): ManagedFieldsEntry {
  return entryOf(JSON.parse(identity) as ManagedFieldsEntry, versioned, { time })
}

/** An entry for who is said in another one. */
export function entryOf(
  { manager, operation = 'Update', subresource }: ManagedFieldsEntry,
  { set, apiVersion, applied }: VersionedSet,
  { time }: { time: string | undefined },
): ManagedFieldsEntry {
  const how = applied ? 'Apply' : operation
  // Made on every write, and nearly always like this.
  if (manager && time && !subresource)
    return { manager, operation: how, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1: encodeFields(set) }
  return {
    ...(manager && { manager }),
    operation: how,
    apiVersion,
    ...(time && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(set),
    ...(subresource && { subresource }),
  }
}

/** Appliers first, then by time, name, version, subresource. */
export function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation ?? '', b.operation ?? '') ||
    compareTimes(a.time, b.time) ||
    compareText(a.manager ?? '', b.manager ?? '') ||
    compareText(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  )
}

/** By whole seconds. Texts as this server writes them sort as they stand. */
export function compareTimes(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  return a?.length === 20 && b?.length === 20 && a.endsWith('Z') && b.endsWith('Z')
    ? compareText(a, b)
    : secondsOf(a) - secondsOf(b)
}

/** Whole seconds since 1970; no time is the beginning of it. */
function secondsOf(time: string | undefined): number {
  const parsed = time === undefined ? undefined : parseTime(time)
  return parsed === undefined ? 0 : Math.floor(parsed / 1000)
}
