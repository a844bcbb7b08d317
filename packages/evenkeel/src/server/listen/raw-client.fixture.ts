/**
 * A client that sends raw bytes, valid or not, and collects the response.
 */
import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { deferred, identityCheck } from '#base'

export class RawClient {
  readonly socket: Socket
  /** Everything received so far, one character per byte. */
  text = ''
  readonly closed: Promise<undefined>
  #isEnded = false
  #waiting:
    | {
        readonly isReached: (text: string) => boolean
        readonly resolve: (text: string) => void
        readonly reject: (error: Error) => void
      }
    | undefined

  constructor(
    url: string,
    { ca, session, alpn = ['http/1.1'] }: { ca?: string; session?: Buffer; alpn?: string[] } = {},
  ) {
    const { hostname, port, protocol } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    this.socket =
      protocol === 'https:'
        ? connectTls({ host, port: Number(port), ...identityCheck(host), ca, session, ALPNProtocols: alpn })
        : connectTcp({ host, port: Number(port) })
    const closed = deferred<undefined>()
    this.closed = closed.promise
    this.socket.on('error', () => undefined)
    this.socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1')
      this.#check()
    })
    this.socket.on('close', () => {
      this.#isEnded = true
      this.#check()
      closed.resolve(undefined)
    })
  }

  send(text: string): this {
    this.socket.write(text, 'latin1')
    return this
  }

  /** Resolves with everything received once it contains the text this many times, or matches. */
  until(wanted: string | RegExp, times = 1): Promise<string> {
    const isReached = (text: string): boolean =>
      typeof wanted === 'string' ? text.split(wanted).length > times : wanted.test(text)
    return new Promise((resolve, reject) => {
      this.#waiting = { isReached, resolve, reject }
      this.#check()
    })
  }

  /** Everything received until the server closed the connection. */
  async all(): Promise<string> {
    await this.closed
    return this.text
  }

  #check(): void {
    const waiting = this.#waiting
    if (!waiting) return
    if (waiting.isReached(this.text)) {
      this.#waiting = undefined
      waiting.resolve(this.text)
    } else if (this.#isEnded) {
      this.#waiting = undefined
      waiting.reject(new Error(`closed after ${JSON.stringify(this.text)}`))
    }
  }
}
