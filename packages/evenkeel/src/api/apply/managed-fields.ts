/**
 * `metadata.managedFields` and the managers it describes, both ways.
 *
 * A manager is who wrote (name), how (Apply or Update), for Update in which version, and through which subresource; an
 * applier keeps its identity when it moves to another version. Entries nobody touched are given back as they are, and a
 * list of which every entry is as it was is given back itself: callers see with `===` that nothing happened.
 */
import { compareText, isJsonObject, parseTime, utf8Length, type JsonObject } from '@evenkeel/cel/primitives'
import { fieldError, type FieldError, type FieldPath } from '../errors/field-error.ts'
import type { ManagedFieldsEntry } from '../object.ts'
import { noFields } from './field-set.ts'
import { decodeFields, encodeFields, sameFields } from './fields-v1.ts'
import type { Managers, VersionedSet } from './updater.ts'

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

/*
 * Entries of managed fields, read with the help of those that were read before.
 *
 * Objects of one making have the same entries but for the times, and every write parses them anew. So an entry is first
 * held against the last few of the same manager: if it is written like one of these it is that one, and nothing is
 * decoded. The same {@link VersionedSet} then stands for all of them, which callers compare with `===`.
 */

export interface ReadEntry {
  /** Everything that tells one manager from another. */
  readonly identity: string
  readonly versioned: VersionedSet
}

/** Everything that tells one manager from another. Sorts as upstream sorts its managers. */
export function identityOf({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify({
    ...(manager && { manager }),
    ...(operation && { operation }),
    ...(operation !== 'Apply' && apiVersion && { apiVersion }),
    ...(subresource && { subresource }),
  })
}

/** The same for a writer, who comes back. */
export function knownIdentity(entry: ManagedFieldsEntry): string {
  return knownManagerOf(entry).identity
}

/**
 * Reads one entry of a list.
 *
 * @throws {RangeError} when it is not what an API server writes.
 */
export function readEntry(entry: ManagedFieldsEntry, index: number): ReadEntry {
  requireEntry(entry, index)
  const { apiVersion = '', operation, fieldsV1 } = entry
  const writer = knownManagerOf(entry)
  const { examples } = writer
  for (let at = 0; at < examples.length; at++) {
    const example = examples[at] as KnownFieldSet
    if (example.versioned.apiVersion !== apiVersion || !sameFields(fieldsV1, example.fields)) continue
    if (at > 0) [examples[0], examples[at]] = [example, examples[0] as KnownFieldSet]
    return example
  }
  const set = fieldsV1 ? decodeFields(fieldsV1) : noFields
  const example = {
    identity: writer.identity,
    versioned: { set, apiVersion, applied: operation === 'Apply' },
    fields: encodeFields(set),
  }
  remember(example, examples)
  return example
}

interface KnownFieldSet extends ReadEntry {
  readonly fields: JsonObject
}

interface KnownManager {
  readonly entry: ManagedFieldsEntry
  readonly identity: string
  /** The latest first. */
  readonly examples: KnownFieldSet[]
}

const knownFieldSetsMax = 4
const knownManagersMax = 256
/** In all examples together: what many strange objects leave behind has an end. */
const pathsMax = 100_000
const knownManagers = new Map<string, KnownManager>()
let paths = 0

function remember(example: KnownFieldSet, examples: KnownFieldSet[]): void {
  paths += example.versioned.set.size
  if (paths > pathsMax) {
    knownManagers.clear()
    paths = 0
  }
  examples.unshift(example)
  if (examples.length > knownFieldSetsMax) examples.pop()
}

function knownManagerOf(entry: ManagedFieldsEntry): KnownManager {
  const { manager, operation, apiVersion, subresource } = entry
  const key = `${operation} ${apiVersion} ${subresource} ${manager}`
  const known = knownManagers.get(key)
  // Names may hold blanks: the key finds, the parts decide.
  if (
    known &&
    known.entry.manager === manager &&
    known.entry.apiVersion === apiVersion &&
    known.entry.subresource === subresource
  )
    return known
  const writer: KnownManager = { entry: { ...entry, fieldsV1: {} }, identity: identityOf(entry), examples: [] }
  if (knownManagers.size >= knownManagersMax) knownManagers.clear()
  knownManagers.set(key, writer)
  return writer
}

function requireEntry({ operation, apiVersion, fieldsType, fieldsV1 }: ManagedFieldsEntry, index: number): void {
  if (operation !== 'Apply' && operation !== 'Update') throw new RangeError('operation must be `Apply` or `Update`')
  if (!apiVersion) throw new RangeError('apiVersion must not be empty')
  if (!fieldsType) throw new RangeError(`missing fieldsType in managed fields entry ${index}`)
  if (fieldsType !== 'FieldsV1')
    throw new RangeError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`)
  if (fieldsV1 && !isJsonObject(fieldsV1))
    throw new RangeError(`fieldsV1 of managed fields entry ${index} is not an object`)
}

/*
 * Whether entries of managed fields, and names of managers, may be stored.
 *
 * This is asked of what is about to be stored, so most of what a client can get wrong never comes here: a list that
 * cannot be read is not taken over in the first place.
 */

const managerBytesMax = 128
const subresourceBytesMax = 256

export function validateFieldManager(name: string, path: FieldPath): FieldError[] {
  // Nearly all names, and this is asked of every entry on every write.
  if (name.length <= managerBytesMax && /^[ -~]*$/.test(name)) return []
  const errors = utf8Length(name) > managerBytesMax ? [fieldError.tooLong(path, managerBytesMax)] : []
  const odd = name.search(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u)
  if (odd >= 0) {
    const code = (name.codePointAt(odd) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    errors.push(fieldError.invalid(path, name, `invalid character U+${code} (at position ${odd})`))
  }
  return errors
}

export function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, { manager = '', operation = '', fieldsType = '', subresource = '' }] of entries.entries()) {
    if (operation !== 'Apply' && operation !== 'Update')
      errors.push(fieldError.invalid(path.index(index).child('operation'), operation, 'must be `Apply` or `Update`'))
    if (fieldsType !== '' && fieldsType !== 'FieldsV1')
      errors.push(fieldError.invalid(path.index(index).child('fieldsType'), fieldsType, 'must be `FieldsV1`'))
    if (manager !== '') errors.push(...validateFieldManager(manager, path.index(index).child('manager')))
    if (utf8Length(subresource) > subresourceBytesMax)
      errors.push(fieldError.tooLong(path.index(index).child('subresource'), subresourceBytesMax))
  }
  return errors
}
