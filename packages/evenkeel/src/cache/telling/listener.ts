/**
 * One handler and what waits for it.
 *
 *   idle ──event──▶ told at once ──handler returns──▶ idle
 *                        └──handler waits──▶ busy: events wait, one per object, the latest state
 *
 * A handler hears of one thing at a time. While it is busy, what happens to an object is merged into one event, so what
 * waits is never more than one event for each object. Invariants: what a handler throws goes to `onError` and nowhere
 * else; after `stop` no call begins.
 */
import { deferred, nextTurn } from '#base'
import type { Clock } from '#base'
import type { KubeObject } from '#api'
import type { CacheEvent } from './event.ts'

/** Hears events one at a time: the next one waits until the promise settles. */
export type Handler<T extends KubeObject> = (event: CacheEvent<T>) => void | Promise<void>

interface ListenerOptions<T extends KubeObject> {
  readonly handler: Handler<T>
  readonly clock: Clock
  readonly onError: (error: unknown, event: CacheEvent<T>) => void
  /** Leave out what we wrote ourselves. */
  readonly skipOwn: boolean
}

/** After so many calls in a row others get their turn. */
const callsInARow = 256

export class Listener<T extends KubeObject> {
  readonly #options: ListenerOptions<T>
  readonly #waiting = new Map<string, CacheEvent<T>>()
  readonly #synced = deferred<void>()
  #initialLeft = 0
  #isSourceSynced = false
  #hasSynced = false
  #isStopped = false
  #work: Promise<void> | undefined

  constructor(options: ListenerOptions<T>) {
    this.#options = options
    this.#synced.promise.catch(() => undefined)
  }

  /** Objects of which the handler has something to hear. */
  get backlog(): number {
    return this.#waiting.size
  }

  /** Whether the handler has heard of everything that was there when it came. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** Tells the handler, now or when it has time. `later` keeps a long list of events from holding up whoever brings it. */
  offer(event: CacheEvent<T>, { later = false }: { later?: boolean } = {}): void {
    if (this.#isStopped) return
    if (!later && !this.#work && this.#waiting.size === 0) {
      const outcome = this.#call(event)
      if (outcome) this.#begin(outcome)
      return
    }
    this.#wait(event)
    if (!this.#work) this.#begin()
  }

  /** All that was there has been offered. */
  markSourceSynced(): void {
    this.#isSourceSynced = true
    this.#checkSynced()
  }

  /** Ends it: no call begins from now on. Resolves when the call that is under way has ended; must not be waited for inside it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    this.#synced.reject(new Error('the handler was removed before it had heard of everything'))
    await this.#work
  }

  #wait(event: CacheEvent<T>): void {
    const key = event.keyText
    const earlier = this.#waiting.get(key)
    const merged = earlier ? earlier.merge(event) : event
    if (merged?.isInitial === true && !earlier) this.#initialLeft++
    if (merged) {
      this.#waiting.set(key, merged)
      return
    }
    this.#waiting.delete(key)
    if (earlier?.isInitial) this.#initialLeft--
    this.#checkSynced()
  }

  #begin(first?: Promise<void>): void {
    this.#work = this.#drain(first).finally(() => {
      this.#work = undefined
      if (this.#waiting.size > 0 && !this.#isStopped) this.#begin()
    })
  }

  async #drain(first: Promise<void> | undefined): Promise<void> {
    await (first ?? Promise.resolve())
    let calls = 0
    for (const [key, event] of this.#waiting) {
      this.#waiting.delete(key)
      await this.#call(event)
      if (event.isInitial) this.#initialLeft--
      this.#checkSynced()
      if (++calls % callsInARow === 0) await nextTurn(this.#options.clock)
      if (this.#isStopped) return
    }
  }

  /** Never throws and never rejects; gives a promise only when the handler does. */
  #call(event: CacheEvent<T>): Promise<void> | undefined {
    const { handler, onError, skipOwn } = this.#options
    if (this.#isStopped || (skipOwn && event.isOwn)) return undefined
    try {
      const outcome = handler(event)
      return outcome?.then(undefined, (error: unknown) => {
        onError(error, event)
      })
    } catch (error) {
      onError(error, event)
      return undefined
    }
  }

  #checkSynced(): void {
    if (this.#hasSynced || !this.#isSourceSynced || this.#initialLeft > 0 || this.#isStopped) return
    this.#hasSynced = true
    this.#synced.resolve()
  }
}
