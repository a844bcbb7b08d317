/**
 * How long a key waits after it failed: twice as long each time, from 5 ms to 1000 s.
 *
 *   failure   1     2      3     …    8        9         …    18      19 and later
 *   wait      5 ms  10 ms  20 ms      640 ms   1.28 s         655 s   1000 s
 *
 * The numbers are client-go's. Jitter is ours: many keys that failed together would otherwise come back together, each
 * time. It only shortens, so the table is what a key waits at most. A bucket, if there is one, limits all keys
 * together; a key then waits for the longer of the two, and has spent a token either way.
 *
 * Invariants: a wait is a finite number from 0 up; a key that was forgotten takes no memory.
 */
import { randomFraction, SystemClock, SystemRandom, type Clock, type Random } from '#base'

export interface BackoffOptions {
  /** @default the machine's source */
  random?: Random | undefined
  /**
   * Wait after the first failure.
   *
   * @default 5
   */
  baseMs?: number | undefined
  /**
   * The longest wait, however many failures there were.
   *
   * @default 1_000_000
   */
  maxMs?: number | undefined
  /**
   * By which share of itself a wait may be shorter; 0 makes every wait exact.
   *
   * @default 0.1
   */
  jitter?: number | undefined
  /**
   * Limits the retries of all keys together.
   *
   * @default none, as in controller-runtime with its priority queue
   */
  bucket?: TokenBucket | undefined
}

export class Backoff {
  readonly #random: Random
  readonly #baseMs: number
  readonly #maxMs: number
  readonly #jitter: number
  readonly #bucket: TokenBucket | undefined
  readonly #failures = new Map<string, number>()

  constructor({
    random = new SystemRandom(),
    baseMs = 5,
    maxMs = 1_000_000,
    jitter = 0.1,
    bucket,
  }: BackoffOptions = {}) {
    if (!(baseMs > 0 && baseMs < Infinity)) throw new RangeError(`baseMs must be a number above 0, got ${baseMs}`)
    if (!(maxMs >= baseMs && maxMs < Infinity))
      throw new RangeError(`maxMs must be a number of at least baseMs (${baseMs}), got ${maxMs}`)
    if (!(jitter >= 0 && jitter <= 1)) throw new RangeError(`jitter must be from 0 to 1, got ${jitter}`)
    this.#random = random
    this.#baseMs = baseMs
    this.#maxMs = maxMs
    this.#jitter = jitter
    this.#bucket = bucket
  }

  /** How many keys have failed and not succeeded since. */
  get failingCount(): number {
    return this.#failures.size
  }

  /** Counts a failure, and says how many milliseconds to wait before the next try. */
  next(key: string): number {
    const failures = this.retries(key)
    this.#failures.set(key, failures + 1)
    const wholeMs = Math.min(this.#maxMs, this.#baseMs * 2 ** failures)
    const delayMs = this.#jitter === 0 ? wholeMs : wholeMs * (1 - this.#jitter * randomFraction(this.#random))
    return Math.max(delayMs, this.#bucket?.reserve() ?? 0)
  }

  /** How often the key failed since it was last forgotten. */
  retries(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** Starts afresh for this key; a retry that is under way in a queue stays there. */
  forget(key: string): void {
    this.#failures.delete(key)
  }
}

/*
 * A bucket of tokens: so many at once, so many per second on average.
 *
 * Who asks gets a token in any case and is told how long to wait before using it: nobody queues here. Invariant: over
 * any time, not more than `burst + perSecond * seconds` tokens fall due.
 */

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
