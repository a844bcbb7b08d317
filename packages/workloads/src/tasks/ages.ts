/**
 * How long ago something happened, by the monotonic clock: a wall clock that jumps makes nothing overdue.
 *
 * The wall clock counts once, for what happened before this program started.
 *
 * Worked example: an execution has run for 20 s when Evenkeel is started again; 10 s later its age is 30 s, also when the wall clock
 * has jumped by an hour in between.
 *
 * Invariant: one entry for each object.
 */
import type { Clock } from 'evenkeel/unstable/base'

export class Ages {
  readonly #began = new Map<string, { readonly what: string; readonly beganMs: number }>()

  /** The age of something about an object. Another `what` of the object replaces it. */
  ageMs(uid: string, what: { readonly name: string; readonly atMs: number }, clock: Clock): number {
    const known = this.#began.get(uid)
    if (known?.what === what.name) return clock.monotonic() - known.beganMs
    const ageMs = Math.max(0, clock.now() - what.atMs)
    this.#began.set(uid, { what: what.name, beganMs: clock.monotonic() - ageMs })
    return ageMs
  }

  forget(uid: string): void {
    this.#began.delete(uid)
  }
}
