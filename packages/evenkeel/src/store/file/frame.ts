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
import type { DiskFile } from './disk.ts'
import { headerBytes } from './folder.ts'

const frameHeaderBytes = 32

/** Nobody writes longer ones; a length above it is damage, not a reason to reserve memory. */
const framePayloadMax = 64 * 1024 * 1024

/** A frame is closed once it has this much, so that no single write gets too long. */
const frameFullBytes = 4 * 1024 * 1024

const magic = 0x314b4645

interface FrameHeader {
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
function frameHeaderAt(bytes: Buffer, offset: number, seed: number): FrameHeader | undefined {
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
function frameIsWhole(bytes: Buffer, offset: number, { header, seed }: { header: FrameHeader; seed: number }): boolean {
  const end = offset + frameHeaderBytes + header.length
  return end <= bytes.length && crc32(bytes.subarray(offset + 8, end), seed) === header.checksum
}

/** Where the next frame of this file could begin, at or behind an offset; -1 when nowhere. */
function findMagic(bytes: Buffer, from: number, seed: number): number {
  const wanted = Buffer.alloc(4)
  wanted.writeUInt32LE(magicOf(seed))
  return bytes.indexOf(wanted, from)
}

function magicOf(seed: number): number {
  return (magic ^ seed) >>> 0
}

/*
 * Reads a file frame by frame, through a window that the frames share. While one window is looked
 * at, the next is already being read.
 *
 * Invariants: a frame is given only if its checksum holds; the window a payload lies in is never
 * written again, so whoever wants to keep a payload can keep the window.
 */

const windowBytes = 4 * 1024 * 1024

/** Room before the bytes that are read ahead, for the part of a frame that the window before ended with. */
const headroomBytes = 512 * 1024

/** A whole frame: its records lie in `window` from `start` to `end`. */
export interface Frame {
  readonly header: FrameHeader
  readonly window: Buffer
  readonly start: number
  readonly end: number
}

export class FrameReader {
  readonly #file: DiskFile
  readonly #seed: number
  readonly #size: number
  #window: Buffer = Buffer.alloc(0)
  #windowAt: number = headerBytes
  #offset: number = headerBytes
  #count = 0
  #ahead: Promise<Buffer> | undefined

  constructor(file: DiskFile, { seed, size }: { seed: number; size: number }) {
    this.#file = file
    this.#seed = seed
    this.#size = size
  }

  /** Where the next frame begins: the end of the last whole one. */
  get offset(): number {
    return this.#offset
  }

  /** Frames read so far. */
  get count(): number {
    return this.#count
  }

  get atEnd(): boolean {
    return this.#offset >= this.#size
  }

  /** The next frame; undefined at the end of the file and at the first frame that is not whole. */
  async next(): Promise<Frame | undefined> {
    await this.#have(frameHeaderBytes)
    const found = frameHeaderAt(this.#window, this.#offset - this.#windowAt, this.#seed)
    if (!found) return undefined
    await this.#have(frameHeaderBytes + found.length)
    const start = this.#offset - this.#windowAt
    const header = frameHeaderAt(this.#window, start, this.#seed)
    if (!header || header.number !== this.#count || !frameIsWhole(this.#window, start, { header, seed: this.#seed }))
      return undefined
    this.#offset += frameHeaderBytes + header.length
    this.#count++
    return {
      header,
      window: this.#window,
      start: start + frameHeaderBytes,
      end: start + frameHeaderBytes + header.length,
    }
  }

  /** Looks behind a bad place for a whole frame that was written after that place had been synced. */
  async provesDamage(): Promise<boolean> {
    const rest = Buffer.allocUnsafeSlow(Math.max(this.#size - this.#offset, 0))
    const length = await this.#file.read(this.#offset, rest)
    const bytes = rest.subarray(0, length)
    for (let at = findMagic(bytes, 0, this.#seed); at >= 0; at = findMagic(bytes, at + 1, this.#seed)) {
      const header = frameHeaderAt(bytes, at, this.#seed)
      if (header && header.durable > this.#offset && frameIsWhole(bytes, at, { header, seed: this.#seed })) return true
    }
    return false
  }

  /** Makes the window hold so many bytes from the offset on, as far as the file goes. */
  async #have(length: number): Promise<void> {
    const windowEnd = this.#windowAt + this.#window.length
    const kept = Math.max(windowEnd - this.#offset, 0)
    if (kept >= length || windowEnd >= this.#size) return
    const bytes = await this.#room(kept, length)
    if (kept > 0) this.#window.copy(bytes, 0, this.#offset - this.#windowAt)
    this.#window = bytes
    this.#windowAt = this.#offset
    this.#ahead = this.#readAhead()
  }

  /** A window with room for what is kept and, behind it, the bytes that follow: read ahead if they were, and if they are enough. */
  async #room(kept: number, length: number): Promise<Buffer> {
    const ahead = await this.#ahead
    const start = headroomBytes - kept
    if (ahead && start >= 0 && ahead.length - start >= length) return ahead.subarray(start)
    const wanted = Math.min(Math.max(length, windowBytes), this.#size - this.#offset)
    const bytes = Buffer.allocUnsafeSlow(wanted)
    const read = await this.#file.read(this.#offset + kept, bytes.subarray(kept))
    return bytes.subarray(0, kept + read)
  }

  /** Begins to read what follows the window; a failure shows when somebody waits for it. */
  #readAhead(): Promise<Buffer> | undefined {
    const from = this.#windowAt + this.#window.length
    const length = Math.min(windowBytes, this.#size - from)
    if (length <= 0) return undefined
    const bytes = Buffer.allocUnsafeSlow(headroomBytes + length)
    const reading = this.#file
      .read(from, bytes.subarray(headroomBytes))
      .then((read) => bytes.subarray(0, headroomBytes + read))
    reading.catch(() => undefined)
    return reading
  }
}
