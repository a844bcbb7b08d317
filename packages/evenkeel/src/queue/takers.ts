/**
 * Those who wait for something to take, first come first served.
 *
 * Invariants: what is given to somebody is given to one; whoever left (by its signal) is given nothing; nothing is
 * handed out in the middle of an `add`, only when the running code has finished, so that of all that was added in one
 * go the most urgent is handed out first.
 */
import { deferred, onAbort } from '#base'
import type { AbortOptions, Deferred } from '#base'

interface Waiter<T> extends Deferred<T> {
  stop: () => void
}

export class Waiters<T> {
  readonly #next: () => T | undefined
  readonly #waiting = new Set<Waiter<T>>()
  #isWoken = false

  /** @param next takes the next one out; undefined when there is none. */
  constructor(next: () => T | undefined) {
    this.#next = next
  }

  get size(): number {
    return this.#waiting.size
  }

  wait({ signal }: AbortOptions): Promise<T> {
    const taker: Waiter<T> = { ...deferred<T>(), stop: () => undefined }
    this.#waiting.add(taker)
    taker.stop = onAbort(signal, (reason) => {
      this.#waiting.delete(taker)
      taker.reject(reason)
    })
    return taker.promise
  }

  /** There may be something to take. */
  wake(): void {
    if (this.#isWoken || this.#waiting.size === 0) return
    this.#isWoken = true
    queueMicrotask(() => {
      this.#isWoken = false
      this.#handOut()
    })
  }

  /** Gives out what there is, and tells all others who wait that there will be nothing. */
  end(last: T): void {
    this.#handOut()
    for (const taker of this.#waiting) this.#give(taker, last)
  }

  #handOut(): void {
    for (const taker of this.#waiting) {
      const one = this.#next()
      if (one === undefined) return
      this.#give(taker, one)
    }
  }

  #give(taker: Waiter<T>, one: T): void {
    this.#waiting.delete(taker)
    taker.stop()
    taker.resolve(one)
  }
}
