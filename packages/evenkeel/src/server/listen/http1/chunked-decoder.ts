/**
 * Takes a chunked body apart (RFC 9112 section 7), from reads that may end anywhere.
 *
 * Invariants: sizes are plain hexadecimal and lines end in CRLF, nothing else; extensions and trailers are bounded, checked and
 * dropped; not a byte beyond the end of the body is touched, because the next request begins there.
 */
import { HttpProtocolError } from '../http-refusal.ts'
import { parseFields } from './head.ts'

const sizeLine = /^([0-9a-fA-F]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/
const plainText = /^[\t\x20-\x7e\x80-\xff]*$/
const lineBytesMax = 4096
/** Extensions and trailers of a whole body. */
const overheadBytesMax = 16_384
const trailersMax = 100
const lineFeed = 10

export class ChunkedDecoder {
  #expects: 'size' | 'data' | 'data-end' | 'trailer' | 'nothing' = 'size'
  #left = 0
  #line = ''
  #overhead = 0
  #trailers = 0

  get isDone(): boolean {
    return this.#expects === 'nothing'
  }

  /**
   * Hands on the data in these bytes and tells how many of them belong to the body.
   *
   * @throws {HttpProtocolError} when they are no chunks.
   */
  feed(bytes: Buffer, onData: (piece: Buffer) => void): number {
    let at = 0
    while (at < bytes.length && !this.isDone) {
      at = this.#expects === 'data' ? this.#takeData(bytes, at, onData) : this.#takeLine(bytes, at)
    }
    return at
  }

  #takeData(bytes: Buffer, at: number, onData: (piece: Buffer) => void): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    if (this.#left === 0) this.#expects = 'data-end'
    onData(bytes.subarray(at, end))
    return end
  }

  #takeLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lineFeed, at)
    const end = found < 0 ? bytes.length : found
    if (this.#line.length + end - at > lineBytesMax)
      throw new HttpProtocolError(400, 'a line between chunks is too long')
    this.#line += bytes.toString('latin1', at, end)
    if (found < 0) return end
    if (!this.#line.endsWith('\r')) throw new HttpProtocolError(400, 'a line between chunks does not end in CRLF')
    const line = this.#line.slice(0, -1)
    this.#line = ''
    this.#onLine(line)
    return end + 1
  }

  #onLine(line: string): void {
    if (this.#expects === 'size') this.#onSize(line)
    else if (this.#expects === 'trailer') this.#onTrailer(line)
    else if (line === '') this.#expects = 'size'
    else throw new HttpProtocolError(400, 'a chunk is longer than it said')
  }

  #onSize(line: string): void {
    const digits = sizeLine.exec(line)?.[1]
    if (digits === undefined) throw new HttpProtocolError(400, 'a chunk has no proper size')
    this.#count(line.length - digits.length)
    this.#left = Number.parseInt(digits, 16)
    this.#expects = this.#left === 0 ? 'trailer' : 'data'
  }

  #onTrailer(line: string): void {
    if (line === '') {
      this.#expects = 'nothing'
      return
    }
    this.#count(line.length)
    if (++this.#trailers > trailersMax || !plainText.test(line))
      throw new HttpProtocolError(400, 'the trailers are no header fields')
    parseFields(line, 0, 1)
  }

  #count(bytes: number): void {
    this.#overhead += bytes
    if (this.#overhead > overheadBytesMax) throw new HttpProtocolError(400, 'too much beside the data of the chunks')
  }
}
