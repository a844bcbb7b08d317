/**
 * Requests that turn their connection into one of another protocol, such as a WebSocket: each on a connection of its own.
 *
 * The response has the status 101 and `upgrade`: bytes for the server go in there, and those of the server are the body.
 * Any other status is a response like others. There is no way through a proxy yet.
 *
 * Invariant: no byte is sent before the certificate of the server was checked.
 */
import { request as requestHttp } from 'node:http'
import { responseTo, type WireResponse } from '#wire'
import type { CarrierRequest } from './carrier.ts'
import type { Dialer } from './dialer.ts'

export class UpgradedConnections {
  readonly #dialer: Dialer

  constructor(dialer: Dialer) {
    this.#dialer = dialer
  }

  request({ method, target, headers, signal, beforeSend }: CarrierRequest): Promise<WireResponse> {
    beforeSend?.()
    const sent = requestHttp({
      method,
      path: target,
      headers: { host: this.#dialer.host, ...headers },
      // Without an agent: it would connect by itself. A TLS socket holds back what is written until the handshake is over.
      // Node listens for errors only until it has an answer.
      createConnection: () => this.#dialer.dial().on('error', () => undefined),
    })
    sent.end()
    return responseTo(sent, { method, signal })
  }

  /** Resolves when no connection is open any more. */
  close(): Promise<void> {
    return this.#dialer.closed()
  }

  destroy(): void {
    this.#dialer.destroy()
  }
}
