/**
 * A frame: the records of one flush under one checksum. It is applied as a whole or not at all.
 *
 *   0 magic (4) · 4 checksum (4) · 8 payload length (4) · 12 records (4) · 16 durable (8) · 24 number (8) · 32 payload
 *
 * `durable` is the synced length of the file when the frame was written. It tells a torn tail from
 * damage: a corrupt frame before the `durable` of any later frame was once intact on disk. Magic and
 * checksum are mixed with the number of the file, so that a frame of another file is never accepted:
 * new logs overwrite old ones.
 *
 * {@link FrameReader} reads a file through a window that its frames share, and reads the next
 * window ahead. Invariants: a frame is returned only if its checksum matches; a window is never
 * written again, so a caller that needs the payload later can keep the window.
 *
 * Example. Log 2 starts with a frame of three numbers (follows, ceiling, compact: 27 bytes), then
 * a frame with one put of 27 bytes. The file header takes 64 bytes, a frame header 32:
 *
 *   offset 64    magic ^ 2 · checksum · length 27 · 3 records · durable 64  · frame 0 · payload
 *   offset 123   magic ^ 2 · checksum · length 27 · 1 record  · durable 123 · frame 1 · payload
 *   offset 182   end, or bytes of an older log that fail `magic ^ 2`
 */
import { crc32 } from 'node:zlib'
import type { DiskFile } from './disk.ts'
import { headerBytes } from './folder.ts'

const frameHeaderBytes = 32

/** The maximum payload. A larger length is corruption; no memory is allocated for it. */
const framePayloadMax = 64 * 1024 * 1024

/** A frame is finished at this size, which bounds a single write. */
const frameFullBytes = 4 * 1024 * 1024

const magic = 0x314b4645

interface FrameHeader {
  readonly checksum: number
  readonly length: number
  readonly records: number
  readonly durable: number
  readonly number: number
}

/** Collects records into frames. It alternates between two buffers, so a frame is valid until the second next one is started. */
export class FrameBuilder {
  #bytes: Buffer
  #spare: Buffer
  #length = frameHeaderBytes
  #records = 0

  constructor(initialBytes = 64 * 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(initialBytes)
    this.#spare = Buffer.allocUnsafeSlow(initialBytes)
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

  /** Reserves space for one record; returns the buffer and the offset to write it at. */
  reserve(length: number): { bytes: Buffer; offset: number } {
    const offset = this.#length
    if (offset + length > this.#bytes.length) this.#grow(offset + length)
    this.#length += length
    this.#records++
    return { bytes: this.#bytes, offset }
  }

  /** Finishes the frame and starts the next. */
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

  /** Discards the collected records. */
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

/** The possible frame header at an offset. Only {@link frameIsIntact} proves it. */
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

/** True when the frame at the offset is complete and its checksum matches. */
function frameIsIntact(
  bytes: Buffer,
  offset: number,
  { header, seed }: { header: FrameHeader; seed: number },
): boolean {
  const end = offset + frameHeaderBytes + header.length
  return end <= bytes.length && crc32(bytes.subarray(offset + 8, end), seed) === header.checksum
}

/** The next possible start of a frame of this file, at or after an offset; -1 when there is none. */
function findMagic(bytes: Buffer, from: number, seed: number): number {
  const wanted = Buffer.alloc(4)
  wanted.writeUInt32LE(magicOf(seed))
  return bytes.indexOf(wanted, from)
}

function magicOf(seed: number): number {
  return (magic ^ seed) >>> 0
}

const windowBytes = 4 * 1024 * 1024

/** Free space before the bytes that are read ahead, for the partial frame at the end of the previous window. */
const headroomBytes = 512 * 1024

/** An intact frame: its records lie in `window` from `start` to `end`. */
export interface Frame {
  readonly header: FrameHeader
  readonly window: Buffer
  readonly start: number
  readonly end: number
}

/** Reads the intact frames of a file in order. */
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

  /** The start of the next frame: the end of the last intact one. */
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

  /** The next frame; undefined at the end of the file and at the first corrupt frame. */
  async next(): Promise<Frame | undefined> {
    await this.#fill(frameHeaderBytes)
    const found = frameHeaderAt(this.#window, this.#offset - this.#windowAt, this.#seed)
    if (!found) return undefined
    await this.#fill(frameHeaderBytes + found.length)
    const start = this.#offset - this.#windowAt
    const header = frameHeaderAt(this.#window, start, this.#seed)
    if (!header || header.number !== this.#count || !frameIsIntact(this.#window, start, { header, seed: this.#seed }))
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

  /** True when a later intact frame proves that the corrupt bytes at the current offset had been synced. */
  async provesDamage(): Promise<boolean> {
    const rest = Buffer.allocUnsafeSlow(Math.max(this.#size - this.#offset, 0))
    const length = await this.#file.read(this.#offset, rest)
    const bytes = rest.subarray(0, length)
    for (let at = findMagic(bytes, 0, this.#seed); at >= 0; at = findMagic(bytes, at + 1, this.#seed)) {
      const header = frameHeaderAt(bytes, at, this.#seed)
      if (header && header.durable > this.#offset && frameIsIntact(bytes, at, { header, seed: this.#seed })) return true
    }
    return false
  }

  /** Makes so many bytes from the offset available in the window, as far as the file goes. */
  async #fill(length: number): Promise<void> {
    const windowEnd = this.#windowAt + this.#window.length
    const kept = Math.max(windowEnd - this.#offset, 0)
    if (kept >= length || windowEnd >= this.#size) return
    const bytes = await this.#nextWindow(kept, length)
    if (kept > 0) this.#window.copy(bytes, 0, this.#offset - this.#windowAt)
    this.#window = bytes
    this.#windowAt = this.#offset
    this.#ahead = this.#readAhead()
  }

  /** A window with space for the kept bytes, followed by the next bytes of the file; uses the bytes read ahead if they are enough. */
  async #nextWindow(kept: number, length: number): Promise<Buffer> {
    const ahead = await this.#ahead
    const start = headroomBytes - kept
    if (ahead && start >= 0 && ahead.length - start >= length) return ahead.subarray(start)
    const wanted = Math.min(Math.max(length, windowBytes), this.#size - this.#offset)
    const bytes = Buffer.allocUnsafeSlow(wanted)
    const read = await this.#file.read(this.#offset + kept, bytes.subarray(kept))
    return bytes.subarray(0, kept + read)
  }

  /** Starts to read the bytes after the window. An error surfaces when the result is awaited. */
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
