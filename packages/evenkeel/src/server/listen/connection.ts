/**
 * What the listener knows of a connection, whatever it speaks, and what every connection is given.
 */
import type { Clock, Logger } from '#base'
import type { Transport, WirePeer } from '#wire'
import type { ListenLimits } from './limits.ts'

export interface ServerConnection {
  /** Takes no more requests; closes once those under way are answered. */
  retire(): void
  /** Called once a second: ends what takes too long. */
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
}

/** How long a connection that we closed may take to notice, and how much it may still send meanwhile. */
export const lingerMs = 2_000
export const lingerBytesMax = 1_048_576
