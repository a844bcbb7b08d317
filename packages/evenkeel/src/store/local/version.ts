/**
 * One key at one revision, as the engines on this machine hold it, with the versions before it
 * hanging off it, newest first:
 *
 *   keyspace ──▶ v(9) ──older──▶ v(4) ──older──▶ v(2)
 *
 * Invariants: revisions fall along `older`; a tombstone has no bytes; `slab`, `offset` and
 * `length` change only when a slab is emptied, the bytes they name never do.
 */
import type { Change, Entry } from '../store.ts'
import type { Slab } from './slab.ts'

/** The length that marks a deletion. */
const tombstoneLength = -1

export class Version {
  readonly key: string
  readonly revision: number
  /** The commit that made the key; for a tombstone, of the key it ended. */
  readonly created: number
  readonly lease: string | undefined
  older: Version | undefined
  slab: Slab | undefined
  offset = 0
  length = tombstoneLength

  constructor(key: string, revision: number, { created, lease }: { created: number; lease: string | undefined }) {
    this.key = key
    this.revision = revision
    this.created = created
    this.lease = lease
    this.older = undefined
    this.slab = undefined
  }

  get deleted(): boolean {
    return this.length === tombstoneLength
  }

  /** The bytes, shared with whoever else looks. */
  get value(): Uint8Array {
    return this.slab ? this.slab.bytes.subarray(this.offset, this.offset + this.length) : empty
  }
}

const empty = new Uint8Array(0)

/** The newest version at or before a revision; undefined when the key was absent then. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest
  while (version && version.revision > revision) version = version.older
  return version && !version.deleted ? version : undefined
}

/** The version as the contract shows it. */
export function entryOf(version: Version): Entry {
  const { key, value, revision, created, lease } = version
  return lease === undefined ? { key, value, revision, created } : { key, value, revision, created, lease }
}

/** What the commit that made this version did to its key. */
export function changeOf(version: Version): Change {
  const { key, revision, older } = version
  const change: { -readonly [Name in keyof Change]: Change[Name] } = { key, revision }
  if (!version.deleted) change.entry = entryOf(version)
  if (older && !older.deleted) change.previous = entryOf(older)
  return change
}
