/**
 * Decodes, encodes and validates `metadata.managedFields`.
 *
 * The identity of a manager is its name, its operation (Apply or Update), its subresource and, for Update only, its
 * version: an applier keeps its identity when it moves to another version. An entry that did not change is returned as
 * it is, and so is a list without any changed entry: callers compare with `===`.
 *
 * Similar objects have entries that differ only in their times, and every write parses them again. So the decoder first
 * compares an entry with the last few entries of the same manager. On a match it decodes nothing and returns the same
 * {@link VersionedSet}, which callers compare with `===`.
 *
 * Validation sees the list that is about to be stored. Most mistakes of clients never get there: the server ignores a
 * list that it cannot decode.
 */
import { pushAll, compareText, isJsonObject, parseTime, utf8Length, type JsonObject } from '@evenkeel/cel/primitives'
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

/** Each manager costs a walk over the object in every write. */
const entriesMax = 1_000

/**
 * Reads a list of entries.
 *
 * @throws {RangeError} when an entry is not what an API server writes, or when there are too many.
 */
export function decodeManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): ManagedState {
  if (entries === undefined || entries === null) return noManagers
  if (entries.length > entriesMax) throw new RangeError(`there are ${entries.length} entries, at most ${entriesMax}`)
  return decodeEntries(entries)
}

/** The error in a list of entries from outside, for instance from a webhook; undefined without an error. */
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

/** A new entry for the author of another one. */
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

// Decoding, with a cache of recent entries per manager.

export interface ReadEntry {
  /** The identity of a manager. */
  readonly identity: string
  readonly versioned: VersionedSet
}

/** The identity of a manager. Identities sort as upstream sorts its managers. */
export function identityOf({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify({
    ...(manager && { manager }),
    ...(operation && { operation }),
    ...(operation !== 'Apply' && apiVersion && { apiVersion }),
    ...(subresource && { subresource }),
  })
}

/** The same for a writer, with a cache: the same writers come back. */
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
/** The limit for all cached sets together, so that many unusual objects cannot fill the memory. */
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
  // Names may contain spaces, so the key is not unique: the parts decide.
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

// Validation of managers and entries.

const managerBytesMax = 128
const subresourceBytesMax = 256

export function validateFieldManager(name: string, path: FieldPath): FieldError[] {
  // The fast path: nearly all names match, and every write checks every entry.
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
    if (manager !== '') pushAll(errors, validateFieldManager(manager, path.index(index).child('manager')))
    if (utf8Length(subresource) > subresourceBytesMax)
      errors.push(fieldError.tooLong(path.index(index).child('subresource'), subresourceBytesMax))
  }
  return errors
}
