/**
 * Parses HTTP/1.1 responses from the bytes of a connection, incrementally.
 *
 * Made for speed, not for untrusted servers: it supports a length and chunks, nothing else. Bytes given to a sink are
 * valid only until it returns, because the connection reuses the buffer.
 */

/** Receives the parts of a response. */
export interface ResponseSink {
  head(status: number): void
  /** A piece of the body, without framing. */
  body(bytes: Buffer, start: number, end: number): void
  end(): void
}

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer'

const headEnd = Buffer.from('\r\n\r\n')
const newline = 0x0a
const headBytesMax = 64 << 10

export class ResponseReader {
  readonly #sink: ResponseSink
  #state: State = 'head'
  /** Missing bytes of the body or chunk. */
  #left = 0
  /** An incomplete head or framing line. */
  #partial: Buffer | undefined

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  push(bytes: Buffer): void {
    let input = bytes
    if (this.#partial) {
      input = Buffer.concat([this.#partial, bytes])
      this.#partial = undefined
    }
    let at = 0
    while (at < input.length) {
      const next = this.#step(input, at)
      if (next < 0) {
        if (input.length - at > headBytesMax) throw new Error('the head of a response is too long')
        this.#partial = Buffer.from(input.subarray(at))
        return
      }
      at = next
    }
  }

  /** Returns the next position, or -1 when more bytes are needed. */
  #step(input: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(input, at)
      case 'length':
      case 'chunk':
        return this.#readBody(input, at)
      case 'chunk-size':
        return this.#readChunkSize(input, at)
      case 'chunk-end':
        return this.#readLine(input, at, 'chunk-size')
      case 'trailer': {
        const isLast = input[at] === 0x0d || input[at] === newline
        const next = this.#readLine(input, at, 'trailer')
        if (next >= 0 && isLast) this.#finish()
        return next
      }
    }
  }

  #readHead(input: Buffer, at: number): number {
    const end = input.indexOf(headEnd, at)
    if (end < 0) return -1
    const head = input.toString('latin1', at, end)
    const status = Number(head.slice(9, 12))
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
    const isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
    if (length === undefined && !isChunked) throw new Error(`a response with neither length nor chunks: ${head}`)
    this.#state = isChunked ? 'chunk-size' : 'length'
    this.#left = Number(length ?? 0)
    this.#sink.head(status)
    if (length === '0') this.#finish()
    return end + headEnd.length
  }

  #readBody(input: Buffer, at: number): number {
    const end = Math.min(input.length, at + this.#left)
    this.#left -= end - at
    this.#sink.body(input, at, end)
    if (this.#left > 0) return end
    if (this.#state === 'length') this.#finish()
    else this.#state = 'chunk-end'
    return end
  }

  #readChunkSize(input: Buffer, at: number): number {
    const end = input.indexOf(newline, at)
    if (end < 0) return -1
    this.#left = Number.parseInt(input.toString('latin1', at, end), 16)
    if (!(this.#left >= 0)) throw new Error(`invalid chunk size: ${input.toString('latin1', at, end)}`)
    this.#state = this.#left === 0 ? 'trailer' : 'chunk'
    return end + 1
  }

  #readLine(input: Buffer, at: number, then: State): number {
    const end = input.indexOf(newline, at)
    if (end < 0) return -1
    this.#state = then
    return end + 1
  }

  #finish(): void {
    this.#state = 'head'
    this.#sink.end()
  }
}
