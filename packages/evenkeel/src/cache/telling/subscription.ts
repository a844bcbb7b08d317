/**
 * A handler's place at an informer: what it asked for, and how it leaves.
 */
import { abortable } from '#base'
import type { AbortOptions } from '#base'

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
