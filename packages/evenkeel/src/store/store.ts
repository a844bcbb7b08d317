/**
 * The contract of a store: keys and bytes under one growing revision, as etcd has it.
 *
 * Three engines keep it: `memory` (the reference), `file` and `etcd`; one suite of cases judges
 * them all. The promises:
 *
 * - Order. Every commit gets its own revision, above all earlier ones; an empty store is at
 *   revision 1. A revision is a counter below 2^53, never a clock, and is never used twice.
 * - Durability. A commit is acknowledged, visible to readers and told to watchers only once it
 *   would survive a power cut (memory: once it is made). Readers never see what may still vanish.
 * - Snapshots. A read at a revision sees exactly what was there then, until it is compacted.
 * - Watches. Every change after the given revision, in order, none missing, none twice, and
 *   changes of one commit together; a reader that falls behind is ended, never waited for.
 * - Compaction at C forgets what was before: reads below C and watches that start below C are
 *   refused; at C and above they are served.
 *
 * Outcomes that are part of normal life (a lost race, a compacted revision) are values. What is
 * thrown is a {@link StoreError}, a `RangeError` for a caller's mistake, or a signal's reason.
 */
import { createHash } from 'node:crypto'
import type { AbortOptions } from '#base'

/** One key as it was at some revision. `value` is shared with everybody: never write into it. */
export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** The commit that wrote this value. */
  readonly revision: number
  /** The commit that made the key, since it was last absent. */
  readonly created: number
  /** The lease this key dies with. */
  readonly lease?: string
}

/** One write of a commit: it happens only if the key is still as the writer saw it. */
export interface Write {
  /** 1 to 1,024 characters from `!` to `~`. */
  readonly key: string
  /** The new value; absent means delete. */
  readonly value?: Uint8Array
  /** The revision of the entry that is replaced or deleted; 0 for "the key must be absent". */
  readonly expect: number
  /** Where in the value the store inserts the revision of this commit, in decimal digits. */
  readonly stampAt?: number
  /** The lease the key dies with. */
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
   * More keys that must be as expected, for instance the lease of a leader.
   *
   * @default none
   */
  checks?: readonly Check[]
}

/** The revision of the commit, or the first key that was not as expected. Then nothing was written, and no lease was looked for. */
export type CommitResult =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly key: string; readonly current: Entry | undefined }

/** A revision that cannot be served: its history is gone, or it has not happened. */
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
  /** Start behind this key: the last one of the page before. */
  after?: string | undefined
  /**
   * The most entries to give.
   *
   * @default all
   */
  limit?: number | undefined
}

/** Entries in the order of their keys; `remaining` counts those behind the limit. */
export type RangeResult =
  | { readonly ok: true; readonly revision: number; readonly entries: readonly Entry[]; readonly remaining: number }
  | UnavailableRevision

/** What a commit did to one key. */
export interface Change {
  readonly key: string
  readonly revision: number
  /** The new entry; absent when the key was deleted. */
  readonly entry?: Entry
  /** What was there before; absent when the key was made, or when it was compacted away since. */
  readonly previous?: Entry
}

/**
 * The changes of some commits, and the revision up to which the reader has now seen everything.
 * No changes means progress only. Watchers of the same prefix are handed the same object.
 */
export interface WatchBatch {
  readonly revision: number
  readonly changes: readonly Change[]
}

/** Why a watch is over. */
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

/** Batches in order; `end` says why there are no more, once there are none. */
export interface Watch extends AsyncIterable<WatchBatch, WatchEnd | undefined> {
  readonly end: WatchEnd | undefined
  /** Asks for a batch, in order with the others, that says how far the reader has seen everything. */
  requestProgress(): void
  /** Stops. The reader's loop ends. */
  close(): void
}

/** A time to live that keys can share. Its clock runs only while somebody has the store open. */
export interface Lease {
  readonly id: string
  readonly ttlMs: number
}

/** What is in the store at a revision, in one number: equal hashes, equal contents. */
export type HashResult = { readonly ok: true; readonly revision: number; readonly hash: string } | UnavailableRevision

export interface Store {
  /**
   * Whether others may have it open too, so that what only one may do has to be agreed on.
   *
   * @default false
   */
  readonly isShared?: boolean
  /** The newest revision that a read would see. */
  head(options?: AbortOptions): Promise<number>
  /** The revision below which nothing is served; 0 when nothing was compacted. */
  compacted(options?: AbortOptions): Promise<number>
  /** Writes or deletes one key, if it is still at the expected revision. */
  commit(write: Write, options?: CommitOptions): Promise<CommitResult>
  /** All writes under one revision, or none. At most 128 keys, each once. */
  commitAll(writes: readonly Write[], options?: CommitOptions): Promise<CommitResult>
  get(key: string, options?: ReadOptions): Promise<GetResult>
  /** Everything whose key begins with the prefix. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>
  watch(prefix: string, options: WatchOptions): Watch
  /** Forgets what was before `revision`; a revision that is already compacted is left alone. */
  compact(revision: number, options?: AbortOptions): Promise<{ readonly ok: true } | UnavailableRevision>
  /** Makes a lease; keys committed with it are deleted, in one commit, when it runs out. */
  grant(ttlMs: number, options?: AbortOptions): Promise<Lease>
  /** Starts the time of a lease anew; false when it is gone. */
  renew(lease: string, options?: AbortOptions): Promise<boolean>
  /** Ends a lease now, and its keys with it; false when it is gone. */
  revoke(lease: string, options?: AbortOptions): Promise<boolean>
  /** A hash over every key, value and revision below the prefix. */
  hash(prefix: string, options?: ReadOptions): Promise<HashResult>
  /** Undefined while all is well; otherwise what is wrong and what to do. Reads may still work. */
  failure(): StoreFailure | undefined
  /** Ends every watch, waits for writes under way, lets go of files and connections. */
  close(): Promise<void>
}

/** What a store can complain about while it is open. */
export interface StoreFailure {
  /** `full`: deletes and reads go on. `failed`: nothing can be written any more, restart after mending. */
  readonly state: 'full' | 'failed' | 'unreachable'
  readonly message: string
}

/** The limits every engine keeps, so that what fits in one fits in all. */
export const storeLimits = {
  keyLengthMax: 1024,
  valueBytesMax: 3 * 1024 * 1024,
  batchMax: 128,
  batchBytesMax: 16 * 1024 * 1024,
  backlogBytesMax: 8 * 1024 * 1024,
} as const

/*
 * What a store throws when it cannot do its work. Normal outcomes are values (see `store`);
 * a caller's mistake is a `RangeError`.
 *
 * Invariant: the message is one line that says what happened, to what, and what to do.
 */

/**
 * - `NoSpace`: the disk is full; nothing was written.
 * - `TooLarge`: the commit is bigger than the engine takes; nothing was written.
 * - `NoLease`: the lease named in the commit is gone; nothing was written.
 * - `Failed`: the disk or the server failed; the commit may or may not have been stored.
 * - `Closed`: the store was closed before the call.
 * - `Locked`: another process owns the folder.
 * - `Damaged`, `Foreign`, `NewerFormat`: the files cannot be used as they are; nothing was changed.
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

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly reason: StoreErrorReason

  constructor(reason: StoreErrorReason, message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

/** True for a {@link StoreError}, also one of another copy of this package, of the given reason if one is given. */
export function isStoreError(error: unknown, reason?: StoreErrorReason): error is StoreError {
  if (!(error instanceof Error) || error.name !== 'StoreError' || !('reason' in error)) return false
  return reason === undefined || error.reason === reason
}

/*
 * One hash over the contents of a store, the same in every engine: equal hashes mean equal keys,
 * values and revisions. Tests and self-checks compare a cache or a mirror with it.
 */

/** Feeds entries in key order; `digest` ends it. */
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
