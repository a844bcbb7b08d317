/**
 * Waiting until a cache has seen a version.
 *
 * Invariant: who leaves by its signal is forgotten at once.
 */
import { deferred, onAbort } from '#base'
import type { AbortOptions, Deferred } from '#base'
import { hasReachedVersion } from '../storing/order.ts'

export class VersionWaiters {
  readonly #waiting = new Set<{ readonly version: string; readonly done: Deferred<void> }>()
  #seen = ''

  get waiting(): number {
    return this.#waiting.size
  }

  /** The cache has come this far. A new list counts for all, also for versions that nobody can compare. */
  reach(version: string, { isList = false }: { isList?: boolean } = {}): void {
    this.#seen = version
    for (const waiter of this.#waiting) {
      if (!hasReachedVersion(version, waiter.version) && !(isList && !/^[0-9]+$/.test(waiter.version))) continue
      this.#waiting.delete(waiter)
      waiter.done.resolve()
    }
  }

  /** Resolves when the cache has seen this version or a later one. */
  async wait(version: string, { signal }: AbortOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    if (hasReachedVersion(this.#seen, version)) return
    const waiter = { version, done: deferred<void>() }
    this.#waiting.add(waiter)
    const stop = onAbort(signal, (reason) => {
      this.#waiting.delete(waiter)
      waiter.done.reject(reason)
    })
    try {
      await waiter.done.promise
    } finally {
      stop()
    }
  }
}
