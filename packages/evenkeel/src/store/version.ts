/**
 * One key at one revision, as the engines on this machine hold it, with the versions before it
 * hanging off it, newest first:
 *
 *   keyspace ──▶ v(9) ──older──▶ v(4) ──older──▶ v(2)
 *
 * Invariants: revisions fall along `older`; a tombstone has no bytes; `slab`, `offset` and
 * `length` change only when a slab is emptied, the bytes they name never do.
 */
import type { Change, Entry } from './store.ts'

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

/*
 * Where the bytes of values live: a few large buffers instead of a million small ones, which
 * would cost more in bookkeeping than the values themselves.
 *
 * Invariants: bytes are never overwritten once somebody may look at them; a slab with nothing
 * live in it is let go; when more than a third of all bytes is dead, the emptiest slabs are
 * emptied into fresh ones, so dead bytes stay below half of the live ones plus a slab or two.
 * A reader that still holds a view of an emptied slab keeps that buffer alive by itself.
 */

export interface Slab {
  readonly bytes: Buffer
  used: number
  live: number
  /** Every version that was placed here; those that have moved on or died are skipped. */
  holders: Version[]
  /** A key of each packed block whose versions are not among the holders yet. */
  packed: string[]
}

const slabBytes = 1024 * 1024

/** The first slab: a store that holds little, as in most tests and simulations, costs little. */
const firstBytes = slabBytes / 16

/** Values above this get a slab of their own, which goes when they go. */
const aloneBytes = slabBytes / 4

export class Slabs {
  readonly #slabs = new Set<Slab>()
  readonly #unpack: (key: string) => void
  #current: Slab | undefined
  #live = 0
  #held = 0

  /** @param unpack makes the versions of the packed block with this key, so that they hold their slab. */
  constructor(unpack: (key: string) => void = () => undefined) {
    this.#unpack = unpack
  }

  /** Bytes of values that somebody can still ask for. */
  get liveBytes(): number {
    return this.#live
  }

  /** Bytes of all buffers held. */
  get heldBytes(): number {
    return this.#held
  }

  /** Copies the value into a slab; with `digits`, inserts them at `at` on the way. */
  place(
    version: Version,
    value: Uint8Array,
    { stampAt, stamp = '' }: { stampAt?: number | undefined; stamp?: string } = {},
  ): void {
    const length = stampAt === undefined ? value.length : value.length + stamp.length
    const slab = this.#room(length)
    const offset = slab.used
    version.offset = offset
    version.length = length
    if (stampAt === undefined) slab.bytes.set(value, offset)
    else {
      slab.bytes.set(value.subarray(0, stampAt), offset)
      slab.bytes.write(stamp, offset + stampAt, 'latin1')
      slab.bytes.set(value.subarray(stampAt), offset + stampAt + stamp.length)
    }
    slab.used += length
    this.hold(version, slab)
  }

  /** Takes over a buffer that already holds values, as one slab. */
  adopt(bytes: Buffer): Slab {
    const slab: Slab = { bytes, used: bytes.length, live: 0, holders: [], packed: [] }
    this.#slabs.add(slab)
    this.#held += bytes.length
    return slab
  }

  /** Counts a version that knows where in the slab its bytes lie. One without bytes needs no slab, and none is to remember it. */
  hold(version: Version, slab: Slab): void {
    if (version.length === 0) return
    version.slab = slab
    slab.live += version.length
    slab.holders.push(version)
    this.#live += version.length
  }

  /** Counts a packed block, whose versions will name this slab themselves once they are made. */
  holdPacked(slab: Slab, { key, bytes }: { key: string; bytes: number }): void {
    slab.live += bytes
    slab.packed.push(key)
    this.#live += bytes
  }

  /** Nobody will ask for this version again. */
  release(version: Version): void {
    const slab = version.slab
    if (!slab) return
    version.slab = undefined
    slab.live -= version.length
    this.#live -= version.length
    version.length = 0
    if (slab.live === 0 && slab !== this.#current) this.#drop(slab)
  }

  /** Empties the worst slab if too much is dead; true when there may be more to do. */
  tidy(): boolean {
    if (this.#held - this.#live < Math.max(this.#held / 3, 4 * slabBytes)) return false
    let worst: Slab | undefined
    for (const slab of this.#slabs) {
      if (slab !== this.#current && (!worst || slab.live / slab.bytes.length < worst.live / worst.bytes.length))
        worst = slab
    }
    if (!worst || worst.live > worst.bytes.length * 0.9) return false
    this.#empty(worst)
    return true
  }

  #empty(slab: Slab): void {
    for (const key of slab.packed) this.#unpack(key)
    slab.packed = []
    for (const version of slab.holders) {
      if (version.slab !== slab) continue
      const value = version.value
      slab.live -= version.length
      this.#live -= version.length
      this.place(version, value)
    }
    if (this.#slabs.has(slab)) this.#drop(slab)
  }

  #room(length: number): Slab {
    if (length > aloneBytes) return this.#make(length)
    const current = this.#current
    if (current && current.used + length <= current.bytes.length) return current
    this.#current = this.#make(current || length > firstBytes ? slabBytes : firstBytes)
    if (current?.live === 0) this.#drop(current)
    return this.#current
  }

  #make(length: number): Slab {
    const slab = this.adopt(Buffer.allocUnsafeSlow(length))
    slab.used = 0
    return slab
  }

  #drop(slab: Slab): void {
    this.#slabs.delete(slab)
    this.#held -= slab.bytes.length
    slab.holders = []
  }
}
