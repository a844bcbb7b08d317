/**
 * How often somebody may write events about one object: a burst, then one now and then. The numbers are those of client-go.
 *
 * Invariant: never more than `objectsMax` objects are remembered; the one longest not written about is forgotten first.
 */
import type { Clock } from '#base'

interface SpamFilterOptions {
  readonly clock: Clock
  /** @default 25 */
  readonly burst?: number
  /** @default 300_000 */
  readonly refillMs?: number
  /** @default 4096 */
  readonly objectsMax?: number
}

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

export class SpamFilter {
  readonly #options: Required<SpamFilterOptions>
  readonly #buckets = new Map<string, Bucket>()

  constructor({ clock, burst = 25, refillMs = 300_000, objectsMax = 4096 }: SpamFilterOptions) {
    this.#options = { clock, burst, refillMs, objectsMax }
  }

  /** Whether one more may be written about this object; then it counts as written. */
  accepts(object: string): boolean {
    const { clock, burst, refillMs, objectsMax } = this.#options
    const atMs = clock.monotonic()
    const known = this.#buckets.get(object) ?? { tokens: burst, atMs }
    const tokens = Math.min(burst, known.tokens + (atMs - known.atMs) / refillMs)
    const isAccepted = tokens >= 1
    // Put in again, because the order of a map is the order of age.
    this.#buckets.delete(object)
    this.#buckets.set(object, { tokens: isAccepted ? tokens - 1 : tokens, atMs })
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > objectsMax && oldest !== undefined) this.#buckets.delete(oldest)
    return isAccepted
  }
}
