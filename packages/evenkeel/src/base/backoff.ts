/**
 * Exponential back-off: each wait is twice the one before, up to a maximum, and a random factor spreads the waits so
 * that those who failed together do not come back together.
 *
 *   failures before   0        1        2        3        4 …
 *   wait, 100 to 700  100 ms   200 ms   400 ms   700 ms   700 ms
 *   jitter 0.5 + 0.5  50-100   100-200  200-400  350-700  350-700
 *
 * Invariants: a wait is finite and at least 0, however many failures there were; without jitter no random number is
 * drawn, so a simulation with a seed is not disturbed.
 */
import { randomFraction, type Random } from './random.ts'

interface ExponentialOptions {
  /** The first wait. */
  readonly baseMs: number
  /** The longest wait. */
  readonly maxMs: number
}

/** The factor of a wait is `from + by * x`, with x a random number from 0 to 1. */
interface Jitter {
  readonly from: number
  readonly by: number
}

interface ExponentialBackoffOptions extends ExponentialOptions {
  readonly random: Random
  /** @default none: every wait is exact */
  readonly jitter?: Jitter | undefined
}

/** The wait after so many earlier failures, without jitter. */
export function exponentialMs(failures: number, { baseMs, maxMs }: ExponentialOptions): number {
  return Math.min(maxMs, baseMs * 2 ** failures)
}

export class ExponentialBackoff {
  readonly #random: Random
  readonly #baseMs: number
  readonly #maxMs: number
  readonly #jitter: Jitter | undefined
  #failures = 0

  constructor({ random, baseMs, maxMs, jitter }: ExponentialBackoffOptions) {
    if (!(baseMs > 0 && baseMs < Infinity)) throw new RangeError(`baseMs must be a number above 0, got ${baseMs}`)
    if (!(maxMs >= baseMs && maxMs < Infinity))
      throw new RangeError(`maxMs must be a number of at least baseMs (${baseMs}), got ${maxMs}`)
    this.#random = random
    this.#baseMs = baseMs
    this.#maxMs = maxMs
    this.#jitter = jitter
  }

  /** Counts a failure and returns the wait before the next attempt. */
  next(): number {
    return this.delayMs(this.#failures++)
  }

  /** Forgets all failures: the next wait is the shortest. */
  reset(): void {
    this.#failures = 0
  }

  /**
   * The wait after so many earlier failures, for callers that count them. With `leastMs`, a wait that is longer replaces
   * the exponential one before the jitter is applied.
   */
  delayMs(failures: number, { leastMs = 0 }: { readonly leastMs?: number } = {}): number {
    const wholeMs = Math.max(exponentialMs(failures, { baseMs: this.#baseMs, maxMs: this.#maxMs }), leastMs)
    return this.#jitter ? wholeMs * (this.#jitter.from + this.#jitter.by * randomFraction(this.#random)) : wholeMs
  }
}
