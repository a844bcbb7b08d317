/**
 * One at a time for each key: what was asked for first runs first.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs when everybody who came before, for the same key, has ended. */
  async runExclusive<T>(key: string, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const turn = before === undefined ? run() : before.then(run, run)
    this.#last.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    }
  }
}
