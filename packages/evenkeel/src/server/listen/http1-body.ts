/**
 * HTTP/1.1 bodies: request bodies from socket reads into the body queue, and both directions of chunked coding.
 *
 * The chunked decoder (RFC 9112 section 7) accepts reads that end anywhere. Sizes are plain hexadecimal and lines end
 * in CRLF; extensions and trailers are bounded, checked and dropped. The encoder makes the frame of a piece once,
 * whatever its length, because a thousand watchers get the same one. Large pieces are allocated with space for their frame, so nothing
 * is copied.
 *
 * Invariant: bytes after the end of a body are returned untouched, because the next request begins there; bytes before
 * it never are.
 */
import { badRequest } from '#api'
import type { BodyQueue } from './body-queue.ts'
import { HttpProtocolError } from './http-message.ts'
import { parseFields } from './http1-head.ts'

export class BodyReader {
  readonly queue: BodyQueue
  readonly #decoder: ChunkedDecoder | undefined
  #left: number
  #state: 'open' | 'done' | 'broken' = 'open'
  #isBegun = false

  constructor(length: number | 'chunked', queue: BodyQueue) {
    this.queue = queue
    this.#decoder = length === 'chunked' ? new ChunkedDecoder() : undefined
    this.#left = length === 'chunked' ? Number.POSITIVE_INFINITY : length
  }

  /** The body is complete. */
  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** The body is malformed or incomplete, so the start of the next request is unknown. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Bytes left; infinite when unknown. */
  get left(): number {
    return this.#left
  }

  /** Takes the bytes of the body and returns the rest. */
  feed(bytes: Buffer): Buffer {
    if (this.#state === 'broken') return bytes.subarray(bytes.length)
    if (this.#state === 'done') return bytes
    this.#isBegun = true
    return this.#decoder ? this.#feedChunks(bytes, this.#decoder) : this.#feedBytes(bytes)
  }

  fail(error: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'broken'
    this.queue.fail(error)
  }

  #feedBytes(bytes: Buffer): Buffer {
    const taken = Math.min(this.#left, bytes.length)
    this.queue.push(bytes.subarray(0, taken))
    this.#left -= taken
    if (this.#left === 0) this.#finish()
    return bytes.subarray(taken)
  }

  #feedChunks(bytes: Buffer, decoder: ChunkedDecoder): Buffer {
    try {
      const taken = decoder.feed(bytes, (piece) => {
        this.queue.push(piece)
      })
      if (decoder.isDone) this.#finish()
      return bytes.subarray(taken)
    } catch (error) {
      if (!(error instanceof HttpProtocolError)) throw error
      this.fail(badRequest(error.message, { cause: error }))
      return bytes.subarray(bytes.length)
    }
  }

  #finish(): void {
    this.#state = 'done'
    this.#left = 0
    this.queue.end()
  }
}

// The chunked decoder.

const sizeLine = /^([0-9a-fA-F]{1,8})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/
const plainText = /^[\t\x20-\x7e\x80-\xff]*$/
const lineBytesMax = 4096
/** For extensions and trailers of a whole body. */
const overheadBytesMax = 16_384
/** So many chunks are free; beyond them they must have this size on average. A tiny chunk costs more than its byte. */
const freeChunks = 1_000
const chunkBytesMin = 16
const trailersMax = 100
const lineFeed = 10

export class ChunkedDecoder {
  #expects: 'size' | 'data' | 'data-end' | 'trailer' | 'nothing' = 'size'
  #left = 0
  #line = ''
  #overhead = 0
  #trailers = 0
  #chunks = 0
  #data = 0

  get isDone(): boolean {
    return this.#expects === 'nothing'
  }

  /**
   * Passes on the data in these bytes and returns how many of them belong to the body.
   *
   * @throws {HttpProtocolError} for a malformed chunk.
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
    this.#data += this.#left
    if (++this.#chunks > freeChunks && this.#data < (this.#chunks - freeChunks) * chunkBytesMin)
      throw new HttpProtocolError(400, 'the chunks are too small')
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

// The chunked encoder.

const frames = new WeakMap<Uint8Array, Buffer>()
/** Pieces with space for a frame around them, and their buffer. */
const roomy = new WeakMap<Uint8Array, Buffer>()
/** Eight digits and a line end. */
const roomBefore = 10
const roomAfter = 2

export const lastChunk = Buffer.from('0\r\n\r\n')

/** A buffer for a piece with space for its frame: new, or the beginning of a piece that is no longer used. */
export function allocatePiece(bytes: number, { memory }: { memory?: Buffer } = {}): Buffer {
  const whole = (memory && roomy.get(memory)) || Buffer.allocUnsafeSlow(roomBefore + bytes + roomAfter)
  const piece = whole.subarray(roomBefore, roomBefore + bytes)
  roomy.set(piece, whole)
  return piece
}

/** The piece with its size before and a line end after it; the same buffer for the same piece. */
export function chunkOf(piece: Uint8Array): Buffer {
  const known = frames.get(piece)
  if (known) return known
  const whole = roomy.get(piece)
  if (whole) return frameInPlace(piece, whole)
  const frame = frameOf(piece)
  frames.set(piece, frame)
  return frame
}

function frameOf(piece: Uint8Array): Buffer {
  const size = `${piece.length.toString(16)}\r\n`
  const frame = Buffer.allocUnsafe(size.length + piece.length + 2)
  frame.write(size, 0, 'latin1')
  frame.set(piece, size.length)
  frame.write('\r\n', size.length + piece.length, 'latin1')
  return frame
}

function frameInPlace({ length }: Uint8Array, whole: Buffer): Buffer {
  const size = `${length.toString(16)}\r\n`
  const start = roomBefore - size.length
  whole.write(size, start, 'latin1')
  whole.write('\r\n', roomBefore + length, 'latin1')
  return whole.subarray(start, roomBefore + length + roomAfter)
}
