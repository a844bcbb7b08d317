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
 *
 * A fixed budget starves the work that waits when other work fills the turns: 64 writers need 13 ms in a turn, and the
 * events of their writes would get half a millisecond of it. So a budget may grow up to a maximum with the time that
 * the last turn spent on other work.
 */
import { deferred, type Clock, type Deferred } from '#base'

/** All connections together: a write of this many bytes takes about half a millisecond to encrypt and to copy. */
const outputBytesPerTurn = 196_608
const outputBytesPerTurnMax = 1_048_576
const outputBytesPerMs = 393_216
/** What a write costs besides its bytes: a call of the system. */
const writeBytes = 4_096

interface WaitingWork {
  readonly cost: number
  readonly turn: Deferred<void>
}

interface TurnBudgetOptions {
  /** The budget of a turn. */
  readonly perTurn: number
  /** The budget of a turn while other work takes most of the time. @default perTurn */
  readonly perTurnMax?: number
  /** How much is done in a millisecond. @default Infinity */
  readonly perMs?: number
}

export class TurnBudget {
  readonly #clock: Clock
  readonly #perTurn: number
  readonly #perTurnMax: number
  readonly #perMs: number
  /** Oldest first. */
  readonly #waiting = new Set<WaitingWork>()
  #left: number
  #isTurnDue = false
  /** The last turn that left work waiting: when it began, and its budget. */
  #behind: { readonly sinceMs: number; readonly budget: number } | undefined

  constructor(clock: Clock, { perTurn, perTurnMax = perTurn, perMs = Infinity }: TurnBudgetOptions) {
    this.#clock = clock
    this.#perTurn = this.#left = perTurn
    this.#perTurnMax = perTurnMax
    this.#perMs = perMs
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
    const sinceMs = this.#clock.monotonic()
    const budget = (this.#left = this.#budgetAt(sinceMs))
    for (const waiting of this.#waiting) {
      if (this.#left <= 0) break
      this.#waiting.delete(waiting)
      this.#left -= waiting.cost
      waiting.turn.resolve()
    }
    this.#behind = this.#waiting.size > 0 ? { sinceMs, budget } : undefined
    if (this.#behind) this.#awaitTurn()
  }

  /** The work that waits may take as long as other work took since it had its last turn. */
  #budgetAt(nowMs: number): number {
    if (!this.#behind || this.#perTurnMax === this.#perTurn) return this.#perTurn
    const otherMs = nowMs - this.#behind.sinceMs - this.#behind.budget / this.#perMs
    return Math.min(this.#perTurnMax, Math.max(this.#perTurn, otherMs * this.#perMs))
  }
}

/** The bytes that all connections of a listener write in one turn. */
export class OutputPace {
  readonly #budget: TurnBudget

  constructor(clock: Clock) {
    this.#budget = new TurnBudget(clock, {
      perTurn: outputBytesPerTurn,
      perTurnMax: outputBytesPerTurnMax,
      perMs: outputBytesPerMs,
    })
  }

  /** Undefined when so many bytes may be written now; otherwise resolves when it is their turn. */
  take(bytes: number): Promise<void> | undefined {
    return this.#budget.take(bytes + writeBytes)
  }
}
