/**
 * A clock for tests on a simulated disk: `soon` is a promise job, and timers fire only when told.
 */
import type { Cancel, Clock } from '#base'

export class StillClock implements Clock {
  readonly #timers = new Set<() => void>()

  now(): number {
    return 0
  }

  monotonic(): number {
    return 0
  }

  after(_delayMs: number, callback: () => void): Cancel {
    this.#timers.add(callback)
    return () => {
      this.#timers.delete(callback)
    }
  }

  soon(callback: () => void): void {
    queueMicrotask(callback)
  }

  /** Fires everything that is set now. */
  fire(): void {
    const due = [...this.#timers]
    this.#timers.clear()
    for (const callback of due) callback()
  }
}

/** Lets everything run that waits on promises alone. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 200; round++) await Promise.resolve()
}
