/**
 * Parses one HTTP/1.1 response from reads that may end anywhere (RFC 9112): its head, then the data of its body.
 *
 *   head ──▶ size ⇄ data ──▶ trailer ──▶ done      in chunks
 *     └────▶ data ──▶ done                         of a known length
 *     └────▶ data until the connection ends
 *
 * For streamed responses: data is passed on in place, without a copy. Invariants: invalid HTTP throws and is never guessed
 * at; heads and lines between chunks are bounded; nothing after the end of the response is read.
 */
import type { WireHeaders } from '#wire'

interface ResponseHead {
  readonly status: number
  readonly headers: WireHeaders
  /** Whether the connection can carry another request after this response. */
  readonly isPersistent: boolean
}

interface ResponseParserOptions {
  /** Whether the response can have a body: not for HEAD. @default true */
  readonly hasBody?: boolean
}

interface ResponseSink {
  onHead(head: ResponseHead): void
  /** The bytes are the sink's until it returns. */
  onData(bytes: Uint8Array): void
}

const headBytesMax = 65_536
const lineBytesMax = 4096
const headEnd = Buffer.from('\r\n\r\n')
const lineFeed = 0x0a
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*$/
const sizeLine = /^([0-9a-fA-F]{1,12})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

export class ResponseParser {
  readonly #sink: ResponseSink
  readonly #hasBody: boolean
  #expects: 'head' | 'size' | 'data' | 'data end' | 'trailer' | 'nothing' = 'head'
  #waiting: Buffer = Buffer.of()
  #line = ''
  #left = 0
  #isChunked = false

  constructor(sink: ResponseSink, { hasBody = true }: ResponseParserOptions = {}) {
    this.#sink = sink
    this.#hasBody = hasBody
  }

  get isDone(): boolean {
    return this.#expects === 'nothing'
  }

  /** Reads on, up to the end of the response, and returns how many bytes were read. @throws {Error} for invalid HTTP. */
  feed(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && !this.isDone) at = this.#take(bytes, at)
    return at
  }

  /** The connection has ended. @throws {Error} when the response has not. */
  end(): void {
    if (this.#expects === 'data' && this.#left === Infinity) this.#expects = 'nothing'
    if (!this.isDone)
      throw new Error(
        this.#expects === 'head'
          ? 'the server closed the connection before it responded'
          : 'the server closed the connection in the middle of its response',
      )
  }

  #take(bytes: Buffer, at: number): number {
    if (this.#expects === 'data') return this.#takeData(bytes, at)
    return this.#expects === 'head' ? this.#takeHead(bytes, at) : this.#takeLine(bytes, at)
  }

  #takeData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    if (this.#left === 0) this.#expects = this.#isChunked ? 'data end' : 'nothing'
    this.#sink.onData(bytes.subarray(at, end))
    return end
  }

  #takeHead(bytes: Buffer, at: number): number {
    const before = this.#waiting.length
    const all = Buffer.concat([this.#waiting, bytes.subarray(at)])
    const end = all.indexOf(headEnd)
    if (end < 0 ? all.length > headBytesMax : end > headBytesMax)
      throw new Error('the head of the response is too long')
    if (end < 0) {
      this.#waiting = all
      return bytes.length
    }
    this.#waiting = Buffer.of()
    this.#onHead(all.toString('latin1', 0, end))
    return at + end + headEnd.length - before
  }

  #onHead(text: string): void {
    const head = parseHead(text)
    if (head.status === 101) throw new Error('the server switched to another protocol')
    // An informational response such as 103 precedes the response.
    if (head.status < 200) return
    const { 'transfer-encoding': coding, 'content-length': length } = head.headers
    this.#left = bodyLength(coding, length)
    if (!this.#hasBody || head.status === 204 || head.status === 304) this.#left = 0
    else this.#isChunked = coding !== undefined
    this.#expects = this.#isChunked ? 'size' : this.#left === 0 ? 'nothing' : 'data'
    this.#sink.onHead({ ...head, isPersistent: head.isPersistent && this.#left !== Infinity })
  }

  #takeLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lineFeed, at)
    const end = found < 0 ? bytes.length : found
    if (this.#line.length + end - at > lineBytesMax) throw new Error('a line between chunks is too long')
    this.#line += bytes.toString('latin1', at, end)
    if (found < 0) return end
    if (!this.#line.endsWith('\r')) throw new Error('a line between chunks does not end in CRLF')
    const line = this.#line.slice(0, -1)
    this.#line = ''
    this.#onLine(line)
    return end + 1
  }

  #onLine(line: string): void {
    if (this.#expects === 'trailer') {
      if (line === '') this.#expects = 'nothing'
    } else if (this.#expects === 'data end') {
      if (line !== '') throw new Error('a chunk is longer than it said')
      this.#expects = 'size'
    } else {
      const digits = sizeLine.exec(line)?.[1]
      if (digits === undefined) throw new Error('a chunk has an invalid size')
      this.#left = Number.parseInt(digits, 16)
      this.#expects = this.#left === 0 ? 'trailer' : 'data'
    }
  }
}

function parseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, status] = statusLine.exec(first) ?? []
  if (status === undefined) throw new Error('the response is not HTTP/1.1')
  const headers: Record<string, string> = Object.create(null) as Record<string, string>
  for (const line of lines) {
    const [, name = '', value = ''] = fieldLine.exec(line) ?? []
    if (name === '') throw new Error('the response has a line that is not a header field')
    const key = name.toLowerCase()
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  const isPersistent = minor === '1' && !/(?:^|,)\s*close\s*(?:,|$)/i.test(headers['connection'] ?? '')
  return { status: Number(status), headers: { ...headers }, isPersistent }
}

/** How many bytes follow; infinite when the response ends with the connection. */
function bodyLength(coding: string | undefined, length: string | undefined): number {
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked' || length !== undefined)
      throw new Error(`the response has an unsupported transfer encoding (${coding})`)
    return 0
  }
  if (length === undefined) return Infinity
  if (!/^\d{1,15}$/.test(length)) throw new Error('the response has an invalid content-length')
  return Number(length)
}
