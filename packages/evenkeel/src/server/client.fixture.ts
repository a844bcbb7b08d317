/**
 * A server for tests with a short client, in process.
 */
import { SeededRandom, SimulatedClock } from '#base'
import type { WireRequest, WireResponse } from '#wire'
import { startServer } from './server.ts'
import type { Server, ServerOptions } from './server-options.ts'

interface Asked {
  readonly body?: unknown
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

interface Answered {
  readonly status: number
  readonly headers: WireResponse['headers']
  readonly text: string
  readonly json: Loose
}

/** Loosely typed JSON for assertions. */
interface Loose {
  readonly [key: string]: Loose
}

/** A server on a simulated clock, with a client. */
export class TestServer {
  readonly clock = new SimulatedClock()
  readonly #server: Server

  private constructor(server: Server, clock: SimulatedClock) {
    this.#server = server
    this.clock = clock
  }

  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const clock = new SimulatedClock()
    return new TestServer(await startServer({ clock, random: new SeededRandom('test'), ...options }), clock)
  }

  get server(): Server {
    return this.#server
  }

  send(
    method: string,
    target: string,
    { body, type = 'application/json', headers = {}, signal = new AbortController().signal }: Asked = {},
  ): Promise<WireResponse> {
    const bytes =
      body === undefined || body instanceof Uint8Array
        ? body
        : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const request: WireRequest = {
      method,
      target,
      headers: { ...(bytes && type !== '' && { 'content-type': type }), ...headers },
      signal,
      ...(bytes && { body: bytes }),
    }
    return this.#server.transport(request)
  }

  async ask(method: string, target: string, asked: Asked = {}): Promise<Answered> {
    const { status, headers, body } = await this.send(method, target, asked)
    const pieces: Uint8Array[] = []
    if (body instanceof Uint8Array) pieces.push(body)
    else if (body) for await (const piece of body) pieces.push(piece)
    const text = Buffer.concat(pieces).toString()
    return { status, headers, text, json: text.startsWith('{') ? (JSON.parse(text) as Loose) : {} }
  }

  /** A watch as a reader of events. */
  async watch(target: string, asked: Asked = {}): Promise<EventReader> {
    const { body } = await this.send('GET', target, asked)
    return new EventReader(body as AsyncIterable<Uint8Array>)
  }
}

interface ReadEvent {
  readonly type: string
  readonly object: {
    readonly kind: string
    readonly code?: number
    readonly reason?: string
    readonly metadata: {
      readonly name?: string
      readonly resourceVersion: string
      readonly annotations?: Record<string, string>
    }
  }
}

/** Events of a watch, one at a time. */
class EventReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #text = ''

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#pieces = body[Symbol.asyncIterator]()
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<ReadEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n')
      if (end >= 0) {
        const line = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 1)
        return JSON.parse(line) as ReadEvent
      }
      const piece = await this.#pieces.next()
      if (piece.done) return undefined
      this.#text += Buffer.from(piece.value).toString()
    }
  }

  async take(count: number): Promise<string[]> {
    const seen: string[] = []
    while (seen.length < count) {
      const event = await this.next()
      seen.push(event ? `${event.type} ${event.object.metadata.name ?? ''}`.trim() : 'END')
    }
    return seen
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }
}
