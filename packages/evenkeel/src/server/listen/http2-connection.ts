/**
 * One HTTP/2 connection: concurrent requests, each an exchange of its own.
 *
 * Invariants of a connection: a client that opens and cancels requests, or sends pings, settings and tiny frames, at an
 * abusive rate is disconnected, with a GOAWAY that says ENHANCE_YOUR_CALM. An idle connection is closed after a timeout.
 * After `retire` new requests are refused by a GOAWAY, after which clients retry elsewhere; the connection closes with its
 * last request.
 *
 * Invariants of an exchange: the handler begins in the order of the requests, a few of a connection in each turn, and
 * asks for the body when it knows the caller. Until then the body is read, because Node would keep each frame as an
 * object, and counts against what the connection may hold. When the client cancels, the signal aborts and the loop over
 * the response ends. A response that cannot be finished is reset, never ended as if it were complete. A stream is never
 * reset while it has data that could be sent, because then Node 20 loops endlessly and Node 26 aborts. Data that the
 * client does not accept for some time does not count.
 */
import {
  constants,
  performServerHandshake,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { badRequest } from '#api'
import type { WireHeaders, WireResponse } from '#wire'
import { BodyPace } from './body-pace.ts'
import { BodyQueue } from './body-queue.ts'
import { lingerMs, type ConnectionContext, type ServerConnection } from './connection.ts'
import { FloodGuard } from './flood-guard.ts'
import {
  bytesOf,
  describeRequest,
  failureResponse,
  fieldsToSend,
  HttpProtocolError,
  isBodiless,
  isIdentityHeader,
  isStreamed,
  makeRequest,
  piecesOf,
  release,
  RequestLifetime,
  textResponse,
} from './http-message.ts'
import { OutputStream } from './output-stream.ts'
import { TurnBudget } from './turn-budget.ts'

/** For all unread bodies of a connection; one slow reader does not block the others. */
const connectionWindowBytes = 4_194_304
/** Node refuses requests above this; the backpressure of this server stays far below it. */
const sessionMegabytes = 1_024
/**
 * A frame of a body below this size is tiny. The first ones of a body are free, and one in each KiB: a client that fills
 * windows to the last byte sends some between large ones.
 */
const tinyFrameBytes = 64
const tinyFramesFree = 16
const bytesPerTinyFrame = 1_024
/** One read of a socket can contain hundreds of requests; each takes about a tenth of a millisecond until it waits. */
const requestsPerTurn = 8

/** As Node emits it; its types lack the last part, the raw fields. */
type StreamEvent = [stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, sent: readonly string[]]

export class Http2Connection implements ServerConnection {
  readonly #socket: TLSSocket
  readonly #context: ConnectionContext
  readonly #session: ServerHttp2Session
  readonly #exchanges = new Set<Http2Exchange>()
  readonly #starts: TurnBudget
  #deadlineMs: number
  readonly #floods: FloodGuard
  #isClosed = false

  constructor(socket: TLSSocket, context: ConnectionContext) {
    const { limits } = context
    this.#socket = socket
    this.#context = context
    this.#starts = new TurnBudget(context.clock, { perTurn: requestsPerTurn })
    this.#floods = new FloodGuard({ limits, clock: context.clock, onFlood: this.#disconnectFlooder.bind(this) })
    this.#deadlineMs = this.#inMs(limits.keepAliveMs)
    this.#session = performServerHandshake(socket, {
      maxSessionMemory: sessionMegabytes,
      maxHeaderListPairs: limits.headFieldsMax,
      settings: { maxConcurrentStreams: limits.streamsMax, maxHeaderListSize: limits.headBytesMax },
    })
    this.#session.setLocalWindowSize(connectionWindowBytes)
    this.#listen()
  }

  retire(): void {
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close()
  }

  expire(nowMs: number): void {
    this.#floods.forgive()
    for (const exchange of this.#exchanges) exchange.expire(nowMs)
    if (nowMs < this.#deadlineMs) return
    if (this.#isClosed) this.#socket.destroy()
    else if (this.#exchanges.size === 0) this.retire()
  }

  #listen(): void {
    const session = this.#session
    session.on('stream', (...[stream, headers, , sent]: StreamEvent) => {
      this.#onStream(stream, { headers, sent })
    })
    session.on('ping', () => {
      this.#floods.count()
    })
    session.on('remoteSettings', () => {
      this.#floods.count()
    })
    session.on('error', (error: unknown) => {
      this.#context.log.debug('connection failed', { error })
    })
    session.on('close', () => {
      this.#isClosed = true
      this.#deadlineMs = this.#inMs(lingerMs)
      if (!this.#socket.destroyed) this.#socket.end()
    })
    this.#socket.on('error', () => undefined)
  }

  #onStream(
    stream: ServerHttp2Stream,
    { headers, sent }: { headers: IncomingHttpHeaders; sent: readonly string[] },
  ): void {
    this.#floods.countOpened()
    if (this.#floods.isFlooded) {
      // It ends with the session in the next turn.
      stream.on('error', () => undefined)
      return
    }
    const exchange = new Http2Exchange(stream, {
      context: this.#context,
      starts: this.#starts,
      onNuisance: () => {
        this.#floods.count()
      },
    })
    this.#exchanges.add(exchange)
    stream.on('close', () => {
      this.#exchanges.delete(exchange)
      this.#deadlineMs = this.#inMs(this.#context.limits.keepAliveMs)
      if (!exchange.isAnswered && stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#floods.count()
    })
    void exchange.serve(headers, sent)
  }

  #disconnectFlooder(): void {
    // At once: what nghttp2 says when it reaches its own limit in this turn comes after it.
    if (!this.#session.destroyed) this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    this.#context.log.warn('HTTP/2 flood protection closed the connection', { address: this.#context.peer.address })
    // In the next turn: this is called while Node reads frames, and a session that is destroyed there aborts the process
    // (assertion `current_nghttp2_memory_ >= previous_size`, https://github.com/nodejs/node/issues/38964).
    this.#context.clock.soon(() => {
      this.#session.destroy(
        new Error('too many cancelled requests, pings, settings or tiny frames'),
        constants.NGHTTP2_ENHANCE_YOUR_CALM,
      )
    })
  }

  #inMs(delayMs: number): number {
    return this.#context.clock.monotonic() + delayMs
  }
}

// One request on the connection, and its response.

const never = Number.POSITIVE_INFINITY
const oneWriteBytesMax = 65_536
const nothing = Buffer.alloc(0)

export class Http2Exchange {
  readonly #stream: ServerHttp2Stream
  readonly #context: ConnectionContext
  readonly #starts: TurnBudget
  readonly #outlet: OutputStream
  readonly #life = new RequestLifetime()
  readonly #onNuisance: () => void
  #queue: BodyQueue | undefined
  #pace: BodyPace | undefined
  #tinyFrames = 0
  #bodyBytes = 0
  #resetAtMs = never
  #isAnswered = false

  constructor(
    stream: ServerHttp2Stream,
    {
      context,
      starts,
      onNuisance,
    }: { readonly context: ConnectionContext; readonly starts: TurnBudget; readonly onNuisance: () => void },
  ) {
    this.#stream = stream
    this.#context = context
    this.#starts = starts
    this.#onNuisance = onNuisance
    this.#outlet = new OutputStream(stream, context)
    stream.on('error', () => undefined)
    stream.on('close', () => {
      this.#onClose()
    })
  }

  /** True when the whole response was written; before that a reset by the client is a cancelled request. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  expire(nowMs: number): void {
    const { limits } = this.#context
    if (nowMs >= this.#resetAtMs || this.#outlet.isStalledSince(nowMs - limits.writeStallMs))
      this.#stream.destroy(new Error('the client does not take its response'))
    if (this.#queue?.isWaitedFor === false) this.#pace?.restart(nowMs)
    else if (this.#pace?.isLate(nowMs) === true) this.#queue?.fail(badRequest('the body stopped arriving'))
  }

  async serve(raw: IncomingHttpHeaders, sent: readonly string[]): Promise<void> {
    const response = await this.#ask(raw, sent)
    if (this.#stream.destroyed || this.#stream.closed) {
      release(response.body)
      return
    }
    try {
      await this.#send(response, raw[':method'] ?? '')
      this.#finish()
    } catch (error) {
      this.#context.log.warn('response cut off', { path: raw[':path']?.split('?', 1)[0], error })
      release(response.body)
      this.#cut(error)
    }
  }

  async #ask(raw: IncomingHttpHeaders, sent: readonly string[]): Promise<WireResponse> {
    const { transport, peer, log } = this.#context
    try {
      const { method, target, headers, length } = convertHttp2Head(raw, sent)
      const body = this.#stream.endAfterHeaders || length === 0 ? undefined : this.#openQueue()
      const turn = this.#starts.take(1)
      if (turn) await turn
      // A request that was cancelled before it began costs nothing more.
      if (this.#stream.destroyed) return textResponse(499, 'the client went away')
      return await transport(makeRequest({ method, target, headers, body, peer }, this.#life))
    } catch (error) {
      if (error instanceof HttpProtocolError) return textResponse(error.status, error.message)
      log.error('request failed', {
        ...describeRequest({ method: raw[':method'] ?? '', target: raw[':path'] ?? '' }),
        error,
      })
      return failureResponse(error)
    }
  }

  #openQueue(): BodyQueue {
    const { limits, held, clock } = this.#context
    const queue = (this.#queue = new BodyQueue({
      bytesMax: limits.unreadBytesPerConnectionMax,
      held,
      onWanted: () => {
        this.#pace?.restart(clock.monotonic())
      },
    }))
    this.#pace = new BodyPace(limits, clock.monotonic())
    this.#stream.on('data', (piece: Buffer) => {
      this.#onData(queue, piece)
    })
    this.#stream.on('end', () => {
      this.#pace = undefined
      queue.end()
    })
    return queue
  }

  #onData(queue: BodyQueue, piece: Buffer): void {
    this.#pace?.add(piece.length, this.#context.clock.monotonic())
    this.#bodyBytes += piece.length
    if (
      piece.length < tinyFrameBytes &&
      ++this.#tinyFrames > tinyFramesFree + Math.floor(this.#bodyBytes / bytesPerTinyFrame)
    )
      this.#onNuisance()
    queue.push(piece)
  }

  async #send(response: WireResponse, method: string): Promise<void> {
    const stream = this.#stream
    const { body, status } = response
    const pieces = isStreamed(body) ? undefined : piecesOf(body)
    const isWithout = isBodiless(method, status)
    const hasLength = pieces !== undefined && (!isWithout || (method === 'HEAD' && body !== undefined))
    const endStream = isWithout || pieces?.length === 0
    stream.respond(this.#fields(response, hasLength ? bytesOf(pieces) : undefined), { endStream })
    if (endStream) release(body)
    else if (isStreamed(body)) (await this.#outlet.sendStream(body, (piece) => piece)) && stream.end()
    else if (pieces?.length === 1 && (pieces[0]?.length ?? 0) <= oneWriteBytesMax) stream.end(pieces[0])
    else (await this.#outlet.sendAll(pieces ?? [])) && stream.end()
  }

  #fields(response: WireResponse, bytes: number | undefined): OutgoingHttpHeaders {
    const fields: OutgoingHttpHeaders = { ':status': response.status }
    for (const [name, value] of fieldsToSend(response)) fields[name] = value
    fields['date'] ??= this.#context.date()
    if (bytes !== undefined) fields['content-length'] = bytes
    return fields
  }

  /** The response is complete; a client that is still sending its body is asked to stop. */
  #finish(): void {
    const stream = this.#stream
    this.#isAnswered = true
    this.#pace = undefined
    this.#queue?.discard()
    this.#resetAtMs = this.#context.clock.monotonic() + this.#context.limits.writeStallMs
    if (stream.readableEnded || stream.endAfterHeaders) return
    stream.resume()
    const stop = (): void => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
    }
    if (stream.writableFinished) stop()
    else stream.once('finish', stop)
  }

  /**
   * Ends the response visibly incomplete, after all earlier data is sent: `destroy` with an error resets the stream,
   * while `close` with an error code first sends an end as if the response were complete.
   */
  #cut(error: unknown): void {
    const stream = this.#stream
    this.#resetAtMs = this.#context.clock.monotonic() + this.#context.limits.writeStallMs
    const reset = (): void => {
      stream.destroy(new Error('the response was cut off', { cause: error }))
    }
    if (!stream.headersSent) reset()
    else if (!stream.destroyed && !stream.writableEnded) stream.write(nothing, reset)
  }

  #onClose(): void {
    if (!this.#isAnswered) this.#life.end()
    this.#queue?.fail(badRequest('the client went away'))
    this.#queue?.discard()
  }
}

// The head of a request in the form of HTTP/1.1: `:authority` is `host`, and no field begins with a colon.

interface Http2Head {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  /** Bytes of the body, if announced. */
  readonly length: number | undefined
}

const methodText = /^[A-Z][A-Z-]{0,31}$/
const targetText = /^\/[\x21\x22\x24-\x7e]*$/
const lengthText = /^\d{1,15}$/

/**
 * @param sent the raw fields: names and values in turn
 * @throws {HttpProtocolError} when a part is missing or contradicts another.
 */
export function convertHttp2Head(raw: IncomingHttpHeaders, sent: readonly string[]): Http2Head {
  const { ':method': method = '', ':path': target = '', ':authority': authority } = raw
  if (method === 'CONNECT') throw new HttpProtocolError(405, 'this is no proxy')
  if (!methodText.test(method)) throw new HttpProtocolError(400, 'the method is no word')
  if (!targetText.test(target) && !(target === '*' && method === 'OPTIONS'))
    throw new HttpProtocolError(400, 'the request target is not a path')
  const headers = convertFields(raw, sent)
  if (authority !== undefined && headers['host'] !== undefined && headers['host'] !== authority)
    throw new HttpProtocolError(400, 'host and :authority differ')
  if (authority !== undefined) headers['host'] = authority
  if (headers['host'] === undefined) throw new HttpProtocolError(400, 'there is no host')
  const length = headers['content-length']
  if (length !== undefined && !lengthText.test(length))
    throw new HttpProtocolError(400, 'content-length is not a number of bytes')
  return { method, target, headers, length: length === undefined ? undefined : Number(length) }
}

function convertFields(raw: IncomingHttpHeaders, sent: readonly string[]): Record<string, string> {
  const headers = { __proto__: null } as unknown as Record<string, string>
  for (const name of Object.keys(raw)) {
    const value = raw[name]
    if (value === undefined || name.startsWith(':')) continue
    if (isIdentityHeader(name)) headers[name] = valuesOf(name, sent).join('\n')
    else headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}

/** Node joins repeated fields by commas; the raw fields are names and values in turn. */
function valuesOf(name: string, sent: readonly string[]): string[] {
  return sent.filter((_value, index) => index % 2 === 1 && sent[index - 1]?.toLowerCase() === name)
}
