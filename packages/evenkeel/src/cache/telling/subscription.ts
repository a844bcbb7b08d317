/**
 * A handler's place at an informer: what it asked for, and how it leaves.
 */
import type { AbortOptions } from '#base'

export interface HandlerOptions {
  /**
   * Tells every object again after about this long (10 % more or less, so that not all do it at once), without asking
   * the server; 0 for never. For controllers whose world also changes outside the server.
   *
   * @default 0
   */
  resyncMs?: number
  /**
   * Leaves out events that are exactly what we wrote ourselves: see `noteWrite`. What anybody else had a part in is told.
   *
   * @default false
   */
  skipOwn?: boolean
}

export interface Subscription {
  /** Whether the handler has heard of all that was there when it came. */
  readonly hasSynced: boolean
  /** Objects of which the handler has something to hear. */
  readonly backlog: number
  /** Resolves when the handler has heard of all that was there. */
  waitForSync(options?: AbortOptions): Promise<void>
  /** Leaves. No call begins from now on; resolves when the call under way, if any, has ended. Do not wait for it inside the handler. */
  remove(): Promise<void>
}
