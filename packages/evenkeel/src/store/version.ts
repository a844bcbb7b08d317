/**
 * A version is one key at one revision in the local engines, linked to the previous versions of
 * the key. The bytes of its value lie in a slab: a few large buffers instead of a million small
 * ones, whose bookkeeping would cost more than the values.
 *
 *   keyspace ──▶ v(9) ──older──▶ v(4) ──older──▶ v(2)
 *                 │ slab, offset, length
 *                 ▼
 *   slab [ bytes of v(2) · bytes of v(4) · bytes of v(9) · free … ]
 *
 * Invariants: revisions fall along `older`; a tombstone has no bytes; bytes in a slab are never
 * overwritten; a slab without live bytes is dropped; `slab`, `offset` and `length` of a version
 * change only when {@link Slabs.tidy} moves its value. Dead bytes stay below half of the live ones
 * plus a slab or two. A reader with a view of a dropped slab keeps that buffer alive.
 *
 * Example. Values of 10, 5 and 12 bytes for the keys x, y and x again:
 *
 *   put x@2   slab [x2]           used 10 · live 10
 *   put y@3   slab [x2 y3]        used 15 · live 15
 *   put x@4   slab [x2 y3 x4]     used 27 · live 27   (a read at revision 2 still needs x2)
 *   compact 4 slab [-- y3 x4]     used 27 · live 17   (10 dead bytes, not reused)
 *
 * Once a third of all bytes (and at least 4 MiB) is dead, `tidy` copies the live values of the
 * slab with the lowest share of live bytes into the current slab and drops it.
 */
import type { Change, Entry } from './store.ts'

/** The length of a tombstone. */
const tombstoneLength = -1

export class Version {
  readonly key: string
  readonly revision: number
  /** The commit that created the key; for a tombstone, the commit that created the deleted key. */
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

  /** A view of the bytes, shared by all readers. */
  get value(): Uint8Array {
    return this.slab ? this.slab.bytes.subarray(this.offset, this.offset + this.length) : empty
  }
}

const empty = new Uint8Array(0)

/** The newest version at or before a revision; undefined when the key was absent at that revision. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest
  while (version && version.revision > revision) version = version.older
  return version && !version.deleted ? version : undefined
}

/** The version as an entry of the store interface. */
export function entryOf(version: Version): Entry {
  const { key, value, revision, created, lease } = version
  return lease === undefined ? { key, value, revision, created } : { key, value, revision, created, lease }
}

/** The change that the commit of this version made. */
export function changeOf(version: Version): Change {
  const { key, revision, older } = version
  const change: { -readonly [Name in keyof Change]: Change[Name] } = { key, revision }
  if (!version.deleted) change.entry = entryOf(version)
  if (older && !older.deleted) change.previous = entryOf(older)
  return change
}

/** One buffer of values. */
export interface Slab {
  readonly bytes: Buffer
  used: number
  live: number
  /** Every version ever stored here, including those that were moved or released since. */
  versions: Version[]
  /** A key of each packed block whose versions are not in `versions` yet. */
  packed: string[]
}

const slabBytes = 1024 * 1024

/** The first slab is small, so that a small store, as in most tests and simulations, costs little memory. */
const firstSlabBytes = slabBytes / 16

/** Larger values get a slab of their own, which is dropped with them. */
const sharedValueBytesMax = slabBytes / 4

export class Slabs {
  readonly #slabs = new Set<Slab>()
  readonly #unpack: (key: string) => void
  #current: Slab | undefined
  #live = 0
  #allocated = 0

  /** @param unpack creates the versions of the packed block that contains this key and adds them to their slab. */
  constructor(unpack: (key: string) => void = () => undefined) {
    this.#unpack = unpack
  }

  /** Bytes of values that can still be read. */
  get liveBytes(): number {
    return this.#live
  }

  /** Bytes of all buffers. */
  get allocatedBytes(): number {
    return this.#allocated
  }

  /** Copies the value of a version into a slab; with `stampAt`, inserts `stamp` at that offset. */
  store(
    version: Version,
    value: Uint8Array,
    { stampAt, stamp = '' }: { stampAt?: number | undefined; stamp?: string } = {},
  ): void {
    const length = stampAt === undefined ? value.length : value.length + stamp.length
    const slab = this.#slabFor(length)
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
    this.attach(version, slab)
  }

  /** Adopts a buffer that already contains values as one slab. */
  adopt(bytes: Buffer): Slab {
    const slab: Slab = { bytes, used: bytes.length, live: 0, versions: [], packed: [] }
    this.#slabs.add(slab)
    this.#allocated += bytes.length
    return slab
  }

  /** Counts a version whose offset and length are set. An empty value needs no slab. */
  attach(version: Version, slab: Slab): void {
    if (version.length === 0) return
    version.slab = slab
    slab.live += version.length
    slab.versions.push(version)
    this.#live += version.length
  }

  /** Counts a packed block. Its versions attach themselves to the slab when they are unpacked. */
  attachPacked(slab: Slab, { key, bytes }: { key: string; bytes: number }): void {
    slab.live += bytes
    slab.packed.push(key)
    this.#live += bytes
  }

  /** Frees the bytes of a version that can no longer be read. */
  release(version: Version): void {
    const slab = version.slab
    if (!slab) return
    version.slab = undefined
    slab.live -= version.length
    this.#live -= version.length
    version.length = 0
    if (slab.live === 0 && slab !== this.#current) this.#drop(slab)
  }

  /** Evacuates the slab with the lowest share of live bytes if too much is dead; true when more may be left to do. */
  tidy(): boolean {
    if (this.#allocated - this.#live < Math.max(this.#allocated / 3, 4 * slabBytes)) return false
    let worst: Slab | undefined
    for (const slab of this.#slabs) {
      if (slab !== this.#current && (!worst || slab.live / slab.bytes.length < worst.live / worst.bytes.length))
        worst = slab
    }
    if (!worst || worst.live > worst.bytes.length * 0.9) return false
    this.#evacuate(worst)
    return true
  }

  #evacuate(slab: Slab): void {
    for (const key of slab.packed) this.#unpack(key)
    slab.packed = []
    for (const version of slab.versions) {
      if (version.slab !== slab) continue
      const value = version.value
      slab.live -= version.length
      this.#live -= version.length
      this.store(version, value)
    }
    if (this.#slabs.has(slab)) this.#drop(slab)
  }

  /** A slab with so many free bytes. */
  #slabFor(length: number): Slab {
    if (length > sharedValueBytesMax) return this.#create(length)
    const current = this.#current
    if (current && current.used + length <= current.bytes.length) return current
    this.#current = this.#create(current || length > firstSlabBytes ? slabBytes : firstSlabBytes)
    if (current?.live === 0) this.#drop(current)
    return this.#current
  }

  #create(length: number): Slab {
    const slab = this.adopt(Buffer.allocUnsafeSlow(length))
    slab.used = 0
    return slab
  }

  #drop(slab: Slab): void {
    this.#slabs.delete(slab)
    this.#allocated -= slab.bytes.length
    slab.versions = []
  }
}
