/**
 * All versions of all keys: what the engines on this machine are about.
 *
 *   apply ──▶ pending (writers see it) ──publish──▶ visible (readers and watches see it)
 *               └──undo──▶ gone                        └──compact, clean──▶ superseded ones freed
 *
 * Invariants: `published` only grows, and only `publish` moves it; a version at or below it never
 * changes; what was pending and undone was never visible. Nothing in here waits, so check,
 * numbering and order need no lock.
 */
import { assert } from '#base'
import { History } from './history.ts'
import { Keyspace, type PackedBlock } from './keyspace.ts'
import type { Check, Entry, Write } from './store.ts'
import { entryOf, Slabs, Version, versionAt, type Slab } from './version.ts'

/** Where a scan is to begin and how far it may go in one step. */
interface Scan {
  readonly prefix: string
  readonly revision: number
  /** The first key to look at; the empty text for the first of all. */
  readonly from: string
  /** How many keys to look at before giving way to others. */
  readonly visitMax: number
}

export class Versions {
  readonly #keys = new Keyspace()
  readonly #slabs = new Slabs((key) => {
    this.#keys.find(key)
  })
  readonly history = new History()
  /** Revisions that somebody is writing down: what they need is not freed, whatever the boundary says. */
  readonly #pins = new Set<{ readonly revision: number }>()
  #published = 1
  #compacted = 0

  /** The newest revision that readers see. */
  get published(): number {
    return this.#published
  }

  /** Below this nothing is served. */
  get compacted(): number {
    return this.#compacted
  }

  /** Keys, with those that are deleted but still in the history. */
  get size(): number {
    return this.#keys.size
  }

  /** Bytes of the values that can still be asked for. */
  get liveBytes(): number {
    return this.#slabs.liveBytes
  }

  /** Bytes of the buffers that hold them. */
  get heldBytes(): number {
    return this.#slabs.heldBytes
  }

  /** The newest version of a key, pending or not; a tombstone counts as none. */
  newest(key: string): Version | undefined {
    const version = this.#keys.find(key)
    return version?.deleted ? undefined : version
  }

  /** The first write or check whose key is not as expected, pending writes included. */
  conflict(conditions: readonly (Write | Check)[]): { key: string; version: Version | undefined } | undefined {
    for (const { key, expect } of conditions) {
      const version = this.newest(key)
      if ((version?.revision ?? 0) !== expect) return { key, version: version ?? this.#keys.find(key) }
    }
    return undefined
  }

  /** Puts a write on top of its key; nobody but writers sees it until it is published. */
  apply({ key, value, stampAt, lease }: Omit<Write, 'expect'>, revision: number): Version {
    const older = this.#keys.find(key)
    const created = older && !older.deleted ? older.created : revision
    const version = new Version(key, revision, { created, lease })
    if (value) this.#slabs.place(version, value, stampAt === undefined ? {} : { stampAt, stamp: String(revision) })
    version.older = older
    this.#keys.put(version)
    return version
  }

  /** Takes a pending version off again; the newest of its key first. */
  undo(version: Version): void {
    assert(version.revision > this.#published, 'only pending versions are undone')
    if (version.older) this.#keys.put(version.older)
    else this.#keys.remove(version.key)
    this.#slabs.release(version)
  }

  /** Makes everything up to a revision visible; the versions come in the order of their revisions. */
  publish(versions: readonly Version[], revision: number): void {
    assert(revision >= this.#published, 'revisions are published in order')
    for (const version of versions) this.history.push(version)
    this.#published = revision
  }

  /** Adds keys read from a snapshot, whose values take so many bytes of the slab; false when they are not behind all others. */
  load(packed: PackedBlock, slab: Slab, valueBytes: number): boolean {
    if (!this.#keys.appendPacked(packed)) return false
    this.#slabs.holdPacked(slab, { key: packed.first, bytes: valueBytes })
    return true
  }

  adopt(bytes: Buffer): Slab {
    return this.#slabs.adopt(bytes)
  }

  get(key: string, revision: number): Entry | undefined {
    const version = versionAt(this.#keys.find(key), revision)
    return version && entryOf(version)
  }

  /** Visits the versions of a revision in key order; gives the key to go on from, or undefined at the end. */
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

  /** Moves the boundary. What it frees is freed by {@link clean}, a bit at a time. */
  compact(revision: number): void {
    assert(revision <= this.#published, 'only what happened can be compacted')
    this.#compacted = Math.max(this.#compacted, revision)
  }

  /** Keeps everything that a scan at the newest revision needs, until the pin is let go. */
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

  /** Frees some of what the boundary has passed; true while there is more. */
  clean(changesMax: number): boolean {
    let upTo = this.#compacted
    for (const { revision } of this.#pins) upTo = Math.min(upTo, revision)
    for (let count = 0; count < changesMax; count++) {
      const version = this.history.shiftUpTo(upTo)
      if (!version) return this.#slabs.tidy()
      this.#forgetBefore(version)
    }
    this.#slabs.tidy()
    return true
  }

  #forgetBefore(version: Version): void {
    const { older } = version
    version.older = undefined
    if (older) this.#slabs.release(older)
    if (version.deleted) this.#forgetTombstone(version)
  }

  /** A write on top of it that is still pending may be undone, and must not bring it back. */
  #forgetTombstone(version: Version): void {
    let newer = this.#keys.find(version.key)
    if (newer === version) this.#keys.remove(version.key)
    for (; newer && newer.revision > this.#published; newer = newer.older) {
      if (newer.older === version) newer.older = undefined
    }
  }
}
