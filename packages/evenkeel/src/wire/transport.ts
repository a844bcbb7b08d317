/**
 * The transport: one function from request to response, shared by client and server.
 *
 * A listener calls the transport of the server with what arrived on a socket; an in-process client calls it directly; the
 * HTTP client is a transport over a connection; fault injection wraps a transport.
 *
 * - Header names are in lower case; the values of a repeated header are joined by `, `. Identity headers
 *   (`impersonate-…`, `x-remote-…`) are joined by a line break, because group names may contain commas.
 * - A body is complete (mostly) or a stream of chunks. The reader of a stream limits its size.
 * - `signal` aborts when the other side has disconnected and no longer waits for the response.
 * - A streamed response ends by returning (clean end) or by throwing (the connection is aborted).
 */

export type WireHeaders = Readonly<Record<string, string>>

export interface WireRequest {
  /** In upper case. */
  readonly method: string
  /** Path and query as sent: `/api/v1/pods?limit=5`. */
  readonly target: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  /** Called right before the request is sent, after any queueing; an error thrown here cancels it. In process it is sent at once. */
  readonly beforeSend?: () => void
  /** The reader of a streamed response does not use a chunk after it asks for the next, so its memory may be reused. */
  readonly borrowsChunks?: true | undefined
  /** The other side of the socket; absent in process. */
  readonly peer?: WirePeer
}

export interface WirePeer {
  readonly address: string
  readonly encrypted: boolean
  /** The client certificate in DER, when one was presented and is signed by a trusted authority. */
  readonly certificate?: Uint8Array
  /** The chain of its issuers in DER; empty when the session was resumed. */
  readonly issuers?: readonly Uint8Array[]
  /** A client certificate was presented, but it is invalid. */
  readonly certificateRefused?: true
  /** Called when a request of the connection has shown valid credentials: the connection is that of a known user. */
  readonly onAuthenticated?: (user: string) => void
}

export interface WireResponse {
  readonly status: number
  readonly headers: WireHeaders
  /** The chunks of an array are written one after the other, without concatenation. */
  readonly body?: Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>
  /** The body is sent as it is: never compressed. */
  readonly isFinal?: true
  /** With status 101: the connection speaks another protocol from now on. */
  readonly upgrade?: WireUpgrade
}

/** The protocol of a connection after its upgrade. */
export interface WireUpgrade {
  /** The value of the `upgrade` header: `websocket`. */
  readonly protocol: string
  /** The bytes to send for a piece of the body. */
  encode(piece: Uint8Array): Uint8Array
  /** Takes bytes of the client. No more are read before `ready` resolves. */
  receive(bytes: Uint8Array): {
    readonly reply?: Uint8Array
    readonly isOver?: boolean
    readonly ready?: Promise<unknown>
  }
  /** The last bytes that are sent. */
  readonly closing: Uint8Array
}

export type Transport = (request: WireRequest) => Promise<WireResponse>
