/**
 * What a reconcile returned, or threw, as an outcome for the queue.
 */
import { findCause, isApiError, isConflict } from '#api'
import type { Outcome } from '#queue'
import type { Reconciled, ReconcileResult } from '../declaration.ts'
import { isTerminalError } from './terminal-error.ts'

const resultFields: ReadonlySet<string> = new Set<keyof ReconcileResult>(['afterMs', 'priority', 'park'])

/** @throws {RangeError} when it is no result: `requeue: true` from habit, or something else altogether. */
export function outcomeOf(result: Reconciled): Outcome {
  if (result === undefined || result === null) return { kind: 'done' }
  if (typeof result !== 'object')
    throw new RangeError(`a reconcile gives nothing, { afterMs } or { park }, got ${typeof result}`)
  const unknown = Object.keys(result).find((name) => !resultFields.has(name))
  if (unknown !== undefined)
    throw new RangeError(
      `a reconcile gives nothing, { afterMs } or { park }, got ${JSON.stringify(unknown)}: to run again after a failure, throw; to run again later, give afterMs`,
    )
  const { afterMs, priority, park } = result
  if (park !== undefined && afterMs !== undefined)
    throw new RangeError('a reconcile gives afterMs or park, not both: parking waits for a change, however long')
  if (park !== undefined) return { kind: 'park', waitingFor: String(park) }
  return afterMs === undefined ? { kind: 'done' } : { kind: 'after', afterMs, priority }
}

/** What was thrown, whatever it is. */
export function failureOf(error: unknown): Outcome {
  if (isTerminalError(error)) return { kind: 'terminal', error }
  return isLostRace(error)
    ? { kind: 'conflict', error }
    : { kind: 'error', error: toError(error), leastMs: retryAfterMs(error) }
}

/** More than that is a mistake of whoever asks. */
const retryAfterMaxMs = 3_600_000
const causesMax = 5

/** How long a server that is too busy asked us to stay away; what wraps its answer does not hide it. */
function retryAfterMs(error: unknown): number | undefined {
  let each = error
  for (let depth = 0; depth < causesMax && each instanceof Error; depth++, each = each.cause) {
    if (!isApiError(each) || each.retryAfterMs === undefined) continue
    return each.code === 429 || each.code === 503 ? Math.min(each.retryAfterMs, retryAfterMaxMs) : undefined
  }
  return undefined
}

/** Somebody wrote the object in between. A field that another manager owns is no race: trying again does not help. */
export function isLostRace(error: unknown): boolean {
  return isConflict(error) && findCause(error, 'FieldManagerConflict') === undefined
}

/** People throw texts and nothing at all; whoever logs it wants a sentence. */
function toError(error: unknown): Error {
  if (error instanceof Error) return error
  const what =
    error === undefined ? 'nothing' : typeof error === 'string' ? error : (JSON.stringify(error) ?? typeof error)
  return new Error(`the reconcile threw ${what}`, { cause: error })
}

/** Mistakes in the code, which other languages would call a panic. */
export function isPanic(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError ||
    (error instanceof Error && error.name === 'AssertionError')
  )
}
