/**
 * How long a key waits after a failure: twice as long each time, from 5 ms to 1000 s.
 *
 *   failure   1     2      3     …    8        9         …    18      19 and later
 *   wait      5 ms  10 ms  20 ms      640 ms   1.28 s         655 s   1000 s
 *
 * The numbers are client-go's. The jitter is ours: it only shortens, so the table is the longest a key waits. A token
 * bucket, if there is one, limits the retries of all keys together: a key waits for the longer of the two, and has spent
 * a token either way.
 *
 * The bucket never queues: a caller always gets a token, with the time to wait before it may be used. Worked example for
 * 10 tokens per second and a burst of 2, all asked for at the same moment:
 *
 *   token    1      2      3        4        5
 *   wait     0 ms   0 ms   100 ms   200 ms   300 ms
 *
 * Invariants: a wait is a finite number of at least 0; a forgotten key takes no memory; over any time, at most
 * `burst + perSecond * seconds` tokens fall due.
 */
import { ExponentialBackoff, SystemClock, SystemRandom, type Clock, type Random } from '#base'

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
  readonly #delays: ExponentialBackoff
  readonly #bucket: TokenBucket | undefined
  readonly #failures = new Map<string, number>()

  constructor({
    random = new SystemRandom(),
    baseMs = 5,
    maxMs = 1_000_000,
    jitter = 0.1,
    bucket,
  }: BackoffOptions = {}) {
    if (!(jitter >= 0 && jitter <= 1)) throw new RangeError(`jitter must be from 0 to 1, got ${jitter}`)
    this.#delays = new ExponentialBackoff({
      random,
      baseMs,
      maxMs,
      jitter: jitter === 0 ? undefined : { from: 1, by: -jitter },
    })
    this.#bucket = bucket
  }

  /** Counts a failure, and says how many milliseconds to wait before the next try. */
  next(key: string): number {
    const failures = this.retries(key)
    this.#failures.set(key, failures + 1)
    return Math.max(this.#delays.delayMs(failures), this.#bucket?.reserve() ?? 0)
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

interface TokenBucketOptions {
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
