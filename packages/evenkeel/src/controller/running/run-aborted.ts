/**
 * Why a reconcile that is under way should end: the reason of `context.signal`.
 *
 * Whoever stops the workers says why by aborting with one of these; any other reason counts as `shutdown`.
 */

/**
 * - `timeout`: it took longer than `timeoutMs`
 * - `deleted`: its object is gone or being deleted
 * - `superseded`: its object has a newer spec
 * - `shutdown`: the controller stops
 * - `lease-lost`: another process may have taken over
 */
export type AbortReason = 'timeout' | 'deleted' | 'superseded' | 'shutdown' | 'lease-lost'

const abortMessages: Readonly<Record<AbortReason, string>> = {
  timeout: 'the reconcile took too long',
  deleted: 'the object is gone or being deleted',
  superseded: 'the object has a newer spec',
  shutdown: 'the controller stops',
  'lease-lost': 'the lease is lost: another process may have taken over',
}

const runAbortedBrand = Symbol.for('evenkeel.RunAborted')

export class RunAborted extends Error {
  override readonly name = 'RunAborted'
  readonly abortReason: AbortReason

  constructor(why: AbortReason, options: ErrorOptions = {}) {
    super(abortMessages[why], options)
    this.abortReason = why
  }

  get [runAbortedBrand](): true {
    return true
  }
}

/** Whether something thrown says why a reconcile was to end, in this or another copy of the package. */
export function isRunAborted(error: unknown): error is RunAborted {
  return (
    typeof error === 'object' && error !== null && (error as { [runAbortedBrand]?: unknown })[runAbortedBrand] === true
  )
}

/** The reason of a stopped worker as the reason of its runs. */
export function toRunAborted(reason: unknown): RunAborted {
  return isRunAborted(reason) ? reason : new RunAborted('shutdown', { cause: reason })
}
