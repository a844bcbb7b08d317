/**
 * Where a controller's work comes from: anything that says which keys to look at.
 *
 * A source is a description and can be started more than once. Invariants of what it starts: it never waits for whoever
 * it tells, and after `stop` has resolved it tells nothing more.
 */
import type { AbortOptions, Clock, Logger, Metrics, Random } from '#base'
import type { CacheKey, ObjectCache } from '#cache'
import type { Cause } from '../ledger/cause.ts'

/** What a source tells, and whom. */
export interface SourceContext {
  readonly cache: ObjectCache
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Where a source counts what it wants to. @default nobody counts */
  readonly metrics?: Metrics | undefined
  /** Puts a key of the controller's kind into its queue. */
  enqueue(key: CacheKey, cause: Cause, options?: { priority?: number }): void
  /** Whether somebody wants to know which fields changed; finding out is work. */
  wantsChanges(key: CacheKey): boolean
  /** Counts what could not be mapped to keys. */
  onMapError(error: unknown): void
  onStaleOwner(): void
}

export interface StartedSource {
  readonly name: string
  /** Whether everything that was there at the start has been told. */
  readonly hasSynced: boolean
  /** Why it does not work, in words; undefined while it does. */
  readonly problem: string | undefined
  /** Resolves when everything that was there has been told, however long that takes. */
  waitForSync(options?: AbortOptions): Promise<void>
  stop(): Promise<void>
}

export interface Source {
  /** For logs and causes: `owns Deployment`, `files`. */
  readonly name: string
  start(context: SourceContext): StartedSource
}

/** A source that was added to a controller: see `addSource`. */
export interface AddedSource extends AsyncDisposable {
  readonly hasSynced: boolean
  waitForSync(options?: AbortOptions): Promise<void>
  /** Takes it away again; no event of it is passed on from now on. */
  remove(): Promise<void>
}
