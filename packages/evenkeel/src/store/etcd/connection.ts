/**
 * One HTTP/2 connection to one etcd server, and gRPC calls on it.
 *
 *   open ──▶ usable ──goaway, error, no answer to a ping──▶ gone
 *
 * Invariants: a call settles once, with an answer, an {@link RpcError} or its signal's reason,
 * and leaves no listener and no timer; a peer that is silent while calls wait is asked for a sign
 * of life, and dropped if it gives none; whoever does not read a stream holds up nobody else.
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

/** Who we are and whom we believe, in PEM. */
export interface EtcdTlsOptions {
  /**
   * The authorities that may have signed the server's certificate.
   *
   * @default those of Node
   */
  ca?: string | Buffer
  /** Our certificate, with `key`, where the server asks for one. */
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
/** Node refuses calls above this; etcd answers with what we asked for, so only we can cause it. */
const sessionMegabytes = 4096

export class EtcdConnection {
  readonly endpoint: string
  /** Settles, with the reason, once the connection takes no more calls. */
  readonly gone: Promise<string>
  /** Settles once nothing is left of it. */
  readonly closed: Promise<undefined>
  /** Sent with every call once somebody logged in. */
  token: string | undefined
  /** True when progress that is asked for comes in order with the events (see `upstream`). */
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
  #isHeard = false
  #stopPinging: Cancel | undefined

  /** Connects. Rejects with an {@link RpcError} when that fails or takes too long. */
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

  /** Asks once, answers once. */
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
      const result = this.#gather(stream)
      stream.on('close', () => {
        cancel()
        stop()
        const answer = result()
        if (answer instanceof RpcError) reject(answer)
        else resolve(answer)
      })
      stream.end(request.frame())
    })
  }

  /** Opens a stream of messages both ways, with the first one sent. */
  stream(path: string, first: ProtobufWriter, { signal }: AbortOptions = {}): RpcStream {
    signal?.throwIfAborted()
    const stream = this.#request(path)
    const onHeard = (): void => {
      this.#isHeard = true
    }
    const rpc = new RpcStream(stream, { signal, onHeard, lost: (error) => this.#lost(stream, error) })
    rpc.send(first)
    return rpc
  }

  /** Takes no more calls; those under way may end. */
  retire(reason: string): void {
    this.#leave(reason)
    if (!this.#session.closed) this.#session.close()
  }

  /** Ends everything at once. */
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
    if (this.#calls++ === 0) this.#watchOver()
    stream.on('close', () => {
      if (--this.#calls === 0) this.#stopPinging?.()
    })
    return stream
  }

  /** Collects the one answer of a stream; what is given back tells it, once the stream has closed. */
  #gather(stream: ClientHttp2Stream): () => Uint8Array | RpcError {
    const reader = new GrpcFrameReader()
    let answer: Uint8Array | undefined
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
      this.#isHeard = true
      try {
        answer ??= reader.push(chunk)[0]
      } catch (error) {
        stream.destroy(error as Error)
      }
    })
    return () => (status ? (errorOf(status) ?? answer) : undefined) ?? this.#lost(stream, failure)
  }

  /** What a stream that closed without a status means for its call. */
  #lost(stream: ClientHttp2Stream, error: unknown): RpcError {
    const text = `lost the connection to ${this.endpoint}${error === undefined ? '' : `: ${messageOf(error)}`}`
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? notSent(text, error) : broken(text, error)
  }

  /** While calls wait: when nothing was heard for a while, a ping has to be answered. */
  #watchOver(): void {
    this.#isHeard = false
    this.#stopPinging = this.#clock.after(this.#pingMs, () => {
      if (this.#isHeard) this.#watchOver()
      else this.#ping()
    })
  }

  #ping(): void {
    this.#stopPinging = this.#clock.after(this.#pingTimeoutMs, () => {
      this.destroy(`${this.endpoint} does not answer`)
    })
    const onAnswer = (): void => {
      if (this.#isGone) return
      this.#stopPinging?.()
      if (this.#calls > 0) this.#watchOver()
    }
    if (!this.#session.destroyed) this.#session.ping(onAnswer)
  }

  #leave(reason: string): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#gone.resolve(reason)
  }
}

/** Not before its request is on its way, for the reason that `RpcStream.close` gives. */
function resetOnceSent(stream: ClientHttp2Stream): void {
  if (stream.writableFinished || stream.destroyed) stream.close(constants.NGHTTP2_CANCEL)
  else
    stream.once('finish', () => {
      stream.close(constants.NGHTTP2_CANCEL)
    })
}

/** Our own socket, because a session that ends gently leaves its socket to the other side. */
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
