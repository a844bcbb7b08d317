/**
 * A clock that stands still; tests end its turns explicitly.
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

  /** False when no code waited for it. */
  async endTurn(): Promise<boolean> {
    const due = this.#soon.splice(0)
    for (const callback of due) callback()
    await Promise.resolve()
    return due.length > 0
  }
}
