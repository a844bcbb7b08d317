/**
 * Looks at every connection once a second. One timer for all: setting one for each request would cost more than reading it.
 *
 * Invariant: without connections there is no timer.
 */
import type { Cancel, Clock } from '#base'

interface Sweepable {
  expire(nowMs: number): void
}

const intervalMs = 1_000

export class Sweeper {
  readonly #clock: Clock
  readonly #swept = new Set<Sweepable>()
  #cancel: Cancel | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(one: Sweepable): void {
    this.#swept.add(one)
    this.#arm()
  }

  delete(one: Sweepable): void {
    this.#swept.delete(one)
    if (this.#swept.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(intervalMs, () => {
      this.#cancel = undefined
      const nowMs = this.#clock.monotonic()
      for (const one of this.#swept) one.expire(nowMs)
      if (this.#swept.size > 0) this.#arm()
    })
  }
}
