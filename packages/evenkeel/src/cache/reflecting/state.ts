/**
 * What a reflector is doing, for people and for readiness checks.
 */

/**
 * - `idle`: not begun, or stopped.
 * - `listing`: asking for everything, page by page.
 * - `catching up`: everything is on its way as a stream.
 * - `live`: following changes.
 * - `waiting`: something failed, see `error`; it will be tried again.
 * - `parked`: the server does not have the kind; it is asked now and then whether it came.
 */
export type ReflectorPhase = 'idle' | 'listing' | 'catching up' | 'live' | 'waiting' | 'parked'

export interface ReflectorState {
  readonly phase: ReflectorPhase
  /** When this phase began, on the wall clock, in milliseconds since 1970. */
  readonly sinceMs: number
  /** How far the stream has come; empty before the first list. */
  readonly version: string
  /** What failed last; undefined once it is live again. */
  readonly error: Error | undefined
  readonly counts: ReflectorCounts
}

/** What happened so far. */
export interface ReflectorCounts {
  readonly lists: number
  readonly streams: number
  readonly watches: number
  /** Watches that were given up because nothing was heard. */
  readonly silences: number
  readonly failures: number
}
