/**
 * A system that does not answer is left alone for a while: nobody waits for a dead one, and it can come back in peace.
 *
 *   closed ──failures in a row──▶ open ──a while──▶ one call tries ──it works──▶ closed
 *                                  ▲                     └──fails──▶ open, for longer
 */
import { randomFraction } from '#base'
import type { Clock, Random } from '#base'
import { ProviderUnavailable } from '../driver/failure.ts'

interface CircuitBreakerOptions {
  /** How many failures in a row open it. @default 5 */
  readonly failuresMax?: number
  /** How long it is open at first; twice as long each time. @default 1000 */
  readonly openMs?: number
  /** @default 20_000 */
  readonly openMaxMs?: number
}

export class CircuitBreaker {
  readonly #failuresMax: number
  readonly #openMs: number
  readonly #openMaxMs: number
  #failures = 0
  #untilMs = -Infinity
  #isTrying = false
  #why: unknown

  constructor({ failuresMax = 5, openMs = 1000, openMaxMs = 20_000 }: CircuitBreakerOptions = {}) {
    this.#failuresMax = failuresMax
    this.#openMs = openMs
    this.#openMaxMs = openMaxMs
  }

  get isOpen(): boolean {
    return this.#failures >= this.#failuresMax
  }

  /** @throws {ProviderUnavailable} when no call is to be made now */
  enter(clock: Clock, name: string): void {
    if (!this.isOpen) return
    const waitMs = this.#untilMs - clock.monotonic()
    if (waitMs <= 0 && !this.#isTrying) {
      this.#isTrying = true
      return
    }
    throw new ProviderUnavailable(`${name} does not answer, and is left alone for a while`, {
      retryAfterMs: Math.max(waitMs, this.#openMs),
      cause: this.#why,
    })
  }

  succeeded(): void {
    this.#failures = 0
    this.#isTrying = false
    this.#why = undefined
  }

  failed(error: unknown, { clock, random }: { readonly clock: Clock; readonly random: Random }): void {
    this.#failures++
    this.#isTrying = false
    this.#why = error
    if (!this.isOpen) return
    const doubled = this.#openMs * 2 ** Math.min(this.#failures - this.#failuresMax, 20)
    this.#untilMs = clock.monotonic() + Math.min(this.#openMaxMs, doubled) * (1 + 0.2 * randomFraction(random))
  }

  /** Whoever tried was told to stop: nothing was learned. */
  left(): void {
    this.#isTrying = false
  }
}
