/**
 * Room 11: what exactly is written, and at which expected revision?
 *
 * Before: `admit` let the object pass. After: `store/commit` checks, numbers and orders. This is the only place that
 * turns store outcomes into API errors; a lost race stays a value, because the walk decides what to do about it.
 */
import {
  expired,
  requestEntityTooLarge,
  resourceVersionTooLarge,
  serverTimeout,
  serviceUnavailable,
  type ApiError,
  type JsonObject,
} from '#api'
import type { Clock, Logger } from '#base'
import type { ResourceStorage } from '#builtins'
import {
  isStoreError,
  storeLimits,
  type Check,
  type CommitResult,
  type Entry,
  type Store,
  type UnavailableRevision,
} from '#store'
import type { ResourceRef, ServerContext } from '../request-context.ts'
import { toStored } from './codec.ts'
import { StoredObject, Unstamped } from './stored-object.ts'

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

/*
 * Where an object is kept: `/CLUSTER/GROUP/RESOURCE/NAMESPACE/NAME`.
 *
 * Keys of one resource lie together, sorted by namespace and then by name, as lists are. Names that hold characters
 * a key may not have (RBAC allows nearly anything) are written with `%XX`; `%` itself is in no legal name.
 */

/** The part that all objects of a resource share, or all of one namespace. */
export function keyPrefix(
  cluster: string,
  storage: ResourceStorage,
  { namespace = '' }: { namespace?: string } = {},
): string {
  const root = `/${cluster}/${storage.group === '' ? 'core' : storage.group}/${storage.plural}/`
  return namespace === '' ? root : `${root}${escapeName(namespace)}/`
}

/** The key of one object. */
export function objectKey(
  cluster: string,
  storage: ResourceStorage,
  { namespace = '', name }: { namespace?: string; name: string },
): string {
  return keyPrefix(cluster, storage, { namespace }) + escapeName(name)
}

const plainName = /^[!-$&-.0-~]*$/

function escapeName(name: string): string {
  if (plainName.test(name)) return name
  let escaped = ''
  for (const byte of Buffer.from(name, 'utf8')) {
    const character = String.fromCharCode(byte)
    escaped += plainName.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return escaped
}

/*
 * Objects that die by themselves (Events): each is bound to a lease of the store.
 *
 * Leases are shared: everything written within a minute goes on one lease, which lives that minute longer, so that
 * a flood of Events costs a lease a minute and not one each. An object therefore lives for its time and up to a
 * minute more.
 */

const leaseShareMs = 60_000

interface SharedLease {
  readonly id: Promise<string>
  readonly untilMs: number
}

export class LeaseManager {
  readonly #store: Store
  readonly #clock: Clock
  readonly #leases = new Map<number, SharedLease>()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** A lease that ends at least `ttlMs` from now. */
  async lease(ttlMs: number): Promise<string> {
    const now = this.#clock.monotonic()
    const known = this.#leases.get(ttlMs)
    if (known && now < known.untilMs) return known.id
    const id = this.#store.grant(ttlMs + leaseShareMs).then((lease) => lease.id)
    this.#leases.set(ttlMs, { id, untilMs: now + leaseShareMs })
    // A grant that failed must not be handed out for a minute.
    id.catch(() => this.#leases.delete(ttlMs))
    return id
  }
}

/*
 * Forgets old history: what happened longer ago than the window can no longer be asked for, and clients that try are
 * told to list again.
 *
 * Every interval the revision of one interval ago is compacted, so history reaches back one to two intervals.
 */

interface CompactionOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly intervalMs: number
}

/** Compacts until it is stopped. */
export function startCompaction(store: Store, { clock, log, intervalMs }: CompactionOptions): () => void {
  let seen = 0
  let cancel = (): void => {}
  const step = async (): Promise<void> => {
    const head = await store.head()
    if (seen > 0) await store.compact(seen)
    seen = head
  }
  const again = (): void => {
    cancel = clock.after(intervalMs, () => {
      step()
        .catch((error: unknown) => {
          log.warn('old history could not be compacted', { error })
        })
        .finally(() => {
          if (!stopped) again()
        })
    })
  }
  let stopped = false
  again()
  return () => {
    stopped = true
    cancel()
  }
}
