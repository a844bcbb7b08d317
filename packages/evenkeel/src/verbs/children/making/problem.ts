/**
 * Something about one child that keeps a reconcile from going on and that no retry mends: it is reported and waited out.
 */
import type { PartState } from '#api'

export class ChildProblem extends Error {
  override readonly name = 'ChildProblem'
  readonly state: PartState
  readonly reason: string

  constructor(message: string, { state, reason }: { state: PartState; reason: string }) {
    super(message)
    this.state = state
    this.reason = reason
  }
}
