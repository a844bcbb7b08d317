/**
 * The seam to the network: ports that this program listens on, and TCP connections as duplex byte streams. A real one is in
 * `os-network.ts`, a simulated one in `simulated-network.ts`; services know nothing else of the network.
 *
 * `listen` and `unlisten` take and return plain data, so that the Explorer can delay, fail and lose each call. Connections
 * are streams, which cannot be copied: they come and go by `connections`.
 *
 * Invariants of every network: `listen` succeeds where this program listens already; `unlisten` leaves accepted
 * connections alone; an accepted connection is paused until its receiver reads it; each direction of a connection ends
 * by itself; a writer that is faster than its reader is held back. The sockets of a program that was killed are closed.
 */
import type { Duplex } from 'node:stream'

export interface SocketAddress {
  readonly address: string
  readonly port: number
}

export interface Connection extends Duplex {
  /** Ends it so that the other side gets an error instead of an end. */
  resetAndDestroy(): unknown
}

/** Why nothing can listen there: a reason for a condition, and a sentence. */
export interface ListenFailure {
  readonly reason: string
  readonly message: string
}

/** Connections of this program. One subscriber at a time. */
export interface ConnectionFeed {
  /** Receives what is accepted. Replaces the earlier subscriber. Returns a function that ends the subscription. */
  subscribe(call: (connection: Connection, at: SocketAddress) => void): () => void
  /** Connects. @throws when nothing answers there, and the reason of the signal. */
  dial(to: SocketAddress, options: { readonly signal: AbortSignal }): Promise<Connection>
}

export interface Network {
  /** Never rejects for an address that cannot be used: that is a failure. */
  listen(at: SocketAddress): Promise<ListenFailure | undefined>
  /** Succeeds when nothing listens there. */
  unlisten(at: SocketAddress): Promise<void>
  readonly connections: ConnectionFeed
}

/** `127.0.0.1:80`, `[::1]:80` */
export function formatAddress({ address, port }: SocketAddress): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** The failure for an error code of `listen`. */
export function listenFailureOf(code: string | undefined, at: SocketAddress): ListenFailure {
  const where = formatAddress(at)
  switch (code) {
    case 'EADDRINUSE':
      return { reason: 'PortTaken', message: `port ${at.port} is taken: end its holder, or choose another port` }
    case 'EACCES':
      return {
        reason: 'PortForbidden',
        message: `this user may not listen on ${where}: choose a port above 1023, or grant the permission`,
      }
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return {
        reason: 'AddressNotAvailable',
        message: `this machine does not have the address ${at.address}: choose another one`,
      }
    default:
      return { reason: 'CannotListen', message: `cannot listen on ${where} (${code ?? 'unknown error'})` }
  }
}
