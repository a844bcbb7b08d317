/**
 * All versions of all keys: the state of the local engines (`memory` and `file`).
 *
 *   apply ──▶ pending (only writers see it) ──publish──▶ visible (readers and watches see it)
 *               └──undo──▶ removed                         └──compact, clean──▶ superseded versions freed
 *
 * Invariants: `published` only grows, and only `publish` moves it; a version at or below it never
 * changes; a pending version that is undone was never visible. Every method is synchronous, so
 * checks, revision numbers and order need no lock.
 *
 * Example. Key a is put at 2, put at 4, deleted at 6 and put at 8. († is a tombstone)
 *
 *   keyspace  a ──▶ v8 ──older──▶ v6† ──older──▶ v4 ──older──▶ v2
 *   history   v2 v4 v6† v8
 *   created   v2, v4 and v6†: 2 · v8: 8, because the key was absent before
 *   get(a, 1) absent · get(a, 3) = v2 · get(a, 5) = v4 · get(a, 7) absent · get(a, 8) = v8
 *
 * `compact` moves only the boundary. `clean` then takes changes at or below it out of the history
 * and frees what they superseded:
 *
 *   compact(5), clean   v8 ──▶ v6† ──▶ v4   history v6† v8   get(a, 5) = v4; reads below 5 are refused
 *   compact(6), clean   v8 ──▶ v6†          history v8       get(a, 6) absent
 *   compact(8), clean   v8                  history empty    get(a, 8) = v8
 *
 * Had the key ended with v6†, the compaction at 6 would have removed it from the keyspace.
 */
import { assert } from '#base'
import { History } from './history.ts'
import { Keyspace, type PackedBlock } from './keyspace.ts'
import type { Check, Entry, Write } from './store.ts'
import { entryOf, Slabs, Version, versionAt, type Slab } from './version.ts'

/** The range of a scan, and how far one step may go. */
interface Scan {
  readonly prefix: string
  readonly revision: number
  /** The first key to visit; the empty string starts at the first key of the prefix. */
  readonly from: string
  /** How many keys to visit before the scan yields. */
  readonly visitMax: number
}

export class Versions {
  readonly #keys = new Keyspace()
  readonly #slabs = new Slabs((key) => {
    this.#keys.find(key)
  })
  readonly history = new History()
  /** Revisions of snapshots in progress: `clean` keeps the versions they need. */
  readonly #pins = new Set<{ readonly revision: number }>()
  #published = 1
  #compacted = 0

  /** The newest revision that readers see. */
  get published(): number {
    return this.#published
  }

  /** Reads below this revision are refused. */
  get compacted(): number {
    return this.#compacted
  }

  /** The number of keys, including deleted ones that are still in the history. */
  get size(): number {
    return this.#keys.size
  }

  /** Bytes of the values that can still be read. */
  get liveBytes(): number {
    return this.#slabs.liveBytes
  }

  /** Bytes of the buffers that contain them. */
  get allocatedBytes(): number {
    return this.#slabs.allocatedBytes
  }

  /** The newest version of a key, pending or not; undefined for a tombstone. */
  newest(key: string): Version | undefined {
    const version = this.#keys.find(key)
    return version?.deleted ? undefined : version
  }

  /** The first write or check whose key is not at the expected revision, pending writes included. */
  conflict(conditions: readonly (Write | Check)[]): { key: string; version: Version | undefined } | undefined {
    for (const { key, expect } of conditions) {
      const version = this.newest(key)
      if ((version?.revision ?? 0) !== expect) return { key, version: version ?? this.#keys.find(key) }
    }
    return undefined
  }

  /** Adds a pending version to its key. Only writers see it until it is published. */
  apply({ key, value, stampAt, lease }: Omit<Write, 'expect'>, revision: number): Version {
    const older = this.#keys.find(key)
    const created = older && !older.deleted ? older.created : revision
    const version = new Version(key, revision, { created, lease })
    if (value) this.#slabs.store(version, value, stampAt === undefined ? {} : { stampAt, stamp: String(revision) })
    version.older = older
    this.#keys.put(version)
    return version
  }

  /** Removes a pending version; the newest of its key first. */
  undo(version: Version): void {
    assert(version.revision > this.#published, 'only pending versions are undone')
    if (version.older) this.#keys.put(version.older)
    else this.#keys.remove(version.key)
    this.#slabs.release(version)
  }

  /** Makes everything up to a revision visible; `versions` are in revision order. */
  publish(versions: readonly Version[], revision: number): void {
    assert(revision >= this.#published, 'revisions are published in order')
    for (const version of versions) this.history.push(version)
    this.#published = revision
  }

  /** Appends a block of keys read from a snapshot, with so many bytes of values in the slab; false when its keys are not after all others. */
  load(packed: PackedBlock, slab: Slab, valueBytes: number): boolean {
    if (!this.#keys.appendPacked(packed)) return false
    this.#slabs.attachPacked(slab, { key: packed.first, bytes: valueBytes })
    return true
  }

  adopt(bytes: Buffer): Slab {
    return this.#slabs.adopt(bytes)
  }

  get(key: string, revision: number): Entry | undefined {
    const version = versionAt(this.#keys.find(key), revision)
    return version && entryOf(version)
  }

  /** Visits the versions of a revision in key order; returns the key to continue from, or undefined at the end. */
  scan({ prefix, revision, from, visitMax }: Scan, visit: (version: Version) => void): string | undefined {
    let left = visitMax
    let next: string | undefined
    this.#keys.scan(
      from > prefix ? from : prefix,
      (newest) => {
        if (left-- === 0) {
          next = newest.key
          return false
        }
        const version = versionAt(newest, revision)
        if (version) visit(version)
        return true
      },
      { prefix },
    )
    return next
  }

  /** Moves the boundary. {@link clean} then frees versions in small steps. */
  compact(revision: number): void {
    assert(revision <= this.#published, 'only published revisions can be compacted')
    this.#compacted = Math.max(this.#compacted, revision)
  }

  /** Keeps the versions that a scan at the newest revision needs, until the pin is released. */
  pin(): { readonly revision: number; readonly release: () => void } {
    const pin = { revision: this.#published }
    this.#pins.add(pin)
    return {
      ...pin,
      release: () => {
        this.#pins.delete(pin)
      },
    }
  }

  /** Frees some versions that the boundary has passed; true while more are left. */
  clean(changesMax: number): boolean {
    let upTo = this.#compacted
    for (const { revision } of this.#pins) upTo = Math.min(upTo, revision)
    for (let count = 0; count < changesMax; count++) {
      const version = this.history.shiftUpTo(upTo)
      if (!version) return this.#slabs.tidy()
      this.#dropOlder(version)
    }
    this.#slabs.tidy()
    return true
  }

  #dropOlder(version: Version): void {
    const { older } = version
    version.older = undefined
    if (older) this.#slabs.release(older)
    if (version.deleted) this.#dropTombstone(version)
  }

  /** Also unlinks the tombstone from pending versions, whose undo must not restore it. */
  #dropTombstone(version: Version): void {
    let newer = this.#keys.find(version.key)
    if (newer === version) this.#keys.remove(version.key)
    for (; newer && newer.revision > this.#published; newer = newer.older) {
      if (newer.older === version) newer.older = undefined
    }
  }
}
