/**
 * Why a key was put into the queue, and who was behind it.
 *
 * Causes are for people: logs, traces, "why did this run?". A reconcile must come to the same end without them.
 */

/** `event`: an outside source. `request`: somebody asked for it. `retry`: it failed. `timer`: it asked for it itself. */
export type CauseType = 'add' | 'update' | 'delete' | 'resync' | 'event' | 'request' | 'retry' | 'timer'

export interface Cause {
  readonly type: CauseType
  /** Where it came from: `for Website`, `owns Deployment`, the name of a channel. */
  readonly source: string
  /** The canonical key of the object that changed. */
  readonly object?: string
  /** The version that the object came to. */
  readonly resourceVersion?: string
  /** It was there when we came. */
  readonly isInitial?: boolean
  /** In the words of whoever asked. */
  readonly note?: string
  /** Which fields changed; looked at only where a loop is suspected. */
  readonly changed?: readonly string[]
}

/** Who wrote the version that a cause is about. */
export interface Writer {
  readonly reconcileId: string
  readonly controller: string
  readonly key: string
}

/** A cause, with the reconcile that brought it about if it was one of ours. */
export interface RunCause extends Cause {
  readonly writer?: Writer
}
