/**
 * An error that trying again does not help: the key waits until its object changes.
 */

const terminalErrorBrand = Symbol.for('evenkeel.TerminalError')

/**
 * Thrown by a reconcile that cannot succeed with the object as it is. It is counted and logged, and not retried.
 *
 * Failures so far stay counted: if a later run fails in the ordinary way, its wait goes on from there.
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
