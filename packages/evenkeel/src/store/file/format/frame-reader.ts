/**
 * Reads a file frame by frame, through a window that the frames share. While one window is looked
 * at, the next is already being read.
 *
 * Invariants: a frame is given only if its checksum holds; the window a payload lies in is never
 * written again, so whoever wants to keep a payload can keep the window.
 */
import type { DiskFile } from '../disk/disk.ts'
import { headerBytes } from './file-header.ts'
import { findMagic, frameHeaderAt, frameHeaderBytes, frameIsWhole } from './frame.ts'
import type { FrameHeader } from './frame.ts'

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
