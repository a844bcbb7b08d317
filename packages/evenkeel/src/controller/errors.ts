/**
 * The errors of a reconcile: `TerminalError` (a retry does not help), `StopReconcile` (not a failure: something is
 * missing) and `RunAborted` (the reason of `context.signal`).
 */
import { isApiError, stringifyJson } from '#api'
import type { Reconciled } from './declaration.ts'

const terminalErrorBrand = Symbol.for('evenkeel.TerminalError')

/**
 * Thrown by a reconcile that cannot succeed with the object as it is. It is counted and logged, and not retried.
 *
 * Earlier failures stay counted: if a later run fails with an ordinary error, its back-off continues from there.
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'

  get [terminalErrorBrand](): true {
    return true
  }
}

/** Whether something thrown is a {@link TerminalError}, of this or another copy of the package. */
export function isTerminalError(error: unknown): error is TerminalError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { [terminalErrorBrand]?: unknown })[terminalErrorBrand] === true
  )
}

/**
 * Ends a reconcile that cannot continue and has not failed: something it needs does not exist yet.
 *
 * Thrown by verbs where an author reads what is missing, so that the code below need not check. The status is written;
 * steps that need a complete run, such as deleting children, do not happen.
 */
export class StopReconcile extends Error {
  override readonly name = 'StopReconcile'
  /** The result of the run: when to run again, or what it waits for. */
  readonly result: Reconciled

  constructor(message: string, { result = undefined }: { result?: Reconciled } = {}) {
    super(message)
    this.result = result
  }
}

export function isStopReconcile(error: unknown): error is StopReconcile {
  return error instanceof StopReconcile
}

/**
 * Why a run is aborted. Code that stops the workers aborts with one of these; any other reason counts as `shutdown`.
 *
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

/** Whether an error is a {@link RunAborted}, of this or another copy of the package. */
export function isRunAborted(error: unknown): error is RunAborted {
  return (
    typeof error === 'object' && error !== null && (error as { [runAbortedBrand]?: unknown })[runAbortedBrand] === true
  )
}

/** The reason of a stopped worker as the reason of its runs. */
export function toRunAborted(reason: unknown): RunAborted {
  return isRunAborted(reason) ? reason : new RunAborted('shutdown', { cause: reason })
}

/** User code may throw a string or nothing at all; the log needs an error. */
export function toError(error: unknown): Error {
  if (error instanceof Error) return error
  const text =
    error === undefined ? 'nothing' : typeof error === 'string' ? error : (stringifyJson(error) ?? typeof error)
  return new Error(`reconcile threw ${text}`, { cause: error })
}

const retryAfterMaxMs = 3_600_000

/** How long an overloaded server asked to wait, at most an hour; an error that wraps its answer does not hide it. */
export function retryAfterMs(error: unknown): number | undefined {
  let current = error
  for (let depth = 0; depth < 5 && current instanceof Error; depth++, current = current.cause) {
    if (!isApiError(current) || current.retryAfterMs === undefined) continue
    return current.code === 429 || current.code === 503 ? Math.min(current.retryAfterMs, retryAfterMaxMs) : undefined
  }
  return undefined
}
