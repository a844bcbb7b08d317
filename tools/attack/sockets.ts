/**
 * Raw connections of an attacker: TLS to loopback, bytes counted, closed with the signal.
 *
 * Never more than one write waits for the server: the attacker's own memory stays small and the server is not sent more
 * than it takes.
 */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttackAddress, AttackUser } from './shape.ts'

const connectMs = 10_000

export class RawConnection {
  readonly #socket: TLSSocket
  readonly #closed: Promise<void>
  #received = ''
  #isClosed = false

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('error', () => undefined)
    this.#closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#isClosed = true
        resolve()
      })
    })
    socket.on('data', (piece: Buffer) => {
      if (this.#received.length < 1000) this.#received += piece.toString('latin1')
    })
  }

  /** A connection, or undefined when the server does not accept one. */
  static async open(
    { port, caPem }: AttackAddress,
    { signal, protocol = 'http/1.1' }: { signal: AbortSignal; protocol?: 'http/1.1' | 'h2' },
  ): Promise<RawConnection | undefined> {
    const socket = connect({ host: '127.0.0.1', port, ca: caPem, ALPNProtocols: [protocol] })
    const connection = new RawConnection(socket)
    const close = (): void => {
      socket.destroy()
    }
    signal.addEventListener('abort', close)
    socket.once('close', () => {
      signal.removeEventListener('abort', close)
    })
    const late = setTimeout(close, connectMs)
    const isOpen = await Promise.race([
      once(socket, 'secureConnect').then(() => true),
      connection.#closed.then(() => false),
    ]).catch(() => false)
    clearTimeout(late)
    return isOpen ? connection : undefined
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get bytes(): number {
    return this.#socket.bytesWritten
  }

  /** The status of an HTTP/1.1 response, or what became of the connection. */
  get status(): string {
    return /^HTTP\/1\.1 (\d+)/.exec(this.#received)?.[1] ?? (this.#isClosed ? 'closed' : 'open')
  }

  /** Writes; false when the server has closed the connection. */
  async write(data: string | Uint8Array): Promise<boolean> {
    if (this.#isClosed || this.#socket.destroyed) return false
    if (!this.#socket.write(data))
      await Promise.race([once(this.#socket, 'drain'), this.#closed]).catch(() => undefined)
    return !this.#isClosed
  }

  /** Stops reading: the server has to hold what it sends. */
  pause(): void {
    this.#socket.pause()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Waits for the end, at most so long. */
  async ended(withinMs: number): Promise<void> {
    const enough = new AbortController()
    await Promise.race([this.#closed, sleep(withinMs, undefined, { signal: enough.signal })]).catch(() => undefined)
    enough.abort()
  }
}

/** Several connections, opened one after the other; those that were not accepted are left out. */
export async function openMany(
  address: AttackAddress,
  count: number,
  options: { signal: AbortSignal; protocol?: 'http/1.1' | 'h2' },
): Promise<RawConnection[]> {
  const opened: RawConnection[] = []
  for (let index = 0; index < count && !options.signal.aborted; index++) {
    const connection = await RawConnection.open(address, options)
    if (connection) opened.push(connection)
  }
  return opened
}

export function bytesSent(connections: readonly RawConnection[]): number {
  return connections.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The head of an HTTP/1.1 request; without a user it has no credentials. */
export function headOf(
  { port, tokens }: AttackAddress,
  line: string,
  { user, fields = [] }: { user?: AttackUser; fields?: readonly string[] } = {},
): string {
  const credentials = user === undefined ? [] : [`authorization: Bearer ${tokens[user]}`]
  return [`${line} HTTP/1.1`, `host: 127.0.0.1:${port}`, ...credentials, ...fields, '', ''].join('\r\n')
}
