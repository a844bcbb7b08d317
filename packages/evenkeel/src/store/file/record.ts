/**
 * The records of a frame, one after the other. Sizes are in bytes:
 *
 *   put      1 · key length (2) · lease length (1) · value length (4) · revision (8) · created (8) · key · lease · value
 *   delete   2 · key length (2) · revision (8) · key
 *   grant    3 · lease length (1) · time to live (8) · remaining time (8) · lease
 *   revoke   4 · lease length (1) · lease
 *   compact  5 · revision (8)
 *   ceiling  6 · revision (8): no revision above it has been assigned
 *   follows  7 · length (8): the length of the previous log
 *   clean    8 · ceiling (8): the store was shut down cleanly
 *   summary  9 · entries (8) · revision (8) · ceiling (8): the end of a snapshot
 *
 * Numbers are little-endian; those of 8 bytes are doubles, which represent every revision exactly.
 *
 * Example. The key `a` was created with the value `hi` at revision 7, and deleted at 8:
 *
 *   put      01 · 01 00 · 00 · 02 00 00 00 · 00 00 00 00 00 00 1c 40 · 00 00 00 00 00 00 1c 40 · 61 · 68 69
 *   delete   02 · 01 00 · 00 00 00 00 00 00 20 40 · 61
 *
 * A snapshot contains long runs of puts. A {@link PackedRun} only measures them when the store
 * opens, and decodes them when a key is accessed. Unpacking keeps the order of the bytes and
 * attaches each version to the slab; {@link Versions.load} has counted its bytes before.
 */
import { blockMax, type PackedBlock } from '../keyspace.ts'
import type { LeaseState } from '../leases.ts'
import { Version, type Slab } from '../version.ts'
import type { FrameBuilder } from './frame.ts'

const types = {
  put: 1,
  delete: 2,
  grant: 3,
  revoke: 4,
  compact: 5,
  ceiling: 6,
  follows: 7,
  clean: 8,
  summary: 9,
} as const

type NumberRecord = 'compact' | 'ceiling' | 'follows' | 'clean'

export interface Summary {
  readonly entries: number
  readonly revision: number
  readonly ceiling: number
}

/** A decoded record; the value of a put is a range of the buffer it was read from. */
export type FileRecord =
  | {
      readonly type: 'put'
      readonly key: string
      readonly revision: number
      readonly created: number
      readonly lease: string | undefined
      readonly valueAt: number
      readonly valueBytes: number
    }
  | { readonly type: 'delete'; readonly key: string; readonly revision: number }
  | { readonly type: 'grant'; readonly lease: LeaseState }
  | { readonly type: 'revoke'; readonly lease: string }
  | { readonly type: NumberRecord; readonly value: number }
  | { readonly type: 'summary'; readonly summary: Summary }

/** Writes a version as a put or a delete. */
export function writeVersion(frame: FrameBuilder, version: Version): void {
  const { key, revision } = version
  if (version.deleted) {
    const { bytes, offset } = frame.reserve(11 + key.length)
    bytes[offset] = types.delete
    bytes.writeUInt16LE(key.length, offset + 1)
    bytes.writeDoubleLE(revision, offset + 3)
    bytes.write(key, offset + 11, 'latin1')
    return
  }
  writePut(frame, version)
}

function writePut(frame: FrameBuilder, { key, revision, created, lease = '', value }: Version): void {
  const { bytes, offset } = frame.reserve(24 + key.length + lease.length + value.length)
  bytes[offset] = types.put
  bytes.writeUInt16LE(key.length, offset + 1)
  bytes[offset + 3] = lease.length
  bytes.writeUInt32LE(value.length, offset + 4)
  bytes.writeDoubleLE(revision, offset + 8)
  bytes.writeDoubleLE(created, offset + 16)
  bytes.write(key, offset + 24, 'latin1')
  if (lease !== '') bytes.write(lease, offset + 24 + key.length, 'latin1')
  bytes.set(value, offset + 24 + key.length + lease.length)
}

export function writeGrant(frame: FrameBuilder, { id, ttlMs, leftMs }: LeaseState): void {
  const { bytes, offset } = frame.reserve(18 + id.length)
  bytes[offset] = types.grant
  bytes[offset + 1] = id.length
  bytes.writeDoubleLE(ttlMs, offset + 2)
  bytes.writeDoubleLE(leftMs, offset + 10)
  bytes.write(id, offset + 18, 'latin1')
}

export function writeRevoke(frame: FrameBuilder, lease: string): void {
  const { bytes, offset } = frame.reserve(2 + lease.length)
  bytes[offset] = types.revoke
  bytes[offset + 1] = lease.length
  bytes.write(lease, offset + 2, 'latin1')
}

export function writeNumber(frame: FrameBuilder, type: NumberRecord, value: number): void {
  const { bytes, offset } = frame.reserve(9)
  bytes[offset] = types[type]
  bytes.writeDoubleLE(value, offset + 1)
}

export function writeSummary(frame: FrameBuilder, { entries, revision, ceiling }: Summary): void {
  const { bytes, offset } = frame.reserve(25)
  bytes[offset] = types.summary
  for (const [index, value] of [entries, revision, ceiling].entries())
    bytes.writeDoubleLE(value, offset + 1 + 8 * index)
}

/** The record at an offset and the start of the next one; undefined for an unknown type. */
export function readRecord(bytes: Buffer, offset: number): { record: FileRecord; next: number } | undefined {
  switch (bytes[offset]) {
    case types.put:
      return readPut(bytes, offset)
    case types.delete:
      return readDelete(bytes, offset)
    case types.grant:
      return readGrant(bytes, offset)
    case types.revoke: {
      const length = bytes[offset + 1] ?? 0
      return {
        record: { type: 'revoke', lease: bytes.toString('latin1', offset + 2, offset + 2 + length) },
        next: offset + 2 + length,
      }
    }
    case types.compact:
      return readNumber(bytes, offset, 'compact')
    case types.ceiling:
      return readNumber(bytes, offset, 'ceiling')
    case types.follows:
      return readNumber(bytes, offset, 'follows')
    case types.clean:
      return readNumber(bytes, offset, 'clean')
    case types.summary:
      return readSummary(bytes, offset)
    default:
      return undefined
  }
}

function readPut(bytes: Buffer, offset: number): { record: FileRecord; next: number } {
  const keyEnd = offset + 24 + bytes.readUInt16LE(offset + 1)
  const leaseLength = bytes[offset + 3] ?? 0
  const valueAt = keyEnd + leaseLength
  const valueBytes = bytes.readUInt32LE(offset + 4)
  return {
    record: {
      type: 'put',
      key: bytes.toString('latin1', offset + 24, keyEnd),
      revision: bytes.readDoubleLE(offset + 8),
      created: bytes.readDoubleLE(offset + 16),
      lease: leaseLength > 0 ? bytes.toString('latin1', keyEnd, valueAt) : undefined,
      valueAt,
      valueBytes,
    },
    next: valueAt + valueBytes,
  }
}

/** The end and the value length of the put at an offset; undefined for another record. The hot loop of opening a large store. */
function measurePut(bytes: Buffer, offset: number): { end: number; valueBytes: number } | undefined {
  if (bytes[offset] !== types.put) return undefined
  const valueBytes = bytes.readUInt32LE(offset + 4)
  return { end: offset + 24 + bytes.readUInt16LE(offset + 1) + (bytes[offset + 3] ?? 0) + valueBytes, valueBytes }
}

/** The key of the put at an offset. */
function readKey(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset + 24, offset + 24 + bytes.readUInt16LE(offset + 1))
}

/** Decodes the put at an offset into a version with the offset and length of its value. */
function readVersion(bytes: Buffer, offset: number): Version {
  const keyEnd = offset + 24 + bytes.readUInt16LE(offset + 1)
  const leaseLength = bytes[offset + 3] ?? 0
  const lease = leaseLength > 0 ? bytes.toString('latin1', keyEnd, keyEnd + leaseLength) : undefined
  const version = new Version(bytes.toString('latin1', offset + 24, keyEnd), bytes.readDoubleLE(offset + 8), {
    created: bytes.readDoubleLE(offset + 16),
    lease,
  })
  version.offset = keyEnd + leaseLength
  version.length = bytes.readUInt32LE(offset + 4)
  return version
}

function readDelete(bytes: Buffer, offset: number): { record: FileRecord; next: number } {
  const next = offset + 11 + bytes.readUInt16LE(offset + 1)
  return {
    record: {
      type: 'delete',
      key: bytes.toString('latin1', offset + 11, next),
      revision: bytes.readDoubleLE(offset + 3),
    },
    next,
  }
}

function readGrant(bytes: Buffer, offset: number): { record: FileRecord; next: number } {
  const next = offset + 18 + (bytes[offset + 1] ?? 0)
  const lease = {
    id: bytes.toString('latin1', offset + 18, next),
    ttlMs: bytes.readDoubleLE(offset + 2),
    leftMs: bytes.readDoubleLE(offset + 10),
  }
  return { record: { type: 'grant', lease }, next }
}

function readNumber(bytes: Buffer, offset: number, type: NumberRecord): { record: FileRecord; next: number } {
  return { record: { type, value: bytes.readDoubleLE(offset + 1) }, next: offset + 9 }
}

function readSummary(bytes: Buffer, offset: number): { record: FileRecord; next: number } {
  const [entries, revision, ceiling] = [1, 9, 17].map((at) => bytes.readDoubleLE(offset + at)) as [
    number,
    number,
    number,
  ]
  return { record: { type: 'summary', summary: { entries, revision, ceiling } }, next: offset + 25 }
}

/** A run of puts as they lie in a snapshot. */
interface PackedRun extends PackedBlock {
  /** The start of the next record. */
  readonly end: number
  readonly valueBytes: number
}

/** The run of puts at an offset, at most one block and none that starts at or after `to`; undefined when another record is there. */
export function readPackedRun(slab: Slab, from: number, to: number): PackedRun | undefined {
  const offsets = new Uint32Array(blockMax)
  let [count, end, valueBytes] = [0, from, 0]
  while (count < blockMax && end < to) {
    const put = measurePut(slab.bytes, end)
    if (!put) break
    offsets[count++] = end
    end = put.end
    valueBytes += put.valueBytes
  }
  if (count === 0) return undefined
  const used = offsets.slice(0, count)
  return {
    first: readKey(slab.bytes, from),
    last: readKey(slab.bytes, used[count - 1] ?? from),
    count,
    end,
    valueBytes,
    unpack: () => unpack(slab, used),
  }
}

function unpack(slab: Slab, offsets: Uint32Array): Version[] {
  return Array.from(offsets, (offset) => {
    const version = readVersion(slab.bytes, offset)
    if (version.length > 0) {
      version.slab = slab
      slab.versions.push(version)
    }
    return version
  })
}
