/**
 * The HTTP client of the suite: sends exactly what a case specifies and corrects nothing.
 *
 * Invariant: no call waits forever. A response, an event or the end of a stream that does not arrive within
 * `patienceMs` is a failure; nothing else here depends on time.
 */
import { deadline, onAbort, SystemClock } from 'evenkeel/unstable/base'
import { Answer } from './answer.ts'
import { WatchStream } from './watch-stream.ts'
import { handshake, WebSocketStream } from './websocket-stream.ts'
import { writeJson } from './json.ts'

interface SendRequest {
  /** In upper case. */
  readonly method: string
  /** Path and query as they go over the wire. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal: AbortSignal
}

interface SendResponse {
  readonly status: number
  /** Names in lower case; a repeated header is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  /** After 101: sends bytes of the new protocol. */
  readonly write?: (bytes: Uint8Array) => void
}

/** How a request reaches a server: a socket, or a function call in the same process. */
export type Send = (request: SendRequest) => Promise<SendResponse>

type QueryValue = string | number | boolean

export interface AskOptions {
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON; text and bytes are sent unchanged. */
  readonly body?: unknown
  /**
   * The content type of the body; an empty string sends none.
   *
   * @default 'application/json'
   */
  readonly type?: string
  /** The Accept header. */
  readonly accept?: string
}

interface ClientOptions {
  /** Sent with every request, for instance the credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * How long to wait before giving up.
   *
   * @default 120_000
   */
  readonly patienceMs?: number
}

const clock = new SystemClock()

export class Client {
  readonly #send: Send
  readonly #headers: Readonly<Record<string, string>>
  readonly #patienceMs: number
  readonly #streams: (WatchStream | WebSocketStream)[] = []

  constructor(send: Send, { headers = {}, patienceMs = 120_000 }: ClientOptions = {}) {
    this.#send = send
    this.#headers = headers
    this.#patienceMs = patienceMs
  }

  /** One request, one complete response. */
  async request(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const { signal, done } = deadline(clock, this.#patienceMs)
    try {
      const request = this.#requestOf(method, path, options)
      const { status, headers, body } = await this.#send({ ...request, signal })
      const chunks: Uint8Array[] = []
      for await (const chunk of body) chunks.push(chunk)
      return new Answer(`${method} ${request.target}`, { status, headers, bytes: Buffer.concat(chunks) })
    } finally {
      done()
    }
  }

  /** Opens a watch, which must succeed. `close` ends open watches. */
  async watch(path: string, { query = {}, ...options }: AskOptions = {}): Promise<WatchStream> {
    const request = this.#requestOf('GET', path, { ...options, query: { watch: true, ...query } })
    const [response, rest] = await this.#open(request)
    const stream = new WatchStream(response, { ...rest, asked: `WATCH ${request.target}` })
    this.#streams.push(stream)
    if (response.status !== 200)
      throw new Error(`${request.target} → ${response.status}: ${(await stream.lines()).join('\n')}`)
    return stream
  }

  /** Asks for a WebSocket. An answer other than 101 has no messages. */
  async upgrade(path: string, { headers, ...options }: AskOptions = {}): Promise<WebSocketStream> {
    const request = this.#requestOf('GET', path, { ...options, headers: { ...handshake, ...headers } })
    const [response, rest] = await this.#open(request)
    const stream = new WebSocketStream(response, { ...rest, asked: request.target })
    this.#streams.push(stream)
    return stream
  }

  /** Sends a request whose response is read piece by piece. */
  async #open(
    request: Omit<SendRequest, 'signal'>,
  ): Promise<[response: SendResponse, rest: { patienceMs: number; over: AbortController }]> {
    const over = new AbortController()
    const late = deadline(clock, this.#patienceMs)
    const stop = onAbort(late.signal, (reason) => {
      over.abort(reason)
    })
    const response = await this.#send({ ...request, signal: over.signal }).finally(() => {
      stop()
      late.done()
    })
    return [response, { patienceMs: this.#patienceMs, over }]
  }

  close(): void {
    for (const stream of this.#streams.splice(0)) stream.close()
  }

  #requestOf(
    method: string,
    path: string,
    { query = {}, headers = {}, body, type = 'application/json', accept }: AskOptions,
  ): Omit<SendRequest, 'signal'> {
    const bytes = bytesOf(body)
    return {
      method,
      target: withQuery(path, query),
      headers: {
        ...this.#headers,
        ...(accept === undefined ? {} : { accept }),
        ...(bytes && type !== '' ? { 'content-type': type } : {}),
        ...headers,
      },
      ...(bytes && { body: bytes }),
    }
  }
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : writeJson(body))
}

function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`
}
