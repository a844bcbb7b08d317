/**
 * The listener: accepts connections, and passes their requests to a transport.
 *
 * One port serves HTTP/1.1 and, with TLS, HTTP/2 (by ALPN). HTTP/1.1 is parsed by this project, HTTP/2 by Node
 * (docs/decisions/transport.md). One timer checks the timeouts of all connections once a second, because a timer per
 * request would cost more than reading it.
 *
 * Invariants: only this machine can connect unless another address is configured; after `close` there is no socket,
 * timer or listener left; without connections there is no timer; an error on one connection never affects another.
 */
import type { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createTcpServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import {
  deferred,
  onAbort,
  silentLogger,
  SystemClock,
  type AbortOptions,
  type Cancel,
  type Clock,
  type Logger,
} from '#base'
import type { Transport, WirePeer } from '#wire'
import {
  withDefaultListenLimits,
  type ConnectionContext,
  type ListenLimits,
  type ServerConnection,
} from './connection.ts'
import { httpDates } from './http-date.ts'
import { Http1Connection } from './http1-connection.ts'
import { ConnectionLimiter, type AdmittedConnection } from './connection-limiter.ts'
import type { NodeHttp1 } from './node-http1.ts'
import { OutputPace } from './turn-budget.ts'
import { PendingOutput } from './pending-output.ts'

/** In PEM. */
interface ListenTls {
  readonly key: string
  readonly cert: string
  /** Trusted authorities of client certificates, concatenated; without any, no client certificate is requested. */
  readonly ca?: string
}

export interface ListenOptions {
  /**
   * The address to bind. Any address but loopback accepts requests from other machines.
   *
   * @default '127.0.0.1'
   */
  host?: string
  /**
   * 0 takes a free one.
   *
   * @default 0
   */
  port?: number
  /** Without it the listener serves plain HTTP/1.1. */
  tls?: ListenTls
  limits?: Partial<ListenLimits>
  /**
   * The HTTP/1.1 parser: that of this project, or Node's.
   *
   * @default 'own'
   */
  http?: 'own' | 'node'
  /**
   * @default the machine's clock
   */
  clock?: Clock
  /**
   * @default silent
   */
  log?: Logger
}

interface CloseOptions extends AbortOptions {
  /**
   * How long requests in flight may take to finish; after that, or when the signal aborts, they are cut off.
   *
   * @default 0
   */
  graceMs?: number
}

interface ListenerHandle {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  readonly port: number
  /** Open connections. */
  readonly connections: number
  /**
   * Accepts no more connections and requests; resolves when all are closed. The server, not the listener, ends streamed
   * responses.
   */
  close(options?: CloseOptions): Promise<void>
}

/**
 * Binds the address and serves until closed.
 *
 * @throws errors of binding: `EADDRINUSE`, `EACCES`.
 */
export async function listen(
  transport: Transport,
  {
    host = '127.0.0.1',
    port = 0,
    tls,
    limits: given = {},
    http = 'own',
    clock = new SystemClock(),
    log = silentLogger,
  }: ListenOptions = {},
): Promise<ListenerHandle> {
  if (http !== 'own' && http !== 'node') throw new RangeError(`http must be 'own' or 'node', got ${String(http)}`)
  const limits = withDefaultListenLimits(given)
  const nodeHttp1 = http === 'node' ? new (await import('./node-http1.ts')).NodeHttp1(limits) : undefined
  const listener = new Listener(transport, { tls, limits, nodeHttp1, clock, log })
  await listener.open(host, port)
  return listener
}

interface ListenerOptions {
  readonly tls: ListenTls | undefined
  readonly limits: ListenLimits
  readonly nodeHttp1: NodeHttp1 | undefined
  readonly clock: Clock
  readonly log: Logger
}

const tcpOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }

class Listener implements ListenerHandle {
  readonly #transport: Transport
  readonly #options: ListenerOptions
  readonly #server: Server
  readonly #sweeper: Sweeper
  readonly #date: () => string
  readonly #acceptedSockets = new Map<string, AcceptedSocket>()
  readonly #limiter: ConnectionLimiter
  readonly #pending: PendingOutput
  readonly #pace: OutputPace
  #isClosing = false
  #closing: Promise<void> | undefined
  /** Resolves when the last connection has closed, after `close` was called. */
  readonly #empty = deferred<undefined>()

  constructor(transport: Transport, options: ListenerOptions) {
    this.#transport = transport
    this.#options = options
    this.#sweeper = new Sweeper(options.clock)
    this.#limiter = new ConnectionLimiter(options.limits)
    this.#pending = new PendingOutput(options.limits.unsentBytesMax)
    this.#pace = new OutputPace(options.clock)
    this.#date = httpDates(options.clock)
    this.#server = options.tls ? this.#tlsServer(options.tls) : createTcpServer(tcpOptions)
    this.#server.on('connection', (socket) => {
      this.#onSocket(socket)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0
  }

  get url(): string {
    const { address = '', port = 0 } = (this.#server.address() as AddressInfo | null) ?? {}
    return `${this.#options.tls ? 'https' : 'http'}://${isIPv6(address) ? `[${address}]` : address}:${port}`
  }

  get connections(): number {
    return this.#acceptedSockets.size
  }

  async open(host: string, port: number): Promise<void> {
    this.#server.listen({ host, port })
    await once(this.#server, 'listening')
    this.#server.on('error', (error) => {
      this.#options.log.error('listener failed', { error })
    })
  }

  close({ graceMs = 0, signal }: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close()
    const cutOff = (): void => {
      for (const { socket } of this.#acceptedSockets.values()) socket.destroy()
    }
    const cancel = this.#options.clock.after(graceMs, cutOff)
    const stop = onAbort(signal, cutOff)
    return this.#closing.finally(() => {
      cancel()
      stop()
    })
  }

  async #close(): Promise<void> {
    this.#isClosing = true
    const closed = deferred<undefined>()
    this.#server.close(() => {
      closed.resolve(undefined)
    })
    for (const { connection } of this.#acceptedSockets.values()) connection?.retire()
    await closed.promise
    if (this.#acceptedSockets.size > 0) await this.#empty.promise
  }

  #tlsServer({ key, cert, ca }: ListenTls): Server {
    const trust = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false }
    const server = createTlsServer({
      ...tcpOptions,
      key,
      cert,
      ...trust,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    server.on('tlsClientError', (error) => {
      this.#options.log.debug('TLS handshake failed', { error })
    })
    server.on('secureConnection', (socket) => {
      const accepted = this.#acceptedSockets.get(nameOf(socket))
      if (accepted) this.#connect(accepted, socket)
      else socket.destroy()
    })
    return server
  }

  #onSocket(socket: Socket): void {
    const admitted = this.#limiter.admit(socket)
    if (!admitted) {
      socket.destroy()
      return
    }
    const name = nameOf(socket)
    const deadlineMs = this.#options.clock.monotonic() + this.#options.limits.headMs
    const accepted = new AcceptedSocket(socket, { admitted, deadlineMs })
    this.#acceptedSockets.set(name, accepted)
    this.#sweeper.add(accepted)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#acceptedSockets.delete(name)
      this.#sweeper.delete(accepted)
      if (this.#isClosing && this.#acceptedSockets.size === 0) this.#empty.resolve(undefined)
    })
    if (!this.#options.tls) this.#connect(accepted, socket)
  }

  #connect(accepted: AcceptedSocket, socket: Socket | TLSSocket): void {
    const { limits, clock, log } = this.#options
    const { admitted } = accepted
    const onAuthenticated = (user: string): void => {
      admitted.identify(user)
    }
    const peer = { ...peerOf(socket), onAuthenticated }
    const context = {
      transport: this.#transport,
      limits,
      clock,
      log,
      date: this.#date,
      peer,
      held: admitted.held,
      pending: this.#pending,
      pace: this.#pace,
    }
    if (isTls(socket) && socket.alpnProtocol === 'h2') {
      this.#connectHttp2(accepted, socket, context)
      return
    }
    const { nodeHttp1 } = this.#options
    accepted.connection = nodeHttp1 ? nodeHttp1.connect(socket, context) : new Http1Connection(socket, context)
    if (this.#isClosing) accepted.connection.retire()
  }

  /** HTTP/2 is loaded for its first client. No data is lost meanwhile: it stays in the unread socket. */
  #connectHttp2(accepted: AcceptedSocket, socket: TLSSocket, context: ConnectionContext): void {
    import('./http2-connection.ts')
      .then(({ Http2Connection }) => {
        if (socket.destroyed) return
        accepted.connection = new Http2Connection(socket, context)
        if (this.#isClosing) accepted.connection.retire()
      })
      .catch((error: unknown) => {
        this.#options.log.error('cannot load HTTP/2', { error })
        socket.destroy()
      })
  }
}

/** A TCP socket and, after the handshake, its protocol. */
class AcceptedSocket {
  readonly socket: Socket
  connection: ServerConnection | undefined
  readonly admitted: AdmittedConnection
  readonly #deadlineMs: number

  constructor(socket: Socket, { admitted, deadlineMs }: { admitted: AdmittedConnection; deadlineMs: number }) {
    this.socket = socket
    this.admitted = admitted
    this.#deadlineMs = deadlineMs
  }

  expire(nowMs: number): void {
    if (this.connection) this.connection.expire(nowMs)
    else if (nowMs >= this.#deadlineMs) this.socket.destroy()
  }
}

/** The remote address is the same for a TCP socket and the TLS socket on top of it, and unique among open ones. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`
}

function isTls(socket: Socket | TLSSocket): socket is TLSSocket {
  return 'alpnProtocol' in socket
}

function peerOf(socket: Socket | TLSSocket): WirePeer {
  const address = socket.remoteAddress ?? ''
  if (!isTls(socket)) return { address, encrypted: false }
  const shown = socket.getPeerX509Certificate()
  if (shown === undefined) return { address, encrypted: true }
  return socket.authorized
    ? { address, encrypted: true, certificate: shown.raw, issuers: issuersOf(shown) }
    : { address, encrypted: true, certificateRefused: true }
}

/** The verified chain; bounded, because the client decides its length. */
function issuersOf(shown: X509Certificate): Uint8Array[] {
  const issuers: Uint8Array[] = []
  for (let issuer = shown.issuerCertificate; issuer && issuers.length < chainMax; issuer = issuer.issuerCertificate)
    issuers.push(issuer.raw)
  return issuers
}

const chainMax = 8

// The timeout check of all connections.

interface Sweepable {
  expire(nowMs: number): void
}

const intervalMs = 1_000

class Sweeper {
  readonly #clock: Clock
  readonly #swept = new Set<Sweepable>()
  #cancel: Cancel | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(one: Sweepable): void {
    this.#swept.add(one)
    this.#arm()
  }

  delete(one: Sweepable): void {
    this.#swept.delete(one)
    if (this.#swept.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(intervalMs, () => {
      this.#cancel = undefined
      const nowMs = this.#clock.monotonic()
      for (const one of this.#swept) one.expire(nowMs)
      if (this.#swept.size > 0) this.#arm()
    })
  }
}
