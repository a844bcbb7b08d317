/**
 * The Model Context Protocol over HTTP (Streamable HTTP), for clients on this machine that know the token.
 *
 * Invariants:
 *
 * - It listens on the loopback address only. A request with the name of another host is refused (DNS rebinding), and so
 *   is one from a web page of another origin.
 * - Without the token a request gets 401 and reaches nothing behind.
 * - A session is one client; when there are too many, the one that was silent longest ends.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { once, setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { randomUuid, refuseForeign, SystemRandom } from 'evenkeel/unstable/base'
import type { McpHost } from './mcp-host.ts'

interface HttpEndpointOptions {
  /** 0: any free port. */
  readonly port: number
  readonly token: string
  readonly log: (text: string) => void
  readonly onListening: (url: string) => void
}

const path = '/mcp'
const sessionsMax = 32
const bodyBytesMax = 4 * 1024 * 1024

/** Serves until the signal aborts, and ends every session. */
export async function serveHttp(host: McpHost, signal: AbortSignal, options: HttpEndpointOptions): Promise<void> {
  const { port, log, onListening } = options
  // Each session waits for it.
  setMaxListeners(0, signal)
  const sessions = new Sessions(host, signal, options)
  const server = createServer((request, response) => {
    sessions.answer(request, response).catch((error: unknown) => {
      if (!signal.aborted) log(`http: ${(error as Error).message}`)
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'the request failed')
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await sessions.ended()
  server.close()
  server.closeAllConnections()
}

class Sessions {
  readonly #host: McpHost
  readonly #signal: AbortSignal
  readonly #options: HttpEndpointOptions
  /** By id, the one that was silent longest first. */
  readonly #transports = new Map<string, WebStandardStreamableHTTPServerTransport>()
  readonly #running = new Set<Promise<void>>()

  constructor(host: McpHost, signal: AbortSignal, options: HttpEndpointOptions) {
    this.#host = host
    this.#signal = signal
    this.#options = options
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const foreign = refuseForeign(request)
    if (foreign) return refuse(response, 403, foreign.message)
    if (!isToken(request.headers.authorization, this.#options.token)) {
      response.setHeader('www-authenticate', 'Bearer')
      return refuse(response, 401, 'the token is missing or wrong: send Authorization: Bearer TOKEN')
    }
    const [target = ''] = (request.url ?? '').split('?')
    if (target !== path) return refuse(response, 404, `the protocol is at ${path}`)
    const body = await bodyOf(request)
    if (!body) return refuse(response, 413, `a request has at most ${bodyBytesMax} bytes`)
    const transport = this.#transportFor(request.headers['mcp-session-id'])
    if (!transport) return refuse(response, 404, 'the session has ended: initialize again')
    const answer = await transport.handleRequest(webRequest(request, body))
    // Only a request to initialize begins a session.
    if (transport.sessionId === undefined) await transport.close()
    await send(response, answer)
  }

  /** That of the session, or a new one; undefined: the session has ended. */
  #transportFor(id: string | string[] | undefined): WebStandardStreamableHTTPServerTransport | undefined {
    if (id === undefined) return this.#newTransport()
    const transport = typeof id === 'string' ? this.#transports.get(id) : undefined
    if (transport && typeof id === 'string') {
      this.#transports.delete(id)
      this.#transports.set(id, transport)
    }
    return transport
  }

  #newTransport(): WebStandardStreamableHTTPServerTransport {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUuid(new SystemRandom()),
      maxRequestBodySize: bodyBytesMax,
      onsessioninitialized: (id) => {
        this.#transports.set(id, transport)
        const [[silent, oldest] = []] = this.#transports
        if (this.#transports.size <= sessionsMax || silent === undefined) return
        this.#transports.delete(silent)
        void oldest?.close()
      },
    })
    const serving = this.#host.serve(transport, this.#signal).finally(() => {
      this.#running.delete(serving)
      if (transport.sessionId !== undefined) this.#transports.delete(transport.sessionId)
    })
    this.#running.add(serving)
    return transport
  }
}

/** Compares digests, so that the time says nothing about the token. */
function isToken(header: string | undefined, token: string): boolean {
  const [, given = ''] = /^Bearer (\S+)$/i.exec(header ?? '') ?? []
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}

/** Undefined when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > bodyBytesMax) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function webRequest({ method = 'GET', url = path, headers }: IncomingMessage, body: Buffer): Request {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(':') ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers: entries,
    ...(hasBody && { body: new Uint8Array(body) }),
  })
}

async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (!answer.body) {
    response.end()
    return
  }
  // A stream of events may be silent for long: the client waits for the head.
  response.flushHeaders()
  // A client that leaves ends the stream: that is no error.
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => undefined)
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(`${JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null })}\n`)
}
