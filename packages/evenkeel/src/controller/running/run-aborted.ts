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
export type AbortWhy = 'timeout' | 'deleted' | 'superseded' | 'shutdown' | 'lease-lost'

const sentences: Readonly<Record<AbortWhy, string>> = {
  timeout: 'the reconcile took too long',
  deleted: 'the object is gone or being deleted',
  superseded: 'the object has a newer spec',
  shutdown: 'the controller stops',
  'lease-lost': 'the lease is lost: another process may have taken over',
}

const brand = Symbol.for('evenkeel.RunAborted')

export class RunAborted extends Error {
  override readonly name = 'RunAborted'
  readonly why: AbortWhy

  constructor(why: AbortWhy, options: ErrorOptions = {}) {
    super(sentences[why], options)
    this.why = why
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown says why a reconcile was to end, in this or another copy of the package. */
export function isRunAborted(error: unknown): error is RunAborted {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}

/** The reason of a stopped worker as the reason of its runs. */
export function toRunAborted(reason: unknown): RunAborted {
  return isRunAborted(reason) ? reason : new RunAborted('shutdown', { cause: reason })
}
