/**
 * Lines out of pieces of bytes that know nothing of lines.
 *
 * A piece may end anywhere, also inside a character. So only whole lines are ever decoded; the rest stays bytes and
 * waits for its end. Invariant: what waits is never more than `lineBytesMax`.
 */
import { isUtf8 } from 'node:buffer'
import { ConnectionError } from '../request/connection-error.ts'

const newline = 0x0a

export class LineSplitter {
  readonly #lineBytesMax: number
  #waiting: Uint8Array[] = []
  #waitingBytes = 0

  constructor(lineBytesMax: number) {
    if (!(lineBytesMax > 0)) throw new RangeError(`lineBytesMax must be above 0, got ${lineBytesMax}`)
    this.#lineBytesMax = lineBytesMax
  }

  /** Whether part of a line is waiting for its end. */
  get partial(): boolean {
    return this.#waitingBytes > 0
  }

  /**
   * Adds a piece and gives the lines that are complete now: runs of lines with a newline between them, none when no line
   * is complete. They may lie in the piece itself, so they are good for as long as the piece is, and must not be changed.
   *
   * @throws {ConnectionError} `garbled`, when a line is too long or not UTF-8.
   */
  push(piece: Uint8Array): readonly Buffer[] {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const end = bytes.lastIndexOf(newline)
    if (end < 0) {
      this.#wait(bytes)
      return []
    }
    const runs: Buffer[] = []
    let start = 0
    if (this.partial) {
      start = bytes.indexOf(newline) + 1
      runs.push(Buffer.concat([...this.#waiting, bytes.subarray(0, start - 1)]))
      this.#waiting = []
      this.#waitingBytes = 0
    }
    if (start < end) runs.push(bytes.subarray(start, end))
    if (end + 1 < bytes.length) this.#wait(bytes.subarray(end + 1))
    if (!runs.every((run) => isUtf8(run)))
      throw new ConnectionError('the watch has a line that is not UTF-8: it cannot be trusted any more', {
        problem: 'garbled',
      })
    return runs
  }

  #wait(piece: Uint8Array): void {
    this.#waitingBytes += piece.byteLength
    if (this.#waitingBytes > this.#lineBytesMax) {
      throw new ConnectionError(
        `the watch has a line of more than ${this.#lineBytesMax} bytes: no object is that large`,
        { problem: 'garbled' },
      )
    }
    // A copy (`slice` of a Buffer is none): whoever sent the piece may use its memory again.
    this.#waiting.push(new Uint8Array(piece))
  }
}

/** The lines of some bytes, without empty ones. */
export function textLines(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
}
