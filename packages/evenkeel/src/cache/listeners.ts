/**
 * A listener: one event handler and the events that wait for it.
 *
 *   idle ──event──▶ handler runs ──returns──▶ idle
 *                        └──returns a promise──▶ busy: events wait, one per object, merged to the latest state
 *
 * A handler gets one event at a time. Worked example, a handler that is busy with the addition of `a`:
 *
 *   arrives               waits
 *   update b v2 → v3      b: v2 → v3
 *   update b v3 → v5      b: v2 → v5              merged: the handler sees one update
 *   add c, delete c       b: v2 → v5              together they are nothing
 *   delete b              b: deleted, was v2
 *
 * A `Subscription` is what `addHandler` returns: whether the handler has got the initial objects, and how to remove it.
 *
 * Invariants: never more than one waiting event for each object; an error of a handler goes to `onError` and nowhere
 * else; after `stop` the handler is not called again.
 */
import type { KubeObject } from '#api'
import { abortable, deferred, nextTurn, type AbortOptions, type Clock } from '#base'
import type { CacheEvent } from './event.ts'

/** Gets events one at a time: the next one waits until the promise settles. */
export type Handler<T extends KubeObject> = (event: CacheEvent<T>) => void | Promise<void>

interface ListenerOptions<T extends KubeObject> {
  readonly handler: Handler<T>
  readonly clock: Clock
  readonly onError: (error: unknown, event: CacheEvent<T>) => void
  /** Leave out events of our own writes. */
  readonly skipOwn: boolean
}

/** After so many calls in a row other work gets its turn. */
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

  /** Objects with a waiting event. */
  get backlog(): number {
    return this.#waiting.size
  }

  /** Whether the handler has got all objects that existed when it was added. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** Calls the handler, now or when it is free. `later` keeps a long list of events from blocking the caller. */
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

  /** All initial objects were offered. */
  markSourceSynced(): void {
    this.#isSourceSynced = true
    this.#checkSynced()
  }

  /** Stops it: the handler is not called again. Resolves when the current call has ended; do not await it in the handler. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    this.#synced.reject(new Error('the handler was removed before it got all initial objects'))
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

  /** Never throws and never rejects; returns a promise only if the handler does. */
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

export interface HandlerOptions {
  /**
   * Delivers every object again after about this time (10 % more or less, to spread the load), without a request to the
   * server; 0: never. For controllers whose external state changes without an event.
   *
   * @default 0
   */
  resyncMs?: number
  /**
   * Leaves out events that are exactly our own write: see `noteWrite`. Events with a part of another writer are delivered.
   *
   * @default false
   */
  skipOwn?: boolean
}

export interface Subscription {
  /** Whether the handler has got all objects that existed when it was added. */
  readonly hasSynced: boolean
  /** Objects with a waiting event. */
  readonly backlog: number
  /** Resolves when the handler has got all initial objects. */
  waitForSync(options?: AbortOptions): Promise<void>
  /** Removes the handler. It is not called again; resolves when the current call, if any, has ended. Do not await it in the handler. */
  remove(): Promise<void>
}

/** The part of a listener that a subscription shows. */
interface SubscribedListener {
  readonly hasSynced: boolean
  readonly backlog: number
  readonly synced: Promise<void>
  stop(): Promise<void>
}

/** The subscription of one listener. A class, because the getters of an object literal keep their closure alive. */
export class ListenerSubscription implements Subscription {
  readonly #listener: SubscribedListener
  readonly #leave: () => void

  constructor(listener: SubscribedListener, leave: () => void) {
    this.#listener = listener
    this.#leave = leave
  }

  get hasSynced(): boolean {
    return this.#listener.hasSynced
  }

  get backlog(): number {
    return this.#listener.backlog
  }

  waitForSync({ signal }: AbortOptions = {}): Promise<void> {
    return abortable(this.#listener.synced, { signal })
  }

  remove(): Promise<void> {
    this.#leave()
    return this.#listener.stop()
  }
}

/** Several subscriptions as one. */
export class JoinedSubscription implements Subscription {
  readonly #all: () => readonly Subscription[]
  readonly #leave: () => void

  constructor(all: () => readonly Subscription[], leave: () => void) {
    this.#all = all
    this.#leave = leave
  }

  get hasSynced(): boolean {
    return this.#all().every(({ hasSynced }) => hasSynced)
  }

  get backlog(): number {
    return this.#all().reduce((sum, { backlog }) => sum + backlog, 0)
  }

  async waitForSync(waiting?: AbortOptions): Promise<void> {
    await Promise.all(this.#all().map((one) => one.waitForSync(waiting)))
  }

  async remove(): Promise<void> {
    this.#leave()
    await Promise.all(this.#all().map((one) => one.remove()))
  }
}
