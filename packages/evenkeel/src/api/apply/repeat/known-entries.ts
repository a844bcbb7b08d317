/**
 * Entries of managed fields, read with the help of those that were read before.
 *
 * Objects of one making have the same entries but for the times, and every write parses them anew. So an entry is first
 * held against the last few of the same manager: if it is written like one of these it is that one, and nothing is
 * decoded. The same {@link VersionedSet} then stands for all of them, which callers compare with `===`.
 */
import { isJsonObject } from '../../json.ts'
import type { JsonObject } from '../../json.ts'
import type { ManagedFieldsEntry } from '../../object.ts'
import { noFields } from '../paths/field-set.ts'
import { decodeFields, encodeFields, sameFields } from '../paths/fields-v1.ts'
import type { VersionedSet } from '../merge/managers.ts'

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
