/**
 * One HTTP/2 connection to one etcd server, and gRPC calls on it.
 *
 *   open ──▶ usable ──GOAWAY, error or ping timeout──▶ gone
 *
 * Invariants: a call ends once, with a response, an {@link RpcError} or the reason of its signal,
 * and leaves no listener and no timer; a server that is silent while calls wait gets a ping, and
 * the connection is closed if the ping is not answered; a stream that is not read does not block
 * the other streams.
 */
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  abortable,
  deadline,
  deferred,
  identityCheck,
  onAbort,
  type AbortOptions,
  type Cancel,
  type Clock,
} from '#base'
import { broken, errorOf, GrpcFrameReader, notSent, RpcError, RpcStream } from './grpc.ts'
import type { ProtobufWriter } from './protobuf.ts'

/** Client certificate and trusted authorities, in PEM. */
export interface EtcdTlsOptions {
  /**
   * The certificate authorities that may have signed the certificate of the server.
   *
   * @default those of Node
   */
  ca?: string | Buffer
  /** The client certificate, together with `key`. */
  cert?: string | Buffer
  key?: string | Buffer
}

interface EtcdConnectionOptions {
  clock: Clock
  tls: EtcdTlsOptions
  connectMs: number
  requestMs: number
  pingMs: number
  pingTimeoutMs: number
}

interface CallOptions extends AbortOptions {
  /**
   * @default `requestMs` of the connection
   */
  timeoutMs?: number
}

interface OpenedSocket {
  readonly endpoint: string
  readonly socket: Socket
  readonly closed: Promise<undefined>
}

const streamWindowBytes = 4 * 1024 * 1024
const connectionWindowBytes = 2 ** 30
/** Node refuses requests when a session uses more memory. Responses are as large as our own requests, so the limit is high. */
const sessionMegabytes = 4096

export class EtcdConnection {
  readonly endpoint: string
  /** Resolves, with the reason, once the connection accepts no more calls. */
  readonly gone: Promise<string>
  /** Resolves once the socket is closed. */
  readonly closed: Promise<undefined>
  /** The authentication token, sent with every call. */
  token: string | undefined
  /** True when a requested progress notification is ordered with the events (see `upstream`). */
  isProgressOrdered = false
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #requestMs: number
  readonly #pingMs: number
  readonly #pingTimeoutMs: number
  readonly #gone = deferred<string>()
  #isGone = false
  #calls = 0
  /** Data arrived since the last check. */
  #hasActivity = false
  #stopPinging: Cancel | undefined

  /** Opens a connection. Rejects with an {@link RpcError} on a failure or timeout. */
  static async open(
    endpoint: string,
    { signal, ...options }: EtcdConnectionOptions & AbortOptions,
  ): Promise<EtcdConnection> {
    const { clock, tls, connectMs } = options
    const socket = openSocket(new URL(endpoint), tls)
    const closed = deferred<undefined>()
    socket.once('close', () => {
      closed.resolve(undefined)
    })
    const session = connect(endpoint, {
      createConnection: () => socket,
      maxSessionMemory: sessionMegabytes,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    })
    const limit = deadline(clock, connectMs, { signal })
    const opened = deferred<undefined>()
    session.once('connect', () => {
      opened.resolve(undefined)
    })
    session.on('error', opened.reject)
    try {
      await abortable(opened.promise, { signal: limit.signal })
    } catch (error) {
      session.destroy()
      socket.destroy()
      await closed.promise
      signal?.throwIfAborted()
      throw notSent(`cannot connect to ${endpoint}: ${messageOf(error)}`, error)
    } finally {
      limit.done()
    }
    return new EtcdConnection(session, { ...options, endpoint, socket, closed: closed.promise })
  }

  private constructor(
    session: ClientHttp2Session,
    { endpoint, socket, closed, clock, requestMs, pingMs, pingTimeoutMs }: EtcdConnectionOptions & OpenedSocket,
  ) {
    this.endpoint = endpoint
    this.closed = closed
    this.#session = session
    this.#socket = socket
    this.#clock = clock
    this.#requestMs = requestMs
    this.#pingMs = pingMs
    this.#pingTimeoutMs = pingTimeoutMs
    this.gone = this.#gone.promise
    session.setLocalWindowSize(connectionWindowBytes)
    session.on('error', (error) => {
      this.#leave(messageOf(error))
    })
    session.on('goaway', () => {
      this.#leave('the server is going away')
    })
    session.on('close', () => {
      this.#leave('the connection was closed')
      this.#stopPinging?.()
    })
  }

  /** A unary call: one request, one response. */
  unary(
    path: string,
    request: ProtobufWriter,
    { signal, timeoutMs = this.#requestMs }: CallOptions = {},
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const stream = this.#request(path)
      const giveUp = (reason: unknown): void => {
        reject(reason)
        resetOnceSent(stream)
      }
      const cancel = this.#clock.after(timeoutMs, () => {
        giveUp(
          new RpcError('DeadlineExceeded', `no answer from ${this.endpoint} within ${timeoutMs} ms`, {
            isUncertain: true,
          }),
        )
      })
      const stop = onAbort(signal, giveUp)
      const result = this.#collect(stream)
      stream.on('close', () => {
        cancel()
        stop()
        const response = result()
        if (response instanceof RpcError) reject(response)
        else resolve(response)
      })
      stream.end(request.frame())
    })
  }

  /** Opens a bidirectional stream and sends the first message. */
  stream(path: string, first: ProtobufWriter, { signal }: AbortOptions = {}): RpcStream {
    signal?.throwIfAborted()
    const stream = this.#request(path)
    const onData = (): void => {
      this.#hasActivity = true
    }
    const rpc = new RpcStream(stream, { signal, onData, lost: (error) => this.#lost(stream, error) })
    rpc.send(first)
    return rpc
  }

  /** Accepts no more calls; calls in progress may finish. */
  retire(reason: string): void {
    this.#leave(reason)
    if (!this.#session.closed) this.#session.close()
  }

  /** Closes the connection and ends all calls. */
  destroy(reason: string): void {
    this.#leave(reason)
    this.#session.destroy()
    this.#socket.destroy()
  }

  #request(path: string): ClientHttp2Stream {
    if (this.#isGone) throw notSent(`the connection to ${this.endpoint} is gone`)
    let stream: ClientHttp2Stream
    try {
      stream = this.#session.request(headersFor(path, this.token))
    } catch (error) {
      throw notSent(`cannot call ${this.endpoint}: ${messageOf(error)}`, error)
    }
    if (this.#calls++ === 0) this.#checkLater()
    stream.on('close', () => {
      if (--this.#calls === 0) this.#stopPinging?.()
    })
    return stream
  }

  /** Collects the response of a unary call; call the returned function once the stream has closed. */
  #collect(stream: ClientHttp2Stream): () => Uint8Array | RpcError {
    const reader = new GrpcFrameReader()
    let response: Uint8Array | undefined
    let status: IncomingHttpHeaders | undefined
    let failure: unknown
    stream.on('response', (headers) => {
      if ('grpc-status' in headers || headers[':status'] !== 200) status = headers
    })
    stream.on('trailers', (headers) => {
      status ??= headers
    })
    stream.on('error', (error) => {
      failure = error
    })
    stream.on('data', (chunk: Buffer) => {
      this.#hasActivity = true
      try {
        response ??= reader.push(chunk)[0]
      } catch (error) {
        stream.destroy(error as Error)
      }
    })
    return () => (status ? (errorOf(status) ?? response) : undefined) ?? this.#lost(stream, failure)
  }

  /** The error of a call whose stream closed without a status. */
  #lost(stream: ClientHttp2Stream, error: unknown): RpcError {
    const text = `lost the connection to ${this.endpoint}${error === undefined ? '' : `: ${messageOf(error)}`}`
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? notSent(text, error) : broken(text, error)
  }

  /** While calls wait: sends a ping when no data arrived for `pingMs`. */
  #checkLater(): void {
    this.#hasActivity = false
    this.#stopPinging = this.#clock.after(this.#pingMs, () => {
      if (this.#hasActivity) this.#checkLater()
      else this.#ping()
    })
  }

  #ping(): void {
    this.#stopPinging = this.#clock.after(this.#pingTimeoutMs, () => {
      this.destroy(`${this.endpoint} does not answer pings`)
    })
    const onAnswer = (): void => {
      if (this.#isGone) return
      this.#stopPinging?.()
      if (this.#calls > 0) this.#checkLater()
    }
    if (!this.#session.destroyed) this.#session.ping(onAnswer)
  }

  #leave(reason: string): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#gone.resolve(reason)
  }
}

/** Resets a stream after its request has been sent, for the reason given in `RpcStream.close`. */
function resetOnceSent(stream: ClientHttp2Stream): void {
  if (stream.writableFinished || stream.destroyed) stream.close(constants.NGHTTP2_CANCEL)
  else
    stream.once('finish', () => {
      stream.close(constants.NGHTTP2_CANCEL)
    })
}

/** Opens the socket here, because a session that closes gracefully leaves its socket open until the server closes it. */
function openSocket({ protocol, hostname, port }: URL, tls: EtcdTlsOptions): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) })
  return connectTls({
    ...tls,
    ...identityCheck(host),
    host,
    port: Number(port || 443),
    ALPNProtocols: ['h2'],
    ...(isIP(host) === 0 && { servername: host }),
  })
}

function headersFor(path: string, token: string | undefined): Record<string, string> {
  return {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    hasleader: 'true',
    ...(token !== undefined && { token }),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
