/**
 * How many calls one system gets, from all controllers of this process together.
 *
 * Calls wait for their turn in the order in which they came. What the system itself asks for (429) holds for everybody:
 * the next one would be told the same.
 */
import { sleep } from '#base'
import type { Clock } from '#base'

interface RateLimiterOptions {
  readonly callsPerSecond: number
  readonly burst?: number
}

export class RateLimiter {
  readonly #spacingMs: number
  readonly #burst: number
  /** When the next call would be due if there had been no pause. */
  #dueMs = -Infinity
  #closedUntilMs = -Infinity

  constructor(
    { callsPerSecond, burst = Math.max(1, callsPerSecond) }: RateLimiterOptions = {
      callsPerSecond: Infinity,
      burst: 1,
    },
  ) {
    if (!(callsPerSecond > 0 && burst >= 1))
      throw new RangeError(
        `a budget needs more than 0 calls a second and a burst of 1 or more, got ${callsPerSecond} and ${burst}`,
      )
    this.#spacingMs = 1000 / callsPerSecond
    this.#burst = burst
  }

  /** Resolves when it is this call's turn. */
  async take({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
    const nowMs = clock.monotonic()
    const startMs = Math.max(this.#dueMs, nowMs - (this.#burst - 1) * this.#spacingMs, this.#closedUntilMs)
    this.#dueMs = startMs + this.#spacingMs
    if (startMs > nowMs) await sleep(clock, startMs - nowMs, { signal })
  }

  /** Nobody calls before so much time has passed. */
  pause(forMs: number, clock: Clock): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, clock.monotonic() + forMs)
    this.#dueMs = Math.max(this.#dueMs, this.#closedUntilMs)
  }
}
