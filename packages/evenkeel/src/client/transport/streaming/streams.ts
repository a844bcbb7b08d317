/**
 * Answers that go on, each on a connection of its own: made for lists of a hundred thousand objects that come as a watch.
 *
 * A general HTTP library makes a buffer, a stream event and a promise of every 16 KiB, which takes longer than
 * decrypting them. Here a socket reads to where the reader finds it, and what a turn brings goes to the reader as one piece.
 * Connections are not used again: a watch lasts minutes. No redirect is followed, nothing is compressed.
 *
 * Invariant: no byte goes out before the certificate of the server has been checked.
 */
import type { Socket } from 'node:net'
import { SystemClock } from '#base'
import type { WireResponse } from '#wire'
import type { Dialer } from '../carrying/dialer.ts'
import { StreamCall } from './stream-call.ts'
import type { SocketSink } from './stream-call.ts'

interface StreamConnectionsOptions {
  readonly dialer: Dialer
  /** What a reader is told about an error of a socket. */
  readonly explain: (error: unknown) => unknown
}

interface StreamRequest {
  readonly method: string
  readonly target: string
  /** Each value on a line of its own. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly signal: AbortSignal
  /** Whether the reader is done with a piece when it asks for the next. */
  readonly isLent: boolean
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const plainValue = /^[\t\x20-\x7e\x80-\xff]*$/
const plainTarget = /^[\x21-\x7e]+$/

export class StreamConnections {
  readonly #options: StreamConnectionsOptions
  readonly #clock = new SystemClock()

  constructor(options: StreamConnectionsOptions) {
    this.#options = options
  }

  /**
   * Asks, and resolves with the head of the answer; its body comes in pieces, which are lent if that is said.
   *
   * @throws {RangeError} when a part of the request would break out of its line.
   */
  async request(request: StreamRequest): Promise<WireResponse> {
    const { dialer, explain } = this.#options
    const text = formatRequest(request, dialer.host)
    const open = ({ space, onBytes }: SocketSink): Socket =>
      dialer.dial({
        onread: {
          buffer: space,
          callback(count, bytes) {
            onBytes((bytes as Buffer).subarray(0, count))
            return true
          },
        },
      })
    const onConnected = (socket: Socket, callback: () => void): void => {
      dialer.onConnected(socket, callback)
    }
    return new StreamCall({
      open,
      onConnected,
      text,
      isLent: request.isLent,
      signal: request.signal,
      clock: this.#clock,
      explain,
    }).answered
  }

  /** Resolves when nothing is under way any more. */
  close(): Promise<void> {
    return this.#options.dialer.closed()
  }

  /** Cuts off what is under way. */
  destroy(): void {
    this.#options.dialer.destroy()
  }
}

function formatRequest({ method, target, headers }: StreamRequest, host: string): string {
  if (!token.test(method) || !plainTarget.test(target))
    throw new RangeError(`not a request: ${JSON.stringify(`${method} ${target}`)}`)
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}`, 'connection: close']
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!token.test(name) || !plainValue.test(value))
        throw new RangeError(`not a header field: ${JSON.stringify(name)}`)
      lines.push(`${name}: ${value}`)
    }
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
