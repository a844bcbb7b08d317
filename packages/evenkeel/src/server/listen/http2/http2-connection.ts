/**
 * One HTTP/2 connection: many requests at a time, each an exchange of its own.
 *
 * Invariants: a client that opens and cancels requests, or sends pings and settings, faster than work explains loses its
 * connection; without requests the connection is closed after a while; after `retire` new requests are refused by a GOAWAY, which clients
 * take as "ask again elsewhere", and the connection closes with its last request.
 */
import { constants, performServerHandshake } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { lingerMs } from '../connection.ts'
import type { ServerConnection, ConnectionContext } from '../connection.ts'
import { Http2Exchange } from './exchange.ts'

/** All unread bodies of a connection together; one slow reader does not hold up the others. */
const connectionWindowBytes = 4_194_304
/** Node refuses requests above this; our own back-pressure stays far below it. */
const sessionMegabytes = 1_024
const floodEventsPerSweep = 50

/** As Node gives it; its types do not know the last part, the fields as they were sent. */
type StreamEvent = [stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, sent: readonly string[]]

export class Http2Connection implements ServerConnection {
  readonly #socket: TLSSocket
  readonly #context: ConnectionContext
  readonly #session: ServerHttp2Session
  readonly #exchanges = new Set<Http2Exchange>()
  #deadlineMs: number
  #nuisances = 0
  #isClosed = false

  constructor(socket: TLSSocket, context: ConnectionContext) {
    const { limits } = context
    this.#socket = socket
    this.#context = context
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
    this.#nuisances = Math.max(0, this.#nuisances - floodEventsPerSweep)
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
      this.#onNuisance()
    })
    session.on('remoteSettings', () => {
      this.#onNuisance()
    })
    session.on('error', (error: unknown) => {
      this.#context.log.debug('a connection failed', { error })
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
    const exchange = new Http2Exchange(stream, this.#context)
    this.#exchanges.add(exchange)
    stream.on('close', () => {
      this.#exchanges.delete(exchange)
      this.#deadlineMs = this.#inMs(this.#context.limits.keepAliveMs)
      if (!exchange.isAnswered && stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#onNuisance()
    })
    void exchange.serve(headers, sent)
  }

  #onNuisance(): void {
    if (++this.#nuisances <= this.#context.limits.nuisancesMax || this.#session.destroyed) return
    this.#context.log.warn('a client makes more noise than requests: disconnected', {
      address: this.#context.peer.address,
    })
    this.#session.destroy(
      new Error('too many cancelled requests, pings or settings'),
      constants.NGHTTP2_ENHANCE_YOUR_CALM,
    )
  }

  #inMs(delayMs: number): number {
    return this.#context.clock.monotonic() + delayMs
  }
}
