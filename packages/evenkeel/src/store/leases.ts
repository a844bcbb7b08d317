/**
 * Times to live, counted by the monotonic clock only, so that no jump of the wall clock ends or
 * lengthens one.
 *
 * Invariants: at most one timer is set, for the lease that runs out first; a key belongs to at
 * most one lease; after `stop` nothing fires.
 */
import { Heap } from '#base'
import type { Cancel, Clock } from '#base'

interface LeaseRecord {
  readonly id: string
  readonly ttlMs: number
  readonly keys: Set<string>
  dueMs: number
}

/** A lease and how long it still has. */
export interface LeaseState {
  readonly id: string
  readonly ttlMs: number
  readonly leftMs: number
}

export class Leases {
  readonly #clock: Clock
  readonly #onExpire: (id: string) => void
  readonly #byId = new Map<string, LeaseRecord>()
  readonly #byDue = new Heap<LeaseRecord>((a, b) => a.dueMs - b.dueMs)
  #cancel: Cancel | undefined
  #timerDueMs = Infinity
  #stopped = false

  constructor({ clock, onExpire }: { clock: Clock; onExpire: (id: string) => void }) {
    this.#clock = clock
    this.#onExpire = onExpire
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  add({ id, ttlMs, leftMs }: LeaseState): void {
    const held: LeaseRecord = { id, ttlMs, keys: new Set(), dueMs: this.#clock.monotonic() + leftMs }
    this.#byId.set(id, held)
    this.#byDue.push(held)
    this.#arm()
  }

  /** Starts its time anew; false when it is gone. */
  renew(id: string): boolean {
    const held = this.#byId.get(id)
    if (!held) return false
    this.#byDue.delete(held)
    held.dueMs = this.#clock.monotonic() + held.ttlMs
    this.#byDue.push(held)
    this.#arm()
    return true
  }

  /** Lets go of a lease and says which keys it had; undefined when it is gone. */
  take(id: string): readonly string[] | undefined {
    const held = this.#byId.get(id)
    if (!held) return undefined
    this.#byId.delete(id)
    this.#byDue.delete(held)
    this.#arm()
    return [...held.keys]
  }

  /** Ties a key to a lease; false when the lease is gone. */
  attach(id: string, key: string): boolean {
    return this.#byId.get(id)?.keys.add(key) !== undefined
  }

  detach(id: string, key: string): void {
    this.#byId.get(id)?.keys.delete(key)
  }

  /** Every lease with the time it has left. */
  states(): readonly LeaseState[] {
    const nowMs = this.#clock.monotonic()
    return [...this.#byId.values()].map(({ id, ttlMs, dueMs }) => ({ id, ttlMs, leftMs: Math.max(dueMs - nowMs, 1) }))
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #arm(): void {
    const dueMs = this.#byDue.peek()?.dueMs ?? Infinity
    if (this.#stopped || dueMs === this.#timerDueMs) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#timerDueMs = dueMs
    if (dueMs < Infinity)
      this.#cancel = this.#clock.after(Math.max(dueMs - this.#clock.monotonic(), 0), () => {
        this.#fire()
      })
  }

  /** Each lease is off the heap before its end is told, so one that cannot be ended now is not told in a loop. */
  #fire(): void {
    this.#timerDueMs = Infinity
    this.#cancel = undefined
    for (let first = this.#byDue.peek(); first && first.dueMs <= this.#clock.monotonic(); first = this.#byDue.peek()) {
      this.#byDue.pop()
      this.#onExpire(first.id)
    }
    this.#arm()
  }
}
