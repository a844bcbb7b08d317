/**
 * A budget for each turn of the event loop. What exceeds it waits for the next turns, in the order in which it was asked
 * for.
 *
 * Some work cannot be interrupted and arrives in bursts. TLS encrypts a write at once, and one large event for a hundred
 * watchers is a hundred writes in the same turn. One read of an HTTP/2 connection can contain hundreds of requests.
 * Without a budget every other client would wait for all of them.
 *
 * Invariant: work that waits is never overtaken by work that asked later.
 *
 * Example, with a budget of 100: `take(60)` and `take(60)` begin now, because the budget is checked before it is used;
 * `take(10)` waits for the next turn.
 */
import { deferred, type Clock, type Deferred } from '#base'

/** All connections together: a write of this many bytes takes about half a millisecond to encrypt and to copy. */
const outputBytesPerTurn = 196_608
/** What a write costs besides its bytes: a call of the system. */
const writeBytes = 4_096

interface WaitingWork {
  readonly cost: number
  readonly turn: Deferred<void>
}

export class TurnBudget {
  readonly #clock: Clock
  readonly #perTurn: number
  /** Oldest first. */
  readonly #waiting = new Set<WaitingWork>()
  #left: number
  #isTurnDue = false

  constructor(clock: Clock, { perTurn }: { readonly perTurn: number }) {
    this.#clock = clock
    this.#perTurn = this.#left = perTurn
  }

  /** Undefined when the work may begin now; otherwise resolves when it is its turn. */
  take(cost: number): Promise<void> | undefined {
    this.#awaitTurn()
    if (this.#waiting.size === 0 && this.#left > 0) {
      this.#left -= cost
      return undefined
    }
    const waiting = { cost, turn: deferred<void>() }
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
    this.#left = this.#perTurn
    for (const waiting of this.#waiting) {
      if (this.#left <= 0) break
      this.#waiting.delete(waiting)
      this.#left -= waiting.cost
      waiting.turn.resolve()
    }
    if (this.#waiting.size > 0) this.#awaitTurn()
  }
}

/** The bytes that all connections of a listener write in one turn. */
export class OutputPace {
  readonly #budget: TurnBudget

  constructor(clock: Clock) {
    this.#budget = new TurnBudget(clock, { perTurn: outputBytesPerTurn })
  }

  /** Undefined when so many bytes may be written now; otherwise resolves when it is their turn. */
  take(bytes: number): Promise<void> | undefined {
    return this.#budget.take(bytes + writeBytes)
  }
}
