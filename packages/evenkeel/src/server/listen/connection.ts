/**
 * The interface between the listener and its connections, for every protocol, with the limits of a connection.
 */
import { heapShare, type Clock, type Logger } from '#base'
import type { Transport, WirePeer } from '#wire'
import type { HeldBytes } from './held-bytes.ts'
import type { OutputPace } from './turn-budget.ts'
import type { PendingOutput } from './pending-output.ts'

export interface ServerConnection {
  /** Accepts no more requests; closes when those in flight are answered. */
  retire(): void
  /** Called once a second: enforces timeouts. */
  expire(nowMs: number): void
}

export interface ConnectionContext {
  readonly transport: Transport
  readonly limits: ListenLimits
  readonly clock: Clock
  readonly log: Logger
  /** The value of the `date` header. */
  readonly date: () => string
  readonly peer: WirePeer
  /** What waits for slow clients, of all connections. */
  readonly pending: PendingOutput
  /** What all connections write in one turn. */
  readonly pace: OutputPace
  /** What this connection holds unread. */
  readonly held: HeldBytes
}

/** How long a connection that the server closed may linger, and how much it may still send meanwhile. */
export const lingerMs = 2_000
export const lingerBytesMax = 1_048_576

// Limits that apply before authentication. Times are checked once a second (see `Sweeper`), so each may last up to a
// second longer.

export interface ListenLimits {
  /**
   * Open connections. A further one takes the place of the oldest on which nobody has shown credentials, or that its user
   * has beyond half of this number; if there is no such connection, it is dropped.
   *
   * @default 10_000
   */
  readonly connectionsMax: number
  /**
   * Open connections from one address, so that no single machine can take all of them. The same rule applies.
   *
   * @default 7_500
   */
  readonly connectionsPerAddressMax: number
  /**
   * Method, target and version of HTTP/1.1 together.
   *
   * @default 16_384
   */
  readonly requestLineBytesMax: number
  /**
   * The size of the request head.
   *
   * @default 65_536
   */
  readonly headBytesMax: number
  /**
   * Header fields of one request.
   *
   * @default 200
   */
  readonly headFieldsMax: number
  /**
   * From the first byte of a connection or request to the end of its head, TLS handshake included.
   *
   * @default 10_000
   */
  readonly headMs: number
  /**
   * Without any byte of a body that is being read.
   *
   * @default 30_000
   */
  readonly bodyIdleMs: number
  /**
   * From the first wait for a body until it must arrive at {@link bodyBytesPerSecondMin}. Also the longest time in which
   * a client may send the rest of a body that nobody reads.
   *
   * @default 10_000
   */
  readonly bodyGraceMs: number
  /**
   * The least rate of a body, on average.
   *
   * @default 4_096
   */
  readonly bodyBytesPerSecondMin: number
  /**
   * Between two requests of one connection.
   *
   * @default 90_000
   */
  readonly keepAliveMs: number
  /**
   * With data to send that the client does not read.
   *
   * @default 60_000
   */
  readonly writeStallMs: number
  /**
   * Bytes of one body that are buffered before its handler reads them.
   *
   * @default 65_536
   */
  readonly unreadBodyBytesMax: number
  /**
   * Bytes that arrived on one connection and are not read yet: heads, and bodies whose handler waits.
   *
   * @default 1_048_576
   */
  readonly unreadBytesPerConnectionMax: number
  /**
   * Unread bytes of all connections together. Those of one user may have a quarter of it.
   *
   * @default 1/24 of the largest size of the heap, at most 67_108_864
   */
  readonly unreadBytesMax: number
  /**
   * Bytes of responses that wait for clients that do not read, of all connections together. Above it the slowest ones are
   * disconnected.
   *
   * @default 1/24 of the largest size of the heap, at most 67_108_864
   */
  readonly unsentBytesMax: number
  /**
   * Requests in flight on one HTTP/2 connection; clients open another connection for more.
   *
   * @default 250
   */
  readonly streamsMax: number
  /**
   * A burst of cancelled requests, pings, settings and tiny frames on one HTTP/2 connection; 30 per second are forgiven.
   * Node disconnects a client after 1,000 cancelled requests, and does not say why.
   *
   * @default 500
   */
  readonly nuisancesMax: number
}

const defaultListenLimits: Omit<ListenLimits, 'unreadBytesMax' | 'unsentBytesMax'> = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 7_500,
  requestLineBytesMax: 16_384,
  headBytesMax: 65_536,
  headFieldsMax: 200,
  headMs: 10_000,
  bodyIdleMs: 30_000,
  bodyGraceMs: 10_000,
  bodyBytesPerSecondMin: 4_096,
  keepAliveMs: 90_000,
  writeStallMs: 60_000,
  unreadBodyBytesMax: 65_536,
  unreadBytesPerConnectionMax: 1_048_576,
  streamsMax: 250,
  nuisancesMax: 500,
}

/** The given limits, with defaults for the rest. */
export function withDefaultListenLimits(given: Partial<ListenLimits>): ListenLimits {
  const heldMax = heapShare(1 / 24, { max: 67_108_864 })
  const limits = { ...defaultListenLimits, unreadBytesMax: heldMax, unsentBytesMax: heldMax, ...given }
  for (const [name, limit] of Object.entries(limits)) {
    if (!(Number.isSafeInteger(limit) && limit > 0))
      throw new RangeError(`${name} must be a whole number above 0, got ${String(limit)}`)
  }
  return limits
}
