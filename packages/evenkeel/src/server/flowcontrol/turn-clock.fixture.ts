/**
 * A clock that stands still and whose turns are ended by hand.
 */
import type { Clock } from '#base'

export class TurnClock implements Clock {
  nowMs = 0
  readonly #soon: (() => void)[] = []

  now(): number {
    return this.nowMs
  }

  monotonic(): number {
    return this.nowMs
  }

  after(): () => void {
    return () => undefined
  }

  soon(callback: () => void): void {
    this.#soon.push(callback)
  }

  /** False when nobody waited for it. */
  async endTurn(): Promise<boolean> {
    const due = this.#soon.splice(0)
    for (const callback of due) callback()
    await Promise.resolve()
    return due.length > 0
  }
}
