/**
 * The store interface: keys and byte values under one growing revision, as in etcd.
 *
 * Three engines implement it: `memory` (the reference), `file` and `etcd`. One conformance suite
 * runs against all three. The guarantees:
 *
 * - Order. Every commit gets its own revision, above all earlier ones; an empty store is at
 *   revision 1. A revision is a counter below 2^53, never a clock, and is never used twice.
 * - Durability. A commit is acknowledged, readable and sent to watchers only once it would survive
 *   a power cut (memory: once it is applied). Readers never see a write that can still be lost.
 * - Snapshots. A read at a revision sees exactly the state of that revision, until it is compacted.
 * - Watches. Every change after the given revision, in order, none missing, none twice, and the
 *   changes of one commit together. A watch whose reader falls behind ends; it never blocks writers.
 * - Compaction at C discards history before C: reads below C and watches that start below C are
 *   refused; at C and above they are served.
 *
 * Expected outcomes (a conflict, a compacted revision) are return values. A store throws a
 * {@link StoreError}, a `RangeError` for an invalid argument, or the reason of an aborted signal.
 *
 * Example. Three commits, a conflict and a compaction:
 *
 *   commit { key: 'a', value: v1, expect: 0 } ──▶ ok, revision 2    (a new key)
 *   commit { key: 'a', value: v2, expect: 2 } ──▶ ok, revision 3    (an update of what 2 wrote)
 *   commit { key: 'a', value: v9, expect: 2 } ──▶ not ok, current = a@3
 *   commit { key: 'a', expect: 3 }            ──▶ ok, revision 4    (a delete)
 *   get a at 2 = v1 · at 3 = v2 · at 4 absent · watch after 2 ──▶ update@3, delete@4
 *   compact 3: get a at 2 is refused ('compacted') · at 3 = v2
 */
import { createHash } from 'node:crypto'
import type { AbortOptions } from '#base'

/** One key at one revision. All readers share `value`: never write into it. */
export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** The commit that wrote this value. */
  readonly revision: number
  /** The commit that created the key, after it was last absent. */
  readonly created: number
  /** The lease that deletes this key when it expires. */
  readonly lease?: string
}

/** One write of a commit. It is applied only if the key is still at the expected revision. */
export interface Write {
  /** 1 to 1,024 characters from `!` to `~`. */
  readonly key: string
  /** The new value; absent means delete. */
  readonly value?: Uint8Array
  /** The revision of the entry that is replaced or deleted; 0 for "the key must be absent". */
  readonly expect: number
  /** Where in the value the store inserts the revision of this commit, in decimal digits. */
  readonly stampAt?: number
  /** The lease that deletes the key when it expires. */
  readonly lease?: string
}

/** A condition of a commit on a key that the commit does not write. */
export interface Check {
  readonly key: string
  /** As in {@link Write}. */
  readonly expect: number
}

export interface CommitOptions extends AbortOptions {
  /**
   * More keys that must be at the expected revision, for instance the lock of a leader.
   *
   * @default none
   */
  checks?: readonly Check[]
}

/** The revision of the commit, or the first key that was not at the expected revision. Then nothing was written, and leases were not checked. */
export type CommitResult =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly key: string; readonly current: Entry | undefined }

/** A revision that cannot be served: it is compacted, or it lies in the future. */
export type UnavailableRevision =
  | { readonly ok: false; readonly reason: 'compacted'; readonly compacted: number }
  | { readonly ok: false; readonly reason: 'ahead'; readonly revision: number }

export interface ReadOptions extends AbortOptions {
  /**
   * The revision to read at.
   *
   * @default the newest
   */
  revision?: number | undefined
}

/** `revision` is the one that was read at. */
export type GetResult =
  | { readonly ok: true; readonly revision: number; readonly entry: Entry | undefined }
  | UnavailableRevision

export interface RangeOptions extends ReadOptions {
  /** Start after this key, the last one of the previous page. */
  after?: string | undefined
  /**
   * The maximum number of entries.
   *
   * @default all
   */
  limit?: number | undefined
}

/** Entries in key order; `remaining` counts those beyond the limit. */
export type RangeResult =
  | { readonly ok: true; readonly revision: number; readonly entries: readonly Entry[]; readonly remaining: number }
  | UnavailableRevision

/** What a commit did to one key. */
export interface Change {
  readonly key: string
  readonly revision: number
  /** The new entry; absent when the key was deleted. */
  readonly entry?: Entry
  /** The entry before; absent when the commit created the key, or when that entry is compacted. */
  readonly previous?: Entry
}

/**
 * The changes of some commits, and the revision up to which the reader has now seen every change.
 * A batch without changes is a progress notification. Watchers of the same prefix share one object.
 */
export interface WatchBatch {
  readonly revision: number
  readonly changes: readonly Change[]
}

/** Why a watch ended. */
export type WatchEnd =
  | { readonly reason: 'compacted'; readonly compacted: number }
  | { readonly reason: 'ahead'; readonly revision: number }
  | { readonly reason: 'overflow' }
  | { readonly reason: 'closed' }
  | { readonly reason: 'failed'; readonly cause: unknown }

export interface WatchOptions extends AbortOptions {
  /** Changes after this revision. */
  after: number
  /**
   * How many bytes of keys and values may wait for the reader before the watch is ended.
   *
   * @default 8 MiB
   */
  backlogBytesMax?: number
}

/** Batches in order; `end` is the reason once the watch has ended. */
export interface Watch extends AsyncIterable<WatchBatch, WatchEnd | undefined> {
  readonly end: WatchEnd | undefined
  /** Requests a progress notification, delivered in order with the changes. */
  requestProgress(): void
  /** Ends the watch and the reader's loop. */
  close(): void
}

/** A time to live that keys can share. It counts down only while the store is open. */
export interface Lease {
  readonly id: string
  readonly ttlMs: number
}

/** A hash of the contents at a revision: equal hashes mean equal contents. */
export type HashResult = { readonly ok: true; readonly revision: number; readonly hash: string } | UnavailableRevision

export interface Store {
  /**
   * Whether other processes may have the same store open, so that singletons need leader election.
   *
   * @default false
   */
  readonly isShared?: boolean
  /** The newest revision that a read would see. */
  head(options?: AbortOptions): Promise<number>
  /** The revision of the last compaction; 0 when there was none. */
  compacted(options?: AbortOptions): Promise<number>
  /** Writes or deletes one key if it is still at the expected revision. */
  commit(write: Write, options?: CommitOptions): Promise<CommitResult>
  /** Applies all writes under one revision, or none. At most 128 keys, each once. */
  commitAll(writes: readonly Write[], options?: CommitOptions): Promise<CommitResult>
  get(key: string, options?: ReadOptions): Promise<GetResult>
  /** All entries whose key starts with the prefix. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>
  watch(prefix: string, options: WatchOptions): Watch
  /** Discards history before `revision`. Compacting at or below the last compaction has no effect. */
  compact(revision: number, options?: AbortOptions): Promise<{ readonly ok: true } | UnavailableRevision>
  /** Creates a lease. When it expires, one commit deletes the keys attached to it. */
  grant(ttlMs: number, options?: AbortOptions): Promise<Lease>
  /** Restarts the time to live of a lease; false when the lease does not exist. */
  renew(lease: string, options?: AbortOptions): Promise<boolean>
  /** Ends a lease now and deletes its keys; false when the lease does not exist. */
  revoke(lease: string, options?: AbortOptions): Promise<boolean>
  /** A hash over every key, value and revision under the prefix. */
  hash(prefix: string, options?: ReadOptions): Promise<HashResult>
  /** Undefined while the store is healthy; otherwise the problem and its remedy. Reads may still work. */
  failure(): StoreFailure | undefined
  /** Ends every watch, waits for writes in progress, closes files and connections. */
  close(): Promise<void>
}

/** A problem of an open store. */
export interface StoreFailure {
  /** `full`: reads and deletes still work. `failed`: no more writes until the disk is repaired and the process restarted. */
  readonly state: 'full' | 'failed' | 'unreachable'
  readonly message: string
}

/** The limits every engine enforces, so that a value that fits in one engine fits in all. */
export const storeLimits = {
  keyLengthMax: 1024,
  valueBytesMax: 3 * 1024 * 1024,
  batchMax: 128,
  batchBytesMax: 16 * 1024 * 1024,
  backlogBytesMax: 8 * 1024 * 1024,
} as const

/**
 * Why a store operation failed.
 *
 * - `NoSpace`: the disk is full; nothing was written.
 * - `TooLarge`: the commit exceeds the limit of the engine; nothing was written.
 * - `NoLease`: the lease named in the commit does not exist; nothing was written.
 * - `Failed`: the disk or the server failed; the commit may or may not have been stored.
 * - `Closed`: the store is closed.
 * - `Locked`: another process has the folder open.
 * - `Damaged`, `Foreign`, `NewerFormat`: the files are corrupt, of another program or of a newer release; nothing was changed.
 * - `Unusable`: the folder cannot be read or written.
 */
export type StoreErrorReason =
  | 'NoSpace'
  | 'TooLarge'
  | 'NoLease'
  | 'Failed'
  | 'Closed'
  | 'Locked'
  | 'Damaged'
  | 'Foreign'
  | 'NewerFormat'
  | 'Unusable'

/** The failure of a store operation. The message is one line: the object, the cause and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly reason: StoreErrorReason

  constructor(reason: StoreErrorReason, message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

/** True for a {@link StoreError}, also one of another copy of this package; with `reason`, only for that reason. */
export function isStoreError(error: unknown, reason?: StoreErrorReason): error is StoreError {
  if (!(error instanceof Error) || error.name !== 'StoreError' || !('reason' in error)) return false
  return reason === undefined || error.reason === reason
}

/**
 * A hash over the contents of a store, the same in every engine. Tests and self-checks compare a
 * cache or a mirror with it. Add entries in key order, then call `digest`.
 */
export class ContentHash {
  readonly #hash = createHash('sha256')
  readonly #numbers = new Float64Array(4)

  add({ key, value, revision, created, lease }: Entry): void {
    this.#numbers.set([key.length, value.length, revision, created])
    this.#hash.update(new Uint8Array(this.#numbers.buffer)).update(key, 'latin1').update(value)
    this.#hash.update(lease === undefined ? '-' : '+')
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}
