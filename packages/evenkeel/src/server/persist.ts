/**
 * Room 11: what exactly is written, and at which expected revision?
 *
 * Before: `admit` let the object pass. After: `store/commit` checks, numbers and orders. This is the only place that
 * turns store outcomes into API errors; a lost race stays a value, because the walk decides what to do about it.
 */
import { expired, requestEntityTooLarge, resourceVersionTooLarge, serverTimeout, serviceUnavailable } from '#api'
import type { ApiError, JsonObject } from '#api'
import { isStoreError, storeLimits } from '#store'
import type { Check, CommitResult, Entry, Refused } from '#store'
import type { Rooms, Target } from './call.ts'
import { toStored } from './convert.ts'
import { StoredObject, Unstamped } from './storage/bytes.ts'
import { objectKey } from './storage/keys.ts'

/** The key of a target's object. */
export function keyOfTarget(
  { resource: { storage }, namespace }: Target,
  name: string,
  { cluster }: Pick<Rooms, 'cluster'>,
): string {
  return objectKey(cluster, storage, { namespace, name })
}

/** What a write came to: the stored object, or a race that was lost and to whom. */
export type Written =
  | { readonly ok: true; readonly stored: StoredObject }
  | { readonly ok: false; readonly key: string; readonly current: Entry | undefined }

interface PersistOptions {
  readonly rooms: Rooms
  readonly target: Target
  /** The revision that is replaced, 0 for none. */
  readonly expect: number
  readonly checks?: readonly Check[]
}

/** Writes an object in the form it is kept in. */
export async function persist(
  object: JsonObject,
  { rooms, target, expect, checks = [] }: PersistOptions,
): Promise<Written> {
  const { ttlMs } = target.resource.rules
  const kept = toStored(object, target.resource)
  const unstamped = new Unstamped(kept instanceof Promise ? await kept : kept)
  const { value, stampAt } = unstamped
  if (value.byteLength > valueBytesMax)
    throw requestEntityTooLarge(`the object takes ${value.byteLength} bytes, at most ${valueBytesMax} can be stored`)
  const name = String((object['metadata'] as JsonObject)['name'])
  const key = keyOfTarget(target, name, rooms)
  const lease = ttlMs === undefined ? undefined : await rooms.expiry.lease(ttlMs)
  const result = await guarded(target, 'write', () =>
    rooms.store.commit({ key, value, stampAt, expect, ...(lease !== undefined && { lease }) }, { checks }),
  )
  return result.ok
    ? { ok: true, stored: new StoredObject(unstamped.stamped(result.revision), result.revision) }
    : result
}

/** Removes an object, if it is still at the revision that was seen. */
export async function erase(name: string, { rooms, target, expect }: PersistOptions): Promise<CommitResult> {
  return guarded(target, 'delete', () => rooms.store.commit({ key: keyOfTarget(target, name, rooms), expect }))
}

/** The object as it is now, or undefined. */
export async function fetchCurrent(
  name: string,
  { rooms, target }: Pick<PersistOptions, 'rooms' | 'target'>,
): Promise<StoredObject | undefined> {
  const result = await guarded(target, 'get', () => rooms.store.get(keyOfTarget(target, name, rooms)))
  if (!result.ok) throw refusal(result)
  return result.entry && new StoredObject(result.entry.value, result.entry.revision)
}

/** The error for a revision that cannot be served. */
export function refusal(
  refused: Refused,
  { requested = 0, continueToken }: { requested?: number; continueToken?: string } = {},
): ApiError {
  if (refused.reason === 'ahead') return resourceVersionTooLarge(String(requested), String(refused.revision))
  if (continueToken === undefined) return expired(`The resourceVersion for the provided list is too old.`)
  return expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
      'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list ' +
      '- objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { continueToken },
  )
}

/** Runs a call on the store; what it cannot do becomes an error that clients know how to treat. */
export async function guarded<T>({ resource }: Target, operation: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!isStoreError(error)) throw error
    if (error.reason === 'TooLarge') throw requestEntityTooLarge(error.message)
    // Whether it happened is not known: the client has to look.
    if (error.reason === 'Failed' || error.reason === 'NoLease')
      throw serverTimeout({ group: resource.group, kind: resource.plural }, operation)
    throw serviceUnavailable(error.message, { retryAfterMs: 5000 })
  }
}

// Room for the digits of the revision that the store inserts.
const valueBytesMax = storeLimits.valueBytesMax - 32
