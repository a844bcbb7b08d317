/**
 * How many watches there are, in all and of each user.
 *
 * A watch costs memory for as long as it lasts, so the total holds for everybody; how many one user may have does not hold for
 * administrators. It is counted from its first moment until it has ended or its client is gone.
 */
import { tooManyRequests } from '#api'
import { tooManyMessage } from './gate.ts'

interface WatchLimiterOptions {
  readonly watchesMax: number
  readonly watchesPerUserMax: number
}

export class WatchLimiter {
  readonly #options: WatchLimiterOptions
  readonly #perUser = new Map<string, number>()
  #total = 0
  #refused = 0

  constructor(options: WatchLimiterOptions) {
    this.#options = options
  }

  get total(): number {
    return this.#total
  }

  get refused(): number {
    return this.#refused
  }

  /**
   * Counts one more; gives back how to say that it ended, which may be said twice.
   *
   * @throws {ApiError} `TooManyRequests`
   */
  start(user: string, { isExempt }: { isExempt: boolean }): () => void {
    const { watchesMax, watchesPerUserMax } = this.#options
    const own = this.#perUser.get(user) ?? 0
    if (this.#total >= watchesMax || (!isExempt && own >= watchesPerUserMax)) {
      this.#refused++
      throw tooManyRequests(tooManyMessage)
    }
    this.#total++
    this.#perUser.set(user, own + 1)
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      this.#end(user)
    }
  }

  #end(user: string): void {
    this.#total--
    const left = (this.#perUser.get(user) ?? 1) - 1
    if (left === 0) this.#perUser.delete(user)
    else this.#perUser.set(user, left)
  }
}
