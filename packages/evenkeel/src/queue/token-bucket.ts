/**
 * A bucket of tokens: so many at once, so many per second on average.
 *
 * Who asks gets a token in any case and is told how long to wait before using it: nobody queues here. Invariant: over
 * any time, not more than `burst + perSecond * seconds` tokens fall due.
 */
import { SystemClock } from '#base'
import type { Clock } from '#base'

export interface TokenBucketOptions {
  /** @default the machine's clock */
  clock?: Clock | undefined
  /**
   * Tokens that come back per second.
   *
   * @default 10
   */
  perSecond?: number | undefined
  /**
   * Tokens that the bucket holds.
   *
   * @default 100
   */
  burst?: number | undefined
}

export class TokenBucket {
  readonly #clock: Clock
  readonly #perMs: number
  readonly #burst: number
  /** Below 0 when tokens were given out that have not come back yet. */
  #tokens: number
  #asOfMs: number

  constructor({ clock = new SystemClock(), perSecond = 10, burst = 100 }: TokenBucketOptions = {}) {
    if (!(perSecond > 0 && perSecond < Infinity))
      throw new RangeError(`perSecond must be a number above 0, got ${perSecond}`)
    if (!(burst >= 1 && burst < Infinity)) throw new RangeError(`burst must be a number of 1 or more, got ${burst}`)
    this.#clock = clock
    this.#perMs = perSecond / 1000
    this.#burst = burst
    this.#tokens = burst
    this.#asOfMs = clock.monotonic()
  }

  /** Spends a token, and says in how many milliseconds it may be used. */
  reserve(): number {
    const nowMs = this.#clock.monotonic()
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#asOfMs) * this.#perMs) - 1
    this.#asOfMs = nowMs
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs
  }
}
