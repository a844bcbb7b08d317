/**
 * HTTP/1.1 with Node's parser: `listen: { http: 'node' }`.
 *
 * For installations that prefer the most widely used parser, at 13 to 27 % more processor time per request
 * (docs/decisions/transport.md). A `node:http` server that never listens gets the sockets. Its requests are checked by
 * the same rules about hosts, targets, repeated fields and lengths as in http1-head.ts.
 *
 * Invariants: one request is served at a time. After a refused one the connection closes. Timeouts are the listener's
 * (`expire`), never Node's, so that a simulated clock controls them. When the socket closes, the request's signal
 * aborts.
 */
import type { EventEmitter } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { badRequest } from '#api'
import type { WireResponse } from '#wire'
import { BodyPace } from './body-pace.ts'
import { BodyQueue } from './body-queue.ts'
import { lingerMs, type ConnectionContext, type ListenLimits, type ServerConnection } from './connection.ts'
import {
  bytesOf,
  describeRequest,
  failureResponse,
  fieldsToSend,
  HttpProtocolError,
  isBodiless,
  isStreamed,
  makeRequest,
  piecesOf,
  release,
  RequestLifetime,
  textResponse,
  type FixedBody,
} from './http-message.ts'
import { headOf, type RequestHead } from './http1-head.ts'

const never = Number.POSITIVE_INFINITY

/** Reads the sockets of one listener. */
export class NodeHttp1 {
  readonly #server: Server
  readonly #connections = new WeakMap<Socket, NodeHttp1Connection>()

  constructor({ headBytesMax }: ListenLimits) {
    this.#server = createServer({
      maxHeaderSize: headBytesMax,
      insecureHTTPParser: false,
      keepAliveTimeout: 0,
      headersTimeout: 0,
      requestTimeout: 0,
      connectionsCheckingInterval: 0x7fffffff,
    })
    // The connection counts fields: Node would silently drop those above the limit.
    this.#server.maxHeadersCount = 0
    this.#server.on('request', (request, response) => {
      this.#connections.get(request.socket)?.serve(request, response)
    })
    this.#server.on('checkContinue', (request, response) => {
      this.#connections.get(request.socket)?.serve(request, response)
    })
    this.#server.on('checkExpectation', (request, response) => {
      this.#connections.get(request.socket)?.serve(request, response)
    })
    this.#server.on('connect', (request, socket) => {
      this.#connections.get(request.socket)?.refuse(new HttpProtocolError(405, 'this is no proxy'))
      socket.resume()
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.#connections.get(socket as Socket)?.refuse(protocolError(error))
    })
  }

  connect(socket: Socket, context: ConnectionContext): ServerConnection {
    const connection = new NodeHttp1Connection(socket, context)
    this.#connections.set(socket, connection)
    this.#server.emit('connection', socket)
    return connection
  }
}

function protocolError({ code, message }: NodeJS.ErrnoException): HttpProtocolError {
  if (code === 'HPE_HEADER_OVERFLOW') return new HttpProtocolError(431, 'the request head is too long')
  if (code === 'HPE_INVALID_VERSION') return new HttpProtocolError(505, 'only HTTP/1.1, and HTTP/2 over TLS')
  return new HttpProtocolError(400, `not an HTTP/1.1 request: ${message}`)
}

class NodeHttp1Connection implements ServerConnection {
  readonly #socket: Socket
  readonly #context: ConnectionContext
  #deadlineMs: number
  #stalledSinceMs: number | undefined
  #life: RequestLifetime | undefined
  #body: { readonly queue: BodyQueue; readonly pace: BodyPace } | undefined
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #isServing = false
  #isRetired = false
  #isClosing = false

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket
    this.#context = context
    this.#deadlineMs = this.#inMs(context.limits.headMs)
    socket.on('close', () => {
      this.#life?.end()
      this.#body?.queue.fail(badRequest('the client went away'))
      this.#body?.queue.discard()
    })
    socket.on('drain', () => {
      this.#stalledSinceMs = undefined
    })
  }

  retire(): void {
    this.#isRetired = true
    if (!this.#isBusy) this.#close()
  }

  expire(nowMs: number): void {
    if (this.#stalledSinceMs !== undefined && nowMs - this.#stalledSinceMs >= this.#context.limits.writeStallMs)
      this.#socket.destroy()
    if (this.#body?.queue.isWaitedFor === false) this.#body.pace.restart(nowMs)
    else if (this.#body?.pace.isLate(nowMs) === true) this.#body.queue.fail(badRequest('the body stopped arriving'))
    if (nowMs < this.#deadlineMs) return
    this.#deadlineMs = never
    if (this.#isClosing) this.#socket.destroy()
    else if (!this.#isBusy) this.#close()
  }

  /** Node emits pipelined requests all at once; here each waits for the one before it. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    this.#waiting++
    this.#deadlineMs = never
    this.#turn = this.#turn.then(async () => {
      this.#waiting--
      if (this.#isClosing) return
      this.#isServing = true
      await this.#answer(request, response)
    })
  }

  /** Malformed bytes: refused after the requests before them are answered. */
  refuse(error: HttpProtocolError): void {
    this.#turn = this.#turn.then(() => {
      this.#refuseNow(error)
    })
  }

  /** Answers in plain text, and closes the connection. */
  #refuseNow(error: HttpProtocolError): void {
    if (this.#isClosing) return
    const { status, headers, body } = textResponse(error.status, error.message)
    const [bytes = Buffer.alloc(0)] = piecesOf(body as FixedBody)
    const fields = Object.entries({ ...headers, 'content-length': String(bytes.length), connection: 'close' })
    const head = [`HTTP/1.1 ${status} `, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
    if (this.#socket.writable) this.#socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes]))
    this.#close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { transport, peer, log, limits } = this.#context
    let head: RequestHead
    try {
      head = readHead(request, limits)
    } catch (error) {
      if (!(error instanceof HttpProtocolError)) throw error
      this.#refuseNow(error)
      return
    }
    const { method, target, headers } = head
    const life = (this.#life = new RequestLifetime())
    const body = head.length === 0 ? undefined : this.#openBody(request, response, head)
    const answer = await transport(makeRequest({ method, target, headers, body, peer }, life)).catch(
      (error: unknown) => {
        log.error('request failed', { ...describeRequest(head), error })
        return failureResponse(error)
      },
    )
    try {
      if (!this.#socket.writable) release(answer.body)
      else await this.#send(response, head, answer)
    } catch (error) {
      log.warn('response cut off', { ...describeRequest(head), error })
      release(answer.body)
      this.#socket.destroy()
    }
    this.#finish(request)
  }

  /** Node's request is read when the handler asks for the body; until then Node holds little of it. */
  #openBody(request: IncomingMessage, response: ServerResponse, { expectsContinue }: RequestHead): BodyQueue {
    const { limits, held, clock } = this.#context
    const pace = new BodyPace(limits, clock.monotonic())
    const queue = new BodyQueue({
      bytesMax: limits.unreadBodyBytesMax,
      held,
      onRoom: () => {
        request.resume()
      },
      onWanted: () => {
        if (expectsContinue) response.writeContinue()
        pace.restart(clock.monotonic())
        request.on('data', (piece: Buffer) => {
          pace.add(piece.length, clock.monotonic())
          if (!queue.push(piece)) request.pause()
        })
      },
    })
    request.on('end', () => {
      queue.end()
    })
    request.on('error', (error) => {
      queue.fail(badRequest('the body stopped arriving', { cause: error }))
    })
    this.#body = { queue, pace }
    return queue
  }

  async #send(response: ServerResponse, head: RequestHead, answer: WireResponse): Promise<void> {
    // Clients that get no WebSocket use plain HTTP instead.
    if (answer.upgrade) {
      release(answer.body)
      await this.#send(response, { ...head, isKeepAlive: false }, { status: 200, headers: {}, body: Buffer.alloc(0) })
      return
    }
    const { body, status } = answer
    const isWithout = isBodiless(head.method, status)
    const pieces = isStreamed(body) ? undefined : piecesOf(body)
    if (this.#isRetired || !head.isKeepAlive) response.shouldKeepAlive = false
    response.sendDate = false
    const fields = [...fieldsToSend(answer), ['date', this.#context.date()] as [string, string]]
    if (pieces && (!isWithout || (head.method === 'HEAD' && body !== undefined)))
      fields.push(['content-length', String(bytesOf(pieces))])
    response.writeHead(status, fields.flat())
    if (isWithout) release(body)
    else if (pieces) for (const piece of pieces) await this.#write(response, piece)
    else if (isStreamed(body)) for await (const piece of body) if (!(await this.#write(response, piece))) break
    const ended = firstEvent([response, 'finish'], [this.#socket, 'close'])
    response.end()
    await ended
  }

  /** Resolves false when the client disconnected. */
  async #write(response: ServerResponse, piece: Uint8Array): Promise<boolean> {
    if (!this.#socket.writable) return false
    if (response.write(piece)) return true
    this.#stalledSinceMs ??= this.#context.clock.monotonic()
    await firstEvent([response, 'drain'], [response, 'close'])
    this.#stalledSinceMs = undefined
    return this.#socket.writable
  }

  #finish(request: IncomingMessage): void {
    this.#life = undefined
    this.#isServing = false
    this.#body?.queue.discard()
    this.#body = undefined
    request.resume()
    const { keepAliveMs, bodyGraceMs } = this.#context.limits
    this.#deadlineMs = this.#isBusy ? never : this.#inMs(request.complete ? keepAliveMs : bodyGraceMs)
    if (this.#isRetired) this.#close()
  }

  get #isBusy(): boolean {
    return this.#isServing || this.#waiting > 0
  }

  #close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#deadlineMs = this.#inMs(lingerMs)
    this.#socket.end()
    this.#socket.resume()
  }

  #inMs(delayMs: number): number {
    return this.#context.clock.monotonic() + delayMs
  }
}

/** Resolves with the first of these events, and leaves no listener: a connection may serve a million requests. */
function firstEvent(...events: readonly (readonly [EventEmitter, string])[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const [emitter, name] of events) emitter.off(name, done)
      resolve()
    }
    for (const [emitter, name] of events) emitter.on(name, done)
  })
}

function readHead(request: IncomingMessage, { requestLineBytesMax, headFieldsMax }: ListenLimits): RequestHead {
  const { method = '', url: target = '', httpVersion, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw new HttpProtocolError(505, 'only HTTP/1.1, and HTTP/2 over TLS')
  if (method.length + target.length > requestLineBytesMax)
    throw new HttpProtocolError(414, 'the request line is too long')
  if (rawHeaders.length / 2 > headFieldsMax)
    throw new HttpProtocolError(431, `more than ${headFieldsMax} header fields`)
  return headOf({ method, target, isHttp10: httpVersion === '1.0' }, rawHeaders)
}
