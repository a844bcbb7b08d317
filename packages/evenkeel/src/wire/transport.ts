/**
 * The one function that client and server both know: a request goes in, a response comes out.
 *
 * A listener calls the server's with what arrived on a socket; the in-process transport *is* the server's; the HTTP
 * client makes one out of a connection; faults are a wrapper around one.
 *
 * - Header names are in lower case; a repeated header is joined by `, `. Those that say who is meant (`impersonate-…`,
 *   `x-remote-…`) are joined by a line break: the names of groups may have commas in them, but never that.
 * - A body is either there in whole (most are) or comes in pieces. Whoever reads pieces bounds them.
 * - `signal` aborts when the other side is gone: then nobody waits for the response.
 * - A streamed response ends by returning (clean end) or throwing (the connection is cut).
 */

export type WireHeaders = Readonly<Record<string, string>>

export interface WireRequest {
  /** In upper case. */
  readonly method: string
  /** Path and query as they were sent: `/api/v1/pods?limit=5`. */
  readonly target: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  /** Called when it leaves, after whatever it waited for; what it throws takes it back. In process it leaves at once. */
  readonly beforeSend?: () => void
  /** The reader of a streamed answer is done with a piece when it asks for the next: its memory may be used again. */
  readonly borrowsChunks?: true | undefined
  /** Who is on the other side of a socket; absent in process. */
  readonly peer?: WirePeer
}

export interface WirePeer {
  readonly address: string
  readonly encrypted: boolean
  /** The client certificate in DER, when one was shown and an authority that the listener trusts has signed it. */
  readonly certificate?: Uint8Array
  /** Who signed it, and who signed that, in DER; empty when the session was resumed. */
  readonly issuers?: readonly Uint8Array[]
  /** A client certificate was shown, and it is not good. */
  readonly certificateRefused?: true
}

export interface WireResponse {
  readonly status: number
  readonly headers: WireHeaders
  /** Pieces of an array are written one after the other without copying them together. */
  readonly body?: Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>
}

export type Transport = (request: WireRequest) => Promise<WireResponse>
