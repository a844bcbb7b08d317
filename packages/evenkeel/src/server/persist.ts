/**
 * Room 11: what exactly is written, and at which expected revision?
 *
 * Before: `admit` let the object pass. After: `store/commit` checks, numbers and orders. This is the only place that
 * turns store outcomes into API errors; a lost race stays a value, because the walk decides what to do about it.
 */
import { expired, requestEntityTooLarge, resourceVersionTooLarge, serverTimeout, serviceUnavailable } from '#api'
import type { ApiError, JsonObject } from '#api'
import { isStoreError, storeLimits } from '#store'
import type { Check, CommitResult, Entry, UnavailableRevision } from '#store'
import type { ServerContext, ResourceRef } from './call.ts'
import { toStored } from './convert.ts'
import { StoredObject, Unstamped } from './storage/bytes.ts'
import { objectKey } from './storage/keys.ts'

/** The key of a target's object. */
export function storageKey(
  { resource: { storage }, namespace }: ResourceRef,
  name: string,
  { cluster }: Pick<ServerContext, 'cluster'>,
): string {
  return objectKey(cluster, storage, { namespace, name })
}

/** What a write came to: the stored object, or a race that was lost and to whom. */
export type WriteResult =
  | { readonly ok: true; readonly stored: StoredObject }
  | { readonly ok: false; readonly key: string; readonly current: Entry | undefined }

interface StorageOptions {
  readonly server: ServerContext
  readonly target: ResourceRef
  /** The revision that is replaced, 0 for none. */
  readonly expect: number
  readonly checks?: readonly Check[]
}

/** Writes an object in the form it is kept in. */
export async function putStored(
  object: JsonObject,
  { server, target, expect, checks = [] }: StorageOptions,
): Promise<WriteResult> {
  const { ttlMs } = target.resource.strategy
  const kept = toStored(object, target.resource)
  const unstamped = new Unstamped(kept instanceof Promise ? await kept : kept)
  const { value, stampAt } = unstamped
  if (value.byteLength > valueBytesMax)
    throw requestEntityTooLarge(`the object takes ${value.byteLength} bytes, at most ${valueBytesMax} can be stored`)
  const name = String((object['metadata'] as JsonObject)['name'])
  const key = storageKey(target, name, server)
  const lease = ttlMs === undefined ? undefined : await server.leases.lease(ttlMs)
  const result = await withStorageErrors(target, 'write', () =>
    server.store.commit({ key, value, stampAt, expect, ...(lease !== undefined && { lease }) }, { checks }),
  )
  return result.ok
    ? { ok: true, stored: new StoredObject(unstamped.stamped(result.revision), result.revision) }
    : result
}

/** Removes an object, if it is still at the revision that was seen. */
export async function deleteStored(name: string, { server, target, expect }: StorageOptions): Promise<CommitResult> {
  return withStorageErrors(target, 'delete', () =>
    server.store.commit({ key: storageKey(target, name, server), expect }),
  )
}

/** The object as it is now, or undefined. */
export async function getStored(
  name: string,
  { server, target }: Pick<StorageOptions, 'server' | 'target'>,
): Promise<StoredObject | undefined> {
  const result = await withStorageErrors(target, 'get', () => server.store.get(storageKey(target, name, server)))
  if (!result.ok) throw revisionError(result)
  return result.entry && new StoredObject(result.entry.value, result.entry.revision)
}

/** The error for a revision that cannot be served. */
export function revisionError(
  refused: UnavailableRevision,
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
export async function withStorageErrors<T>(
  { resource }: ResourceRef,
  operation: string,
  call: () => Promise<T>,
): Promise<T> {
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
