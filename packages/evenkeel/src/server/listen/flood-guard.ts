/**
 * Counts what one HTTP/2 connection does that costs the server more than its client: cancelled requests, pings, settings
 * and tiny frames.
 *
 * Invariant: the guard reports a flood before nghttp2, which Node uses, reaches its own limit of 1,000 cancelled requests
 * and 33 more a second, and disconnects the client with an INTERNAL_ERROR.
 */
import type { Clock } from '#base'
import type { ListenLimits } from './connection.ts'

/** In a second; fewer than the 33 cancelled requests that nghttp2 forgives. */
const forgivenPerSecond = 30

interface FloodGuardOptions {
  readonly limits: Pick<ListenLimits, 'nuisancesMax' | 'streamsMax'>
  readonly clock: Clock
  /** Called once. */
  readonly onFlood: () => void
}

export class FloodGuard {
  readonly #options: FloodGuardOptions
  #nuisances = 0
  #openedInTurn = 0
  #isFlooded = false

  constructor(options: FloodGuardOptions) {
    this.#options = options
  }

  get isFlooded(): boolean {
    return this.#isFlooded
  }

  count(): void {
    if (++this.#nuisances > this.#options.limits.nuisancesMax) this.#report()
  }

  /** What is opened in one turn beyond the streams of a connection was cancelled in it: Node reports that later. */
  countOpened(): void {
    const { limits, clock } = this.#options
    if (this.#openedInTurn++ === 0)
      clock.soon(() => {
        this.#openedInTurn = 0
      })
    if (this.#openedInTurn > limits.streamsMax + limits.nuisancesMax / 2) this.#report()
  }

  /** Called once a second. */
  forgive(): void {
    this.#nuisances = Math.max(0, this.#nuisances - forgivenPerSecond)
  }

  #report(): void {
    if (this.#isFlooded) return
    this.#isFlooded = true
    this.#options.onFlood()
  }
}
