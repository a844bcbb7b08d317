/**
 * The end of a reconcile that cannot go on and has not failed: something it needs is not there yet.
 *
 * Thrown by verbs where an author asks for what is missing, so that the lines below need not think of it. What was said
 * about the status is written; nothing that depends on a whole run (taking away children, for one) happens.
 */
import type { Reconciled } from '../declaration.ts'

export class StopReconcile extends Error {
  override readonly name = 'StopReconcile'
  /** What the run gives instead: when to look again, or what it waits for. */
  readonly result: Reconciled

  constructor(message: string, { result = undefined }: { result?: Reconciled } = {}) {
    super(message)
    this.result = result
  }
}

export function isStopReconcile(error: unknown): error is StopReconcile {
  return error instanceof StopReconcile
}
