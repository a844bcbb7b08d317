/**
 * Bytes of request bodies that are being read or handled, of one user and of all.
 *
 * A body costs more than its bytes: parsed, pruned and validated it may take twenty times as much of the heap. So a body
 * counts until its request is answered, and the default follows the size of the heap: 16 MB of a heap of 512 MB.
 *
 * When the total is used up, users below their fair share (the total divided by the users that have bodies) still get in:
 * a few users with large bodies do not lock out the others. So the total may be exceeded, by its own size at most.
 *
 * Invariants: a request that would exceed a limit is refused with 429. A user without requests has no entry.
 */
import { tooManyRequests } from '#api'

interface BodyBudgetOptions {
  readonly bytesMax: number
  readonly bytesPerUserMax: number
}

/** The bytes of one request. */
export interface BodyAccount {
  /** @throws {ApiError} `TooManyRequests` */
  add(bytes: number): void
  /** Gives all bytes back; further calls have no effect. */
  close(): void
}

export class BodyBudget {
  readonly #options: BodyBudgetOptions
  readonly #perUser = new Map<string, number>()
  #total = 0

  constructor(options: BodyBudgetOptions) {
    this.#options = options
  }

  /** Bytes of all requests. */
  get bytes(): number {
    return this.#total
  }

  open(user: string): BodyAccount {
    let taken = 0
    return {
      add: (bytes) => {
        this.#add(user, bytes)
        taken += bytes
      },
      close: () => {
        if (taken > 0) this.#remove(user, taken)
        taken = 0
      },
    }
  }

  #add(user: string, bytes: number): void {
    const { bytesMax, bytesPerUserMax } = this.#options
    const own = this.#perUser.get(user) ?? 0
    const users = this.#perUser.size + (own === 0 ? 1 : 0)
    const isOver = this.#total + bytes > bytesMax && own + bytes > bytesMax / users
    if (isOver || own + bytes > bytesPerUserMax)
      throw tooManyRequests('too many bytes of request bodies are being handled')
    this.#total += bytes
    this.#perUser.set(user, own + bytes)
  }

  #remove(user: string, bytes: number): void {
    this.#total -= bytes
    const left = (this.#perUser.get(user) ?? bytes) - bytes
    if (left === 0) this.#perUser.delete(user)
    else this.#perUser.set(user, left)
  }
}
