/**
 * Events whose handler failed: each is tried again, so that a moment's trouble of a handler does not lose a change.
 *
 * What happens to the object in the meantime is merged into the event. Invariants: one event per object; after
 * `triesMax` failures in a row an event is given up, as a mistake in the code does not go away by waiting.
 */
import type { Cancel, Clock, Random } from '#base'
import type { CacheEvent } from '#cache'
import { Backoff } from '#queue'

interface FailedEventsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly retry: (event: CacheEvent) => void
}

const triesMax = 10

export class FailedEvents {
  readonly #clock: Clock
  readonly #retry: (event: CacheEvent) => void
  readonly #backoff: Backoff
  #failing = false
  readonly #waiting = new Map<string, { readonly event: CacheEvent; readonly cancel: Cancel }>()

  constructor({ clock, random, retry }: FailedEventsOptions) {
    this.#clock = clock
    this.#retry = retry
    this.#backoff = new Backoff({ random, baseMs: 1000, maxMs: 60_000 })
  }

  /** The event, together with what failed before for the same object. */
  take(event: CacheEvent): CacheEvent {
    if (this.#waiting.size === 0) return event
    const key = event.keyText
    const failed = this.#waiting.get(key)
    if (!failed) return event
    failed.cancel()
    this.#waiting.delete(key)
    return failed.event === event ? event : (failed.event.merge(event) ?? event)
  }

  /** Tries it again after a while; undefined when it is given up, otherwise in how many milliseconds. */
  put(event: CacheEvent): number | undefined {
    const key = event.keyText
    this.#failing = true
    const afterMs = this.#backoff.next(key)
    if (this.#backoff.retries(key) >= triesMax) {
      this.#backoff.forget(key)
      return undefined
    }
    this.#waiting.set(key, {
      event,
      cancel: this.#clock.after(afterMs, () => {
        this.#retry(event)
      }),
    })
    return afterMs
  }

  succeeded(event: CacheEvent): void {
    // Most sources never fail, and pay for no key.
    if (this.#failing) this.#backoff.forget(event.keyText)
  }

  clear(): void {
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }
}
