/**
 * What a manager runs beside its controllers.
 */
import type { ObjectCache } from '#cache'
import type { Client } from '#client'

/** What a runnable may use. */
export interface RunnableContext {
  /** For one that needs to lead: refuses writes from the moment on at which another replica may lead. */
  readonly client: Client
  readonly cache: ObjectCache
}

/** Runs until the signal aborts, then ends soon. If it throws, the whole manager stops with that. */
export type RunFunction = (signal: AbortSignal, context: RunnableContext) => Promise<void>

export interface Runnable {
  /** In logs, and in the report of what did not stop in time. */
  readonly name?: string
  readonly run: RunFunction
}

export interface RunnableOptions {
  /**
   * Whether it runs only while this process leads; it is then started again each time.
   *
   * @default true
   */
  readonly needsLeader?: boolean
  /** @default the runnable's own */
  readonly name?: string
}
