/**
 * Lists one after the other, with everybody else in between.
 *
 * A list that has to look into its objects works for milliseconds, a long one in shares of that length, and while one works nobody is served. When many
 * arrive at once, those that no longer fit into a few milliseconds wait, and each gets a turn of the event loop of its own: requests that came meanwhile are
 * read and answered first.
 *
 * Invariants: who arrives and finds nobody before it goes on at once; who pauses goes on in a later turn, whatever the clock says; nobody waits longer than it
 * takes those before it.
 */
import type { Clock } from '#base'

/** How long lists may work in one turn before the next one waits. */
const turnMs = 2

export class ListScheduler {
  readonly #clock: Clock
  readonly #line: (() => void)[] = []
  #begunMs = 0
  #isTicking = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when it may go on at once. */
  turn(): Promise<void> | undefined {
    if (!this.#isTicking) {
      this.#tick()
      return undefined
    }
    if (this.#line.length === 0 && this.#clock.monotonic() - this.#begunMs < turnMs) return undefined
    return this.#wait()
  }

  /** For who has done its share and is not done: everybody else first. */
  pause(): Promise<void> {
    if (!this.#isTicking) this.#tick()
    return this.#wait()
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push(resolve)
    })
  }

  #tick(): void {
    this.#isTicking = true
    this.#begunMs = this.#clock.monotonic()
    this.#clock.soon(() => {
      this.#isTicking = false
      const next = this.#line.shift()
      if (next === undefined) return
      this.#tick()
      next()
    })
  }
}
