/**
 * What carries requests to one server over kept connections: directly (kept-connections.ts) or through a proxy
 * (proxy-connections.ts).
 *
 * `beforeSend` is called at the moment at which a request is written to its socket. The request may have waited for a
 * connection, and the process may have been suspended meanwhile, so what was true when it was made may no longer hold.
 * When it throws, nothing of the request is sent, and the connection stays.
 */
import type { WireHeaders, WireRequest } from '#wire'

export interface Carrier {
  /** Sends a request and resolves with the head of the response. Errors are those of sockets and TLS. */
  carry(request: CarrierRequest): Promise<CarrierResponse>
  /** Resolves when no request is active any more. */
  close(): Promise<void>
  /** Cuts off active requests; afterwards nothing is open. */
  destroy(): Promise<void>
}

export interface CarrierRequest extends Pick<WireRequest, 'method' | 'target' | 'body' | 'signal' | 'beforeSend'> {
  /** Each value is sent on a line of its own. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

export interface CarrierResponse {
  readonly status: number
  readonly headers: WireHeaders
  readonly pieces: AsyncIterable<Uint8Array>
  /** The body as a whole, instead of in pieces. */
  whole(): Promise<Uint8Array>
}
