/**
 * What a verb keeps for one run, found again from the context of that run.
 *
 * A verb is a value that an author declares once and asks in every reconcile: `app.resolve(context)`. Its state belongs
 * to the run, never to the verb: runs go on side by side, and none may see another's. The signal of a run is its own.
 */
import type { BaseContext } from './context.ts'

export class PerRun<T extends object> {
  readonly #byRun = new WeakMap<AbortSignal, T>()
  readonly #name: string

  /** The name of the verb, for people who forgot to declare it. */
  constructor(name: string) {
    this.#name = name
  }

  set(context: Pick<BaseContext, 'signal'>, value: T): T {
    this.#byRun.set(context.signal, value)
    return value
  }

  /** @throws {RangeError} when the controller of this run does not have the verb. */
  get(context: Pick<BaseContext, 'signal'>): T {
    const value = this.#byRun.get(context.signal)
    if (!value) throw new RangeError(`${this.#name} is not among the verbs of this controller: add it to verbs of its declaration`)
    return value
  }
}
