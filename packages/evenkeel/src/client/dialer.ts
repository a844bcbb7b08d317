/**
 * Opens connections to one server: whom to trust, our certificate, and the timeout.
 *
 * Invariants: a connection counts as connected only after the certificate of the server was checked; all open ones are
 * known, so that they can be cut off.
 */
import { connect as connectPlain, isIP } from 'node:net'
import type { OnReadOpts, Socket, TcpSocketConnectOpts } from 'node:net'
import { connect as connectTls, createSecureContext } from 'node:tls'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import { identityCheck } from '#base'
import type { Clock } from '#base'

/** Whom to trust, and our certificate. Compared by identity. */
export interface TlsMaterial {
  /** The authorities to trust, in PEM. @default those that Node trusts */
  readonly caPem?: string
  readonly certPem?: string
  readonly keyPem?: string
  /** The name that the server's certificate must have. @default the host of its address */
  readonly serverName?: string
  /** Accept any certificate. For tests only. @default false */
  readonly insecureSkipVerify?: boolean
}

interface DialerOptions {
  /** `https://10.0.0.1:6443` */
  readonly origin: string
  readonly tls: TlsMaterial
  readonly connectTimeoutMs: number
  readonly clock: Clock
}

interface DialOptions {
  /** A buffer to read into, instead of a stream. */
  readonly onread?: OnReadOpts
}

const keepAliveMs = 60_000

export class Dialer {
  readonly #options: DialerOptions
  readonly #url: URL
  readonly #isSecure: boolean
  readonly #sockets = new Set<Socket>()
  #context: SecureContext | undefined

  constructor(options: DialerOptions) {
    this.#options = options
    this.#url = new URL(options.origin)
    this.#isSecure = this.#url.protocol === 'https:'
  }

  /** The value of the Host header. */
  get host(): string {
    return this.#url.host
  }

  /** Starts to connect. A socket that takes too long fails with `ETIMEDOUT`. */
  dial({ onread }: DialOptions = {}): Socket {
    const { hostname, port } = this.#url
    const host = hostname.replace(/^\[|\]$/g, '')
    const place = {
      host,
      port: Number(port || (this.#isSecure ? 443 : 80)),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
      ...(onread && { onread }),
    } satisfies TcpSocketConnectOpts
    const socket = this.#isSecure ? connectTls({ ...place, ...this.#secure(host) }) : connectPlain(place)
    const stopTimer = this.#options.clock.after(this.#options.connectTimeoutMs, () => {
      socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }))
    })
    this.#sockets.add(socket)
    this.onConnected(socket, stopTimer)
    socket.once('close', () => {
      stopTimer()
      this.#sockets.delete(socket)
    })
    return socket
  }

  /** Calls back when a request may be sent; at once when it is connected. */
  onConnected(socket: Socket, callback: () => void): void {
    const isReady = this.#isSecure
      ? (socket as { secureConnecting?: boolean }).secureConnecting === false
      : !socket.connecting
    if (isReady) callback()
    else socket.once(this.#isSecure ? 'secureConnect' : 'connect', callback)
  }

  /** Resolves when all connections are closed. */
  async closed(): Promise<void> {
    for (const socket of this.#sockets)
      await new Promise((resolve) => {
        socket.once('close', resolve)
      })
  }

  /** Cuts off all connections. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy(new Error('the connection was closed by its owner'))
  }

  #secure(host: string): ConnectionOptions {
    const { caPem, certPem, keyPem, serverName, insecureSkipVerify = false } = this.#options.tls
    this.#context ??= createSecureContext({
      ...(caPem !== undefined && { ca: caPem }),
      ...(certPem !== undefined && { cert: certPem }),
      ...(keyPem !== undefined && { key: keyPem }),
    })
    // An IP address is no valid server name (SNI).
    const servername = serverName ?? (isIP(host) === 0 ? host : undefined)
    return {
      secureContext: this.#context,
      rejectUnauthorized: !insecureSkipVerify,
      ALPNProtocols: ['http/1.1'],
      ...(servername === undefined ? identityCheck(host) : { servername }),
    }
  }
}
