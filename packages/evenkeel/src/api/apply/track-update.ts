/**
 * Field management of every write that is not an apply: which manager changed which fields, and when.
 *
 * This runs on each create, update and patch, so the common cases are fast. A new object of a known shape gets known
 * fields; an update equal to a recent one gets the result of that one; a write that changes no field with an owner
 * returns the live list itself.
 *
 * Tracking never rejects a write. As in kube-apiserver, managed fields that cannot be decoded are dropped.
 *
 * At most ten Update entries are kept: the oldest are merged into `ancient-changes`. Without a limit every tool that
 * ever wrote an object would keep an entry. Each version has an `ancient-changes` entry of its own, because field sets
 * of different versions cannot be merged.
 */
import { compareText, deepEqual, getOwn, type JsonObject } from '@evenkeel/cel/primitives'
import type { ManagedFieldsEntry } from '../object.ts'
import { compareUnmanaged } from './compare.ts'
import {
  authorOf,
  entriesOf,
  managerOf,
  metadataOf,
  stripSystemFields,
  timeOf,
  typedObject,
  updaterOptionsOf,
  withEntries,
  withoutSystemFields,
  type FieldManagerRequest,
} from './field-manager.ts'
import { noFields, type FieldSet } from './field-set.ts'
import { fieldTypeOf } from './field-type.ts'
import {
  compareTimes,
  decodeManagedFields,
  encodeManagedFields,
  entryOf,
  identityOf,
  noManagers,
  readEntry,
  type ManagedState,
  type ReadEntry,
} from './managed-fields.ts'
import { TypedError } from './typed-value.ts'
import { cacheUpdate, createdFields, reuseUpdate, type UpdateInput } from './update-cache.ts'
import { updateManagers, type TypedObject, type VersionedSet } from './updater.ts'

export interface UpdateRequest extends FieldManagerRequest {
  /** Absent when the object is being created. */
  readonly live: JsonObject | undefined
  /** The object to store. Its managed fields count if they are well-formed: a client may edit them. */
  readonly next: JsonObject
}

/** The object to store, with its new managed fields. */
export function trackUpdate(request: UpdateRequest): JsonObject {
  return withEntries(request.next, managedFieldsAfterUpdate(request))
}

/** The managed fields of the object to store; undefined for none, the live list when it does not change. */
export function managedFieldsAfterUpdate(request: UpdateRequest): readonly ManagedFieldsEntry[] | undefined {
  const { live, next } = request
  try {
    if (live === undefined && isReset(entriesOf(next) ?? [])) return managedOfNew(request)
    const facts = updateInputOf(request)
    return (
      (facts && reuseUpdate(facts, { author: authorOf(request, 'Update'), time: timeOf(request) })) ||
      managedOfChanged(request, facts)
    )
  } catch (error) {
    if (error instanceof TypedError) return undefined
    throw error
  }
}

function managedOfNew(request: UpdateRequest): readonly ManagedFieldsEntry[] | undefined {
  const set = createdFields(request.next, fieldTypeOf(request.schema), {
    filter: request.filter,
    strip: withoutSystemFields,
  })
  if (set.isEmpty) return undefined
  return [
    entryOf(
      authorOf(request, 'Update'),
      { set, apiVersion: request.apiVersion, applied: false },
      { time: timeOf(request) },
    ),
  ]
}

function managedOfChanged(
  request: UpdateRequest,
  facts: UpdateInput | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  const { live, next } = request
  const managed = facts ? decodeManagedFields(facts.entries) : startingPoint(request)
  const isCreate = !getOwn(metadataOf(live), 'uid')
  // An object without managed fields gets none until the first apply.
  if (managed.managers.size === 0 && !isCreate) return undefined
  const change = { before: withoutEntries(live ?? {}, request), after: withoutEntries(next, request) }
  const after = recordUpdate(change, managed, request)
  if (facts && after.managers.size <= updatersMax)
    cacheUpdate(facts, after.managers, { noted: after.times !== managed.times })
  return encodeManagedFields(capManagers(after))
}

/**
 * The input of the update cache, if nothing else affects the result: the client sends no managed fields, and all
 * managers have one version.
 */
function updateInputOf(request: UpdateRequest): UpdateInput | undefined {
  const { live = {}, next, apiVersion, filter, schema } = request
  const entries = entriesOf(live)
  const before = entries && readSimple(entries, apiVersion)
  if (!before || !getOwn(metadataOf(live), 'uid') || !saysNothing(request, { entries, before })) return undefined
  const type = fieldTypeOf(schema)
  return {
    type,
    filter,
    writer: managerOf(request, 'Update'),
    entries,
    before,
    comparison: compareUnmanaged(live, next, type),
  }
}

function saysNothing(
  { next, subresource }: UpdateRequest,
  { entries, before }: { entries: readonly ManagedFieldsEntry[]; before: readonly ReadEntry[] },
): boolean {
  if (subresource !== undefined && subresource !== '') return true
  const theirs = entriesOf(next)
  if (theirs === undefined || theirs === entries) return true
  if (theirs.length !== entries.length || isReset(theirs)) return false
  const read = readSimple(theirs, undefined)
  return (
    read !== undefined &&
    read.every(
      ({ identity, versioned }, index) =>
        identity === before[index]?.identity &&
        versioned === before[index]?.versioned &&
        theirs[index]?.time === entries[index]?.time,
    )
  )
}

/** The managers of a list that can be decoded, without duplicates, and of one version if a version is given. */
function readSimple(
  entries: readonly ManagedFieldsEntry[],
  apiVersion: string | undefined,
): readonly ReadEntry[] | undefined {
  if (entries.length === 0 || entries.length > updatersMax) return undefined
  try {
    const read = entries.map(readEntry)
    return hasRepeats(read) ||
      (apiVersion !== undefined && read.some(({ versioned }) => versioned.apiVersion !== apiVersion))
      ? undefined
      : read
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function hasRepeats(read: readonly ReadEntry[]): boolean {
  for (let index = 1; index < read.length; index++) {
    for (let other = 0; other < index; other++) if (read[other]?.identity === read[index]?.identity) return true
  }
  return false
}

/** The managers after a write, with the time of the writer if it gained fields. */
export function recordUpdate(
  { before, after }: { before: TypedObject; after: TypedObject },
  managed: ManagedState,
  request: FieldManagerRequest,
): ManagedState {
  const changed = updateManagers(
    { before, after, managers: managed.managers, manager: writer },
    updaterOptionsOf(request),
  )
  const managers = new Map(stripSystemFields(changed, writer))
  const written = managers.get(writer)
  if (!written) return { ...managed, managers }
  managers.delete(writer)
  const identity = managerOf(request, 'Update')
  const previous = managers.get(identity)
  managers.set(identity, previous ? { ...written, set: previous.set.union(written.set) } : written)
  return { ...managed, managers, times: new Map(managed.times).set(identity, timeOf(request)) }
}

/**
 * The identity of the writer during the computation: separates the fields that it owned from those that it changed now.
 */
const writer = 'current-operation'

function startingPoint({ live, next, subresource }: UpdateRequest): ManagedState {
  const ours = entriesOf(live)
  const theirs = entriesOf(next)
  if ((subresource !== undefined && subresource !== '') || theirs === undefined) return decodeOrForget(ours)
  if (isReset(theirs)) return noManagers
  if (ours && deepEqual(ours, theirs)) return decodeOrForget(ours)
  try {
    const managed = decodeManagedFields(theirs)
    if (managed.managers.size > 0) return managed
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return decodeOrForget(ours)
}

/** `[]` or `[{}]`: the client resets the managed fields. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && deepEqual(entries[0], {}))
}

function decodeOrForget(entries: readonly ManagedFieldsEntry[] | undefined): ManagedState {
  try {
    return decodeManagedFields(entries)
  } catch (error) {
    if (error instanceof RangeError) return noManagers
    throw error
  }
}

function withoutEntries(object: JsonObject, request: FieldManagerRequest): TypedObject {
  return typedObject(withEntries(object, undefined), request)
}

// The limit of Update entries.

/** Further Update entries are merged. */
const updatersMax = 10

function capManagers(managed: ManagedState): ManagedState {
  const updaters = [...managed.managers].filter(([, { applied }]) => !applied)
  if (updaters.length <= updatersMax) return managed
  const { times } = managed
  updaters.sort(([a], [b]) => compareTimes(times.get(a), times.get(b)) || compareText(a, b))
  return bucketEntries(managed, updaters)
}

function bucketEntries(managed: ManagedState, updaters: readonly (readonly [string, VersionedSet])[]): ManagedState {
  const managers = new Map(managed.managers)
  const times = new Map(managed.times)
  const firsts = new Map<string, string>()
  // The sets of a bucket are united at the end: one after the other would take quadratic time.
  const buckets = new Map<string, FieldSet[]>()
  let excess = updaters.length - updatersMax
  for (const [identity, versioned] of updaters) {
    if (excess <= 0) break
    const { apiVersion } = versioned
    const first = firsts.get(apiVersion)
    if (first === undefined) {
      firsts.set(apiVersion, identity)
      continue
    }
    const bucket = identityOf({ manager: 'ancient-changes', operation: 'Update', apiVersion })
    const sets = buckets.get(bucket) ?? []
    buckets.set(bucket, sets)
    const old = managers.get(bucket) ?? managers.get(first)
    if (old && sets.length === 0) sets.push(old.set)
    sets.push(versioned.set)
    if (!managers.has(bucket)) managers.delete(first)
    managers.set(bucket, versioned)
    managers.delete(identity)
    excess--
    // The later of the two times: the entry shows its last change.
    const time = times.get(identity)
    if (time === undefined) times.delete(bucket)
    else times.set(bucket, time)
  }
  for (const [bucket, sets] of buckets) {
    const last = managers.get(bucket)
    if (last) managers.set(bucket, { ...last, set: unionOf(sets) })
  }
  return { ...managed, managers, times }
}

/** The union of neighbours first, so that each field is copied a few times only. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = noFields, second] = sets
  if (second === undefined) return first
  const half = Math.ceil(sets.length / 2)
  return unionOf(sets.slice(0, half)).union(unionOf(sets.slice(half)))
}
