/**
 * Answers that go on, each on a connection of its own: made for lists of a hundred thousand objects that come as a watch.
 *
 * A general HTTP library makes a buffer, a stream event and a promise of every 16 KiB, which takes longer than
 * decrypting them. Here a socket reads to where the reader finds it, and what a turn brings goes to the reader as one piece.
 * Connections are not used again: a watch lasts minutes. No redirect is followed, nothing is compressed.
 *
 * Invariant: no byte goes out before the certificate of the server has been checked.
 */
import { connect as connectPlain, isIP } from 'node:net'
import type { Socket, TcpSocketConnectOpts } from 'node:net'
import { connect as connectTls, createSecureContext } from 'node:tls'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import { SystemClock } from '#base'
import type { WireResponse } from '#wire'
import type { TlsMaterial } from '../http.ts'
import { StreamCall } from './stream-call.ts'
import type { Intake } from './stream-call.ts'

interface StreamsOptions {
  /** `https://10.0.0.1:6443` */
  readonly origin: string
  readonly tls: TlsMaterial
  readonly connectTimeoutMs: number
  /** What a reader is told about an error of a socket. */
  readonly explain: (error: unknown) => unknown
}

interface StreamRequest {
  readonly method: string
  readonly target: string
  /** Each value on a line of its own. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly signal: AbortSignal
}

const keepAliveMs = 60_000
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const plainValue = /^[\t\x20-\x7e\x80-\xff]*$/
const plainTarget = /^[\x21-\x7e]+$/

export class Streams {
  readonly #options: StreamsOptions
  readonly #url: URL
  readonly #isSecure: boolean
  readonly #clock = new SystemClock()
  readonly #sockets = new Set<Socket>()
  #context: SecureContext | undefined

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#url = new URL(options.origin)
    this.#isSecure = this.#url.protocol === 'https:'
  }

  /**
   * Asks, and resolves with the head of the answer; its body comes in pieces that are lent.
   *
   * @throws {RangeError} when a part of the request would break out of its line.
   */
  async ask(request: StreamRequest): Promise<WireResponse> {
    const text = formatRequest(request, this.#url.host)
    const { connectTimeoutMs, explain } = this.#options
    const open = (intake: Intake): Socket => this.#connect(intake)
    return new StreamCall({ open, connected: this.#isSecure ? 'secureConnect' : 'connect', text, signal: request.signal, clock: this.#clock, connectTimeoutMs, explain }).answered
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) await new Promise((resolve) => { socket.once('close', resolve) })
  }

  /** Cuts off what is under way. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy(new Error('it was closed by its owner'))
  }

  #connect({ space, onBytes }: Intake): Socket {
    const { hostname, port } = this.#url
    const host = hostname.replace(/^\[|\]$/g, '')
    const callback = (count: number, bytes: Uint8Array): boolean => {
      onBytes((bytes as Buffer).subarray(0, count))
      return true
    }
    const place = { host, port: Number(port || (this.#isSecure ? 443 : 80)), noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs, onread: { buffer: space, callback } } satisfies TcpSocketConnectOpts
    const socket = this.#isSecure ? connectTls({ ...place, ...this.#secure(host) }) : connectPlain(place)
    this.#sockets.add(socket)
    socket.once('close', () => { this.#sockets.delete(socket) })
    return socket
  }

  #secure(host: string): ConnectionOptions {
    const { caPem, certPem, keyPem, serverName, insecureSkipVerify = false } = this.#options.tls
    this.#context ??= createSecureContext({ ...caPem !== undefined && { ca: caPem }, ...certPem !== undefined && { cert: certPem }, ...keyPem !== undefined && { key: keyPem } })
    // An address is no name that a server could be asked for.
    const servername = serverName ?? (isIP(host) === 0 ? host : undefined)
    return { secureContext: this.#context, rejectUnauthorized: !insecureSkipVerify, ALPNProtocols: ['http/1.1'], ...servername !== undefined && { servername } }
  }
}

function formatRequest({ method, target, headers }: StreamRequest, host: string): string {
  if (!token.test(method) || !plainTarget.test(target)) throw new RangeError(`not a request: ${JSON.stringify(`${method} ${target}`)}`)
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}`, 'connection: close']
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!token.test(name) || !plainValue.test(value)) throw new RangeError(`not a header field: ${JSON.stringify(name)}`)
      lines.push(`${name}: ${value}`)
    }
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
