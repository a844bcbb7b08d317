/**
 * A value that changes, as a sequence: a slow reader misses values, never the newest one. One reader.
 */
import { deferred, type Deferred } from '#base'

export class LatestValue<T> implements AsyncIterableIterator<T> {
  #newest: { readonly value: T } | undefined
  #isEnded = false
  #waiting: Deferred<IteratorResult<T>> | undefined

  set(value: T): void {
    if (this.#isEnded) return
    if (this.#waiting) this.#answer({ done: false, value })
    else this.#newest = { value }
  }

  end(): void {
    this.#isEnded = true
    this.#answer({ done: true, value: undefined })
  }

  next(): Promise<IteratorResult<T>> {
    const newest = this.#newest
    this.#newest = undefined
    if (newest) return Promise.resolve({ done: false, value: newest.value })
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    this.#waiting ??= deferred()
    return this.#waiting.promise
  }

  return(): Promise<IteratorResult<T>> {
    this.#newest = undefined
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #answer(result: IteratorResult<T>): void {
    this.#waiting?.resolve(result)
    this.#waiting = undefined
  }
}
