/**
 * The bytes that all connections together write in one turn of the event loop.
 *
 * TLS encrypts a write at once. One large event for a hundred watchers is a hundred writes that are due in the same
 * turn, and every request that arrives meanwhile would wait for all of them. So a turn has a budget: what exceeds it is
 * written in the next turns, in the order in which it was asked for.
 *
 * Invariant: a write that has waited is never overtaken by one that asked later.
 *
 * Example, with a budget of 100: `take(60)` and `take(60)` begin now, because the budget is checked before it is used;
 * `take(10)` waits for the next turn.
 */
import { deferred, type Clock, type Deferred } from '#base'

/** About two milliseconds of encryption. */
const turnBytesMax = 1_048_576
/** What a write costs besides its bytes: a call of the system. */
const writeBytes = 4_096

interface PendingWrite {
  readonly bytes: number
  readonly turn: Deferred<void>
}

export class OutputPace {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #waiting = new Set<PendingWrite>()
  #left = turnBytesMax
  #isTurnDue = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when so many bytes may be written now; otherwise resolves when it is their turn. */
  take(bytes: number): Promise<void> | undefined {
    const cost = bytes + writeBytes
    this.#awaitTurn()
    if (this.#waiting.size === 0 && this.#left > 0) {
      this.#left -= cost
      return undefined
    }
    const waiting = { bytes: cost, turn: deferred<void>() }
    this.#waiting.add(waiting)
    return waiting.turn.promise
  }

  #awaitTurn(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    this.#clock.soon(() => {
      this.#isTurnDue = false
      this.#begin()
    })
  }

  #begin(): void {
    this.#left = turnBytesMax
    for (const waiting of this.#waiting) {
      if (this.#left <= 0) break
      this.#waiting.delete(waiting)
      this.#left -= waiting.bytes
      waiting.turn.resolve()
    }
    if (this.#waiting.size > 0) this.#awaitTurn()
  }
}
