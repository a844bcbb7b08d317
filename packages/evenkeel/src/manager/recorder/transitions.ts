/**
 * Events for what changed, and only for that: a controller that looks again and finds everything as it was says nothing.
 *
 * What was before is read from the object, not remembered: a restart tells nothing twice.
 */
import type { Condition } from '#api'
import type { EventNote } from './event-object.ts'

export interface TransitionOptions {
  /**
   * Conditions that are bad when they are true: `Degraded`, `Stalled`.
   *
   * @default none
   */
  readonly negative?: readonly string[]
}

/** One note for every condition that is new, or has another status or another reason. */
export function transitionNotes(
  before: readonly Condition[],
  after: readonly Condition[],
  { negative = [] }: TransitionOptions = {},
): EventNote[] {
  const known = new Map(before.map((condition) => [condition.type, condition]))
  return after
    .filter(({ type, status, reason }) => known.get(type)?.status !== status || known.get(type)?.reason !== reason)
    .map(({ type, status, reason, message }) => ({
      type: status === (negative.includes(type) ? 'True' : 'False') ? 'Warning' : 'Normal',
      reason: reason || type,
      action: type,
      note: message || `${type} is ${status}`,
    }))
}
