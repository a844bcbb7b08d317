/**
 * What a verb keeps for one run, found again from the context of that run.
 *
 * A verb is a value that an author declares once and asks in every reconcile: `app.resolve(context)`. Its state belongs
 * to the run, never to the verb: runs go on side by side, and none may see another's. The signal of a run is its own.
 */
import type { BaseContext } from './context.ts'

export class PerRun<T extends object> {
  // Kept by the signal itself: a weak map that outlives the run would keep all of it until old memory is cleared.
  readonly #place: symbol
  readonly #name: string

  /** The name of the verb, for people who forgot to declare it. */
  constructor(name: string) {
    this.#name = name
    this.#place = Symbol(name)
  }

  set(context: Pick<BaseContext, 'signal'>, value: T): T {
    placesOf(context)[this.#place] = value
    return value
  }

  /** @throws {RangeError} when the controller of this run does not have the verb. */
  get(context: Pick<BaseContext, 'signal'>): T {
    const value = placesOf(context)[this.#place] as T | undefined
    if (!value)
      throw new RangeError(
        `${this.#name} is not among the verbs of this controller: add it to verbs of its declaration`,
      )
    return value
  }
}

function placesOf({ signal }: Pick<BaseContext, 'signal'>): Record<symbol, unknown> {
  return signal as unknown as Record<symbol, unknown>
}
