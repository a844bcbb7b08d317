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
import type { KubeObject } from '#api'
import { abortable, deferred, nextTurn, type AbortOptions, type Clock } from '#base'
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

/*
 * A handler's place at an informer: what it asked for, and how it leaves.
 */

export interface HandlerOptions {
  /**
   * Tells every object again after about this long (10 % more or less, so that not all do it at once), without asking
   * the server; 0 for never. For controllers whose world also changes outside the server.
   *
   * @default 0
   */
  resyncMs?: number
  /**
   * Leaves out events that are exactly what we wrote ourselves: see `noteWrite`. What anybody else had a part in is told.
   *
   * @default false
   */
  skipOwn?: boolean
}

export interface Subscription {
  /** Whether the handler has heard of all that was there when it came. */
  readonly hasSynced: boolean
  /** Objects of which the handler has something to hear. */
  readonly backlog: number
  /** Resolves when the handler has heard of all that was there. */
  waitForSync(options?: AbortOptions): Promise<void>
  /** Leaves. No call begins from now on; resolves when the call under way, if any, has ended. Do not wait for it inside the handler. */
  remove(): Promise<void>
}

/** The part of a listener that a subscription shows. */
interface SubscribedListener {
  readonly hasSynced: boolean
  readonly backlog: number
  readonly synced: Promise<void>
  stop(): Promise<void>
}

/** The place of one listener. Classes, because getters of a single object keep alive what they know for long. */
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

/** Several places as one. */
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
