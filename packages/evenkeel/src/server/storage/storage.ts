/**
 * Objects in the store: keys, bytes, leases, and the compaction of old history.
 *
 * This is the only place that turns failures of the store into API errors. A lost race stays a value, because each
 * handler decides whether to retry. Keys are `/CLUSTER/GROUP/RESOURCE/NAMESPACE/NAME`: the objects of one resource are
 * adjacent, sorted by namespace and then by name, as lists are. Names with characters that a key may not contain (RBAC
 * allows nearly any) are escaped as `%XX`; `%` itself is not legal in a name.
 *
 * Objects with a time to live (Events) are attached to a lease of the store. All objects written within one minute share
 * one lease that lives a minute longer, so a flood of Events costs one lease per minute.
 */
import {
  expired,
  requestEntityTooLarge,
  resourceVersionTooLarge,
  serverTimeout,
  serviceUnavailable,
  type ApiError,
  type UnstructuredObject,
} from '#api'
import type { Clock, Logger } from '#base'
import type { Resource, ResourceStorage } from '@evenkeel/builtins'
import {
  isStoreError,
  storeLimits,
  type Check,
  type CommitResult,
  type Entry,
  type Store,
  type UnavailableRevision,
  type Write,
} from '#store'
import type { ResourceRef } from '../request-context.ts'
import { toStored } from './codec.ts'
import { StoredObject, Unstamped } from './stored-object.ts'

/** The result of a write: the stored object, or a lost race and the entry that won it. */
export type WriteResult =
  | { readonly ok: true; readonly stored: StoredObject }
  | { readonly ok: false; readonly key: string; readonly current: Entry | undefined }

interface WriteOptions {
  readonly target: ResourceRef
  /** The revision that is replaced, 0 for none. */
  readonly expect: number
  readonly checks?: readonly Check[]
  /** Written in the same commit. */
  readonly linked?: readonly Write[] | undefined
}

interface StorageOptions {
  readonly clock: Clock
  /** The first part of every key. */
  readonly cluster: string
}

/** The objects of one cluster in a store: keys, bytes and leases. */
export class Storage {
  readonly store: Store
  readonly cluster: string
  readonly #leases: LeaseManager

  constructor(store: Store, { clock, cluster }: StorageOptions) {
    this.store = store
    this.cluster = cluster
    this.#leases = new LeaseManager(store, clock)
  }

  /** The key of an object of a target's resource, in the target's namespace. */
  keyOf({ resource: { storage }, namespace }: ResourceRef, name: string): string {
    return objectKey(this.cluster, storage, { namespace, name })
  }

  /** The part of the key that all objects of a resource share. */
  prefixOf({ storage }: Pick<Resource, 'storage'>): string {
    return keyPrefix(this.cluster, storage)
  }

  /** The current object, or undefined. */
  async get(name: string, target: ResourceRef): Promise<StoredObject | undefined> {
    const result = await withStorageErrors(target, 'get', () => this.store.get(this.keyOf(target, name)))
    if (!result.ok) throw revisionError(result)
    return result.entry && new StoredObject(result.entry.value, result.entry.revision)
  }

  /** Writes an object in its stored version. */
  async put(
    object: UnstructuredObject,
    { target, expect, checks = [], linked = [] }: WriteOptions,
  ): Promise<WriteResult> {
    const { ttlMs } = target.resource.strategy
    const kept = toStored(object, target.resource)
    const unstamped = new Unstamped(kept instanceof Promise ? await kept : kept)
    const { value, stampAt } = unstamped
    if (value.byteLength > valueBytesMax)
      throw requestEntityTooLarge(`the object takes ${value.byteLength} bytes, at most ${valueBytesMax} can be stored`)
    const name = object.metadata.name ?? ''
    const key = this.keyOf(target, name)
    const lease = ttlMs === undefined ? undefined : await this.#leases.lease(ttlMs)
    const write = { key, value, stampAt, expect, ...(lease !== undefined && { lease }) }
    const result = await withStorageErrors(target, 'write', () => this.#commit(write, linked, checks))
    return result.ok
      ? { ok: true, stored: new StoredObject(unstamped.stamped(result.revision), result.revision) }
      : result
  }

  /** Removes an object if it is still at the expected revision. */
  async delete(name: string, { target, expect, linked = [] }: WriteOptions): Promise<CommitResult> {
    const write = { key: this.keyOf(target, name), expect }
    return withStorageErrors(target, 'delete', () => this.#commit(write, linked, []))
  }

  #commit(write: Write, linked: readonly Write[], checks: readonly Check[]): Promise<CommitResult> {
    return linked.length === 0
      ? this.store.commit(write, { checks })
      : this.store.commitAll([write, ...linked], { checks })
  }

  /** All current objects of a resource; empty when the range cannot be read. */
  async list({ storage }: Pick<Resource, 'storage'>, { namespace = '' } = {}): Promise<readonly StoredObject[]> {
    const range = await this.store.range(keyPrefix(this.cluster, storage, { namespace }))
    return range.ok ? range.entries.map(({ value, revision }) => new StoredObject(value, revision)) : []
  }
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

/** Runs a call on the store; its failures become API errors. */
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
    // The outcome is unknown: the client has to read the object.
    if (error.reason === 'Failed' || error.reason === 'NoLease')
      throw serverTimeout({ group: resource.group, kind: resource.plural }, operation)
    throw serviceUnavailable(error.message, { retryAfterMs: 5000 })
  }
}

// Leaves space for the digits of the revision that the store inserts.
const valueBytesMax = storeLimits.valueBytesMax - 32

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

/** What the keys of all objects with this name end with. */
export function keyEnd(name: string): string {
  return `/${escapeName(name)}`
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
    // A failed grant must not be cached.
    id.catch(() => this.#leases.delete(ttlMs))
    return id
  }
}

interface CompactionOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly intervalMs: number
}

/** Every interval compacts the revision of one interval ago, until stopped: history reaches back one to two intervals. */
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
          log.warn('compaction failed: the store keeps old revisions', { error })
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
