/**
 * A request that got no answer: nobody there, no trust, cut off, too slow.
 *
 * An answer that refuses is an `ApiError`; this is what happens before there is an answer, or when one breaks off. The
 * message is one line that names the address, the cause and what to do. Recognised by a registered symbol, so errors of
 * another copy of this package count as well.
 */

/**
 * What went wrong:
 *
 * - `refused`: nobody listens there. Nothing was sent.
 * - `name`: the host name cannot be resolved. Nothing was sent.
 * - `certificate`: one side does not trust the other's certificate. Nothing was sent.
 * - `proxy`: the proxy did not let us through. Nothing was sent.
 * - `connect`: no connection in time, or no way there. Nothing was sent.
 * - `reset`: cut off while waiting or reading. A write may or may not have happened.
 * - `timeout`: no answer in time. A write may or may not have happened.
 * - `garbled`: what came back is not what was asked for.
 */
export type ConnectionProblem =
  | 'refused'
  | 'name'
  | 'certificate'
  | 'proxy'
  | 'connect'
  | 'reset'
  | 'timeout'
  | 'garbled'

export interface ConnectionErrorOptions {
  readonly problem: ConnectionProblem
  /** Who was called: `https://127.0.0.1:6443`; absent in process. */
  readonly address?: string | undefined
  readonly cause?: unknown
}

const brand = Symbol.for('evenkeel.ConnectionError')

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly problem: ConnectionProblem
  readonly address: string | undefined

  constructor(message: string, { problem, address, cause }: ConnectionErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.problem = problem
    this.address = address
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is a {@link ConnectionError}, of this or another copy of the package; of this problem, if one is given. */
export function isConnectionError(error: unknown, problem?: ConnectionProblem): error is ConnectionError {
  const isOurs = typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
  return isOurs && (problem === undefined || (error as ConnectionError).problem === problem)
}
