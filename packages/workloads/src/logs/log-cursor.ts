/**
 * Reads an open log forward, a piece at a time: at the pace of its reader, with memory for one piece.
 *
 *   plain      whatever is there, at once: the fastest
 *   by lines   whole lines that were written at one time; the rest of a line waits until it ends, or until the log does
 *
 * Invariants: a piece never contains bytes of a hole; the bytes of all pieces are those of the log in their order, apart from
 * what was released before it was read, which is counted in `droppedBytes`, and from the marks in lines that are too long.
 */
import { lineBytesMax, splitMark } from './log-lines.ts'
import type { OpenLog } from './log-keeper.ts'

interface LogPiece {
  readonly bytes: Uint8Array
  /** Where it begins in the log. */
  readonly offset: number
  /** When its first line was written; only by lines. */
  readonly atMs: number
}

interface CursorOptions {
  readonly offset: number
  /** Nothing from here on is read. */
  readonly end: number
  readonly isByLines: boolean
  /** Stamps what came after the last look. */
  readonly now: () => number
}

const newline = 10

export class LogCursor {
  readonly #open: OpenLog
  readonly #options: CursorOptions
  #offset: number
  /** How long the line is that the next piece goes on with. */
  #lineBytes = 0
  droppedBytes = 0

  constructor(open: OpenLog, options: CursorOptions) {
    this.#open = open
    this.#options = options
    this.#offset = options.offset
  }

  /** Where the next piece begins. */
  get offset(): number {
    return this.#offset
  }

  get log(): OpenLog['log'] {
    return this.#open.log
  }

  /** The next piece of what is there; undefined when there is none. `isFinal`: an unfinished line will not be finished. */
  async next({ isFinal }: { readonly isFinal: boolean }): Promise<LogPiece | undefined> {
    const bytes = await this.#read()
    if (!bytes) return undefined
    return this.#options.isByLines ? this.#lines(bytes, isFinal) : this.#plain(bytes)
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { log, handle } = this.#open
    for (;;) {
      this.#skipReleased()
      const length = Math.min(lineBytesMax, Math.min(log.sizeBytes, this.#options.end) - this.#offset)
      if (length <= 0) return undefined
      const bytes = await handle.read({ offset: this.#offset, length })
      // It may have been released while it was read.
      if (this.#offset >= log.startBytes) return bytes.length === 0 ? undefined : bytes
    }
  }

  #skipReleased(): void {
    const { startBytes, sizeBytes } = this.#open.log
    // A log that was truncated begins again.
    if (this.#offset > sizeBytes) this.#offset = startBytes
    if (this.#offset >= startBytes) return
    this.droppedBytes += startBytes - this.#offset
    this.#offset = startBytes
    this.#lineBytes = 0
  }

  #plain(bytes: Uint8Array): LogPiece {
    const offset = this.#offset
    this.#offset += bytes.length
    const last = bytes.lastIndexOf(newline)
    this.#lineBytes = last < 0 ? this.#lineBytes + bytes.length : bytes.length - last - 1
    if (this.#lineBytes < lineBytesMax) return { bytes, offset, atMs: 0 }
    this.#lineBytes = 0
    return { bytes: Buffer.concat([bytes, splitMark]), offset, atMs: 0 }
  }

  #lines(bytes: Uint8Array, isFinal: boolean): LogPiece | undefined {
    const offset = this.#offset
    const [until = Infinity, atMs = this.#options.now()] = this.log.times.find(offset) ?? []
    // The last line of this time ends at or after its last byte.
    const ofTime = until - offset <= bytes.length ? bytes.indexOf(newline, Math.max(0, until - offset - 1)) : -1
    const last = ofTime >= 0 ? ofTime : bytes.lastIndexOf(newline)
    if (last >= 0) {
      this.#offset += last + 1
      return { bytes: bytes.subarray(0, last + 1), offset, atMs }
    }
    if (bytes.length < lineBytesMax && !isFinal) return undefined
    this.#offset += bytes.length
    return { bytes: bytes.length < lineBytesMax ? bytes : Buffer.concat([bytes, splitMark]), offset, atMs }
  }
}
