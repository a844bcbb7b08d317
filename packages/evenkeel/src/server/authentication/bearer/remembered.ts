/**
 * What was found out about tokens that others answer for, for a little while.
 *
 * Invariant: bounded, and nothing is believed for longer than it was meant to be.
 */
import type { Clock } from '#base'
import type { TokenQuestion, TokenVerdict } from './token.ts'

const entriesMax = 4096

interface Entry {
  readonly verdict: TokenVerdict | undefined
  readonly untilMs: number
}

export class Remembered {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is known; undefined when nothing is. */
  get(question: TokenQuestion): { readonly verdict: TokenVerdict | undefined } | undefined {
    const key = keyOf(question)
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#clock.now() < entry.untilMs) return entry
    this.#entries.delete(key)
    return undefined
  }

  set(question: TokenQuestion, verdict: TokenVerdict | undefined, untilMs: number): void {
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(keyOf(question), { verdict, untilMs })
  }
}

function keyOf({ digest, audiences }: TokenQuestion): string {
  return `${digest} ${audiences.join('\n')}`
}
