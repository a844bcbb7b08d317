/**
 * A frame: the records of one flush under one checksum. It is there whole or not at all.
 *
 *   0 magic and file number (4) · 4 checksum (4) · 8 payload length (4) · 12 records (4) · 16 durable (8) · 24 number (8) · 32 payload
 *
 * `durable` is how much of the file was known to be synced when the frame was written. It is what
 * tells a torn tail from damage: a bad frame before the `durable` of any later one was once
 * whole on the disk. Magic and checksum are mixed with the number of the file, so that a frame of
 * another file is never taken for one of this: logs are written over old ones.
 */
import { crc32 } from 'node:zlib'

export const frameHeaderBytes = 32

/** Nobody writes longer ones; a length above it is damage, not a reason to reserve memory. */
const framePayloadMax = 64 * 1024 * 1024

/** A frame is closed once it has this much, so that no single write gets too long. */
const frameFullBytes = 4 * 1024 * 1024

const magic = 0x314b4645

export interface FrameHeader {
  readonly checksum: number
  readonly length: number
  readonly records: number
  readonly durable: number
  readonly number: number
}

/** Collects records and makes frames of them; the buffers are used again, so a frame is valid until the one after next is begun. */
export class FrameBuilder {
  #bytes: Buffer
  #spare: Buffer
  #length = frameHeaderBytes
  #records = 0

  constructor(roomBytes = 64 * 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(roomBytes)
    this.#spare = Buffer.allocUnsafeSlow(roomBytes)
  }

  get records(): number {
    return this.#records
  }

  get bytes(): number {
    return this.#length
  }

  get full(): boolean {
    return this.#length >= frameFullBytes
  }

  /** Room for one record: where to write it, and from which offset on. */
  reserve(length: number): { bytes: Buffer; offset: number } {
    const offset = this.#length
    if (offset + length > this.#bytes.length) this.#grow(offset + length)
    this.#length += length
    this.#records++
    return { bytes: this.#bytes, offset }
  }

  /** Closes the frame and begins the next. */
  finish(seed: number, { durable, number }: { durable: number; number: number }): Buffer {
    const frame = this.#bytes.subarray(0, this.#length)
    frame.writeUInt32LE(magicOf(seed), 0)
    frame.writeUInt32LE(this.#length - frameHeaderBytes, 8)
    frame.writeUInt32LE(this.#records, 12)
    frame.writeDoubleLE(durable, 16)
    frame.writeDoubleLE(number, 24)
    frame.writeUInt32LE(crc32(frame.subarray(8), seed), 4)
    const bytes = this.#bytes
    this.#bytes = this.#spare
    this.#spare = bytes
    this.clear()
    return frame
  }

  /** Forgets what was collected. */
  clear(): void {
    this.#length = frameHeaderBytes
    this.#records = 0
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** The header at an offset, if one could be there. It proves nothing until {@link frameIsWhole}. */
export function frameHeaderAt(bytes: Buffer, offset: number, seed: number): FrameHeader | undefined {
  if (offset + frameHeaderBytes > bytes.length || bytes.readUInt32LE(offset) !== magicOf(seed)) return undefined
  const length = bytes.readUInt32LE(offset + 8)
  if (length > framePayloadMax) return undefined
  return {
    checksum: bytes.readUInt32LE(offset + 4),
    length,
    records: bytes.readUInt32LE(offset + 12),
    durable: bytes.readDoubleLE(offset + 16),
    number: bytes.readDoubleLE(offset + 24),
  }
}

/** True when the frame at the offset is all there and its checksum holds. */
export function frameIsWhole(
  bytes: Buffer,
  offset: number,
  { header, seed }: { header: FrameHeader; seed: number },
): boolean {
  const end = offset + frameHeaderBytes + header.length
  return end <= bytes.length && crc32(bytes.subarray(offset + 8, end), seed) === header.checksum
}

/** Where the next frame of this file could begin, at or behind an offset; -1 when nowhere. */
export function findMagic(bytes: Buffer, from: number, seed: number): number {
  const wanted = Buffer.alloc(4)
  wanted.writeUInt32LE(magicOf(seed))
  return bytes.indexOf(wanted, from)
}

function magicOf(seed: number): number {
  return (magic ^ seed) >>> 0
}
