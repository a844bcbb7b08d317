/**
 * Field management of every write that is no apply: who changed what, and when.
 *
 * Runs on each create, update and patch, so the common cases cost little: managed fields of an object in a cache are
 * decoded once, and a write that changes nothing a manager could own gives back the live list itself.
 *
 * Tracking never stops a write. Whatever cannot be understood is forgotten, as an API server does.
 */
import { deepEqual, getOwn } from '../../json.ts'
import type { JsonObject } from '../../json.ts'
import type { ManagedFieldsEntry } from '../../object.ts'
import { updateManagers } from '../merge/update.ts'
import type { TypedObject } from '../merge/managers.ts'
import { TypedError } from '../typed/mistakes.ts'
import { capManagers } from './cap-managers.ts'
import { decodeManaged, encodeManaged, nobody } from './entries.ts'
import type { Managed } from './entries.ts'
import { engineOf, entriesOf, managerOf, metadataOf, timeOf, typedObject, withEntries } from './request.ts'
import type { ManagedRequest } from './request.ts'
import { stripSystemFields } from './system-fields.ts'

export interface UpdateRequest extends ManagedRequest {
  /** Absent when the object is being created. */
  readonly live: JsonObject | undefined
  /** What is about to be stored. Its managed fields count if they are well-formed: a client may edit them. */
  readonly next: JsonObject
}

/** What is about to be stored, with the managed fields it should have. */
export function trackUpdate(request: UpdateRequest): JsonObject {
  const { live, next } = request
  const managed = startingPoint(request)
  const isCreate = !getOwn(metadataOf(live), 'uid')
  // An object that is not tracked stays so until somebody applies.
  if (managed.managers.size === 0 && !isCreate) return withEntries(next, undefined)
  try {
    const change = { before: withoutEntries(live ?? {}, request), after: withoutEntries(next, request) }
    return withEntries(next, encodeManaged(capManagers(noteUpdate(change, managed, request))))
  } catch (error) {
    if (error instanceof TypedError) return withEntries(next, undefined)
    throw error
  }
}

/** The managers after a write, with the writer's time if it came to own anything. */
export function noteUpdate({ before, after }: { before: TypedObject, after: TypedObject }, managed: Managed, request: ManagedRequest): Managed {
  const changed = updateManagers({ before, after, managers: managed.managers, manager: writer }, engineOf(request))
  const managers = new Map(stripSystemFields(changed, writer))
  const written = managers.get(writer)
  if (!written) return { ...managed, managers }
  managers.delete(writer)
  const identity = managerOf(request, 'Update')
  const previous = managers.get(identity)
  managers.set(identity, previous ? { ...written, set: previous.set.union(written.set) } : written)
  return { ...managed, managers, times: new Map(managed.times).set(identity, timeOf(request)) }
}

/** Stands for the writer while the write is looked at, so that what it owned before can be told from what it changed now. */
const writer = 'current-operation'

function startingPoint({ live, next, subresource }: UpdateRequest): Managed {
  const ours = entriesOf(live)
  const theirs = entriesOf(next)
  if (subresource !== undefined && subresource !== '' || theirs === undefined) return decodeOrForget(ours)
  if (isReset(theirs)) return nobody
  if (ours && deepEqual(ours, theirs)) return decodeOrForget(ours)
  try {
    const managed = decodeManaged(theirs)
    if (managed.managers.size > 0) return managed
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return decodeOrForget(ours)
}

/** `[]` or `[{}]`: a client wants tracking to start over. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || entries.length === 1 && deepEqual(entries[0], {})
}

function decodeOrForget(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  try {
    return decodeManaged(entries)
  } catch (error) {
    if (error instanceof RangeError) return nobody
    throw error
  }
}

function withoutEntries(object: JsonObject, request: ManagedRequest): TypedObject {
  return typedObject(withEntries(object, undefined), request)
}
