/**
 * How long to wait before asking a server again: 0.8 s, twice as long each time up to 30 s, each stretched by chance to
 * at most double, so that a thousand caches do not come back in the same moment.
 */
import { randomFraction } from '#base'
import type { Clock, Random } from '#base'

const baseMs = 800
const maxMs = 30_000
/** Whoever had no trouble for this long begins anew. */
const forgetMs = 120_000

export class RetryDelay {
  readonly #clock: Clock
  readonly #random: Random
  #failures = 0
  #lastAtMs = -Infinity

  constructor({ clock, random }: { clock: Clock; random: Random }) {
    this.#clock = clock
    this.#random = random
  }

  /** Begins anew: there is reason to think that it works now. */
  reset(): void {
    this.#failures = 0
  }

  /** The next wait; never shorter than what the server asked for. */
  nextMs(retryAfterMs = 0): number {
    const now = this.#clock.monotonic()
    if (now - this.#lastAtMs > forgetMs) this.#failures = 0
    const plainMs = Math.min(baseMs * 2 ** Math.min(this.#failures, 10), maxMs)
    const delayMs = Math.max(plainMs * (1 + randomFraction(this.#random)), retryAfterMs)
    this.#failures++
    this.#lastAtMs = now + delayMs
    return delayMs
  }
}
