/**
 * Leases of the local engines. They count by the monotonic clock only, so that a jump of the wall
 * clock neither ends nor extends one.
 *
 * Invariants: at most one timer is set, for the lease that expires first; a key belongs to at most
 * one lease; after `stop` no lease expires.
 */
import { Heap } from '#base'
import type { Cancel, Clock } from '#base'

interface LeaseRecord {
  readonly id: string
  readonly ttlMs: number
  readonly keys: Set<string>
  dueMs: number
}

/** A lease and its remaining time. */
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
    const lease: LeaseRecord = { id, ttlMs, keys: new Set(), dueMs: this.#clock.monotonic() + leftMs }
    this.#byId.set(id, lease)
    this.#byDue.push(lease)
    this.#arm()
  }

  /** Restarts the time to live; false when the lease does not exist. */
  renew(id: string): boolean {
    const lease = this.#byId.get(id)
    if (!lease) return false
    this.#byDue.delete(lease)
    lease.dueMs = this.#clock.monotonic() + lease.ttlMs
    this.#byDue.push(lease)
    this.#arm()
    return true
  }

  /** Removes a lease and returns its keys; undefined when the lease does not exist. */
  take(id: string): readonly string[] | undefined {
    const lease = this.#byId.get(id)
    if (!lease) return undefined
    this.#byId.delete(id)
    this.#byDue.delete(lease)
    this.#arm()
    return [...lease.keys]
  }

  /** Attaches a key to a lease; false when the lease does not exist. */
  attach(id: string, key: string): boolean {
    return this.#byId.get(id)?.keys.add(key) !== undefined
  }

  detach(id: string, key: string): void {
    this.#byId.get(id)?.keys.delete(key)
  }

  /** Every lease with its remaining time. */
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

  /** Takes each lease off the heap before `onExpire`, so that a lease that cannot be ended now does not expire in a loop. */
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
