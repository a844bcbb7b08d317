/**
 * What was found out about tokens that others answer for, for a little while.
 *
 * Invariant: bounded, and nothing is believed for longer than it was meant to be.
 */
import type { Clock } from '#base'
import type { TokenReviewRequest, TokenReviewResult } from './token.ts'

const entriesMax = 4096

interface TokenCacheEntry {
  readonly verdict: TokenReviewResult | undefined
  readonly untilMs: number
}

export class TokenCache {
  readonly #clock: Clock
  readonly #entries = new Map<string, TokenCacheEntry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is known; undefined when nothing is. */
  get(question: TokenReviewRequest): { readonly verdict: TokenReviewResult | undefined } | undefined {
    const key = keyOf(question)
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#clock.now() < entry.untilMs) return entry
    this.#entries.delete(key)
    return undefined
  }

  set(question: TokenReviewRequest, verdict: TokenReviewResult | undefined, untilMs: number): void {
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(keyOf(question), { verdict, untilMs })
  }
}

function keyOf({ digest, audiences }: TokenReviewRequest): string {
  return `${digest} ${audiences.join('\n')}`
}
