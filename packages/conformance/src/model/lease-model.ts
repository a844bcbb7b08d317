/**
 * A deliberately naive model of leases: the expiry and the keys of each.
 */
import type { Lease } from 'evenkeel/unstable/store'
import { pick } from './step.ts'

export class LeaseModel {
  readonly #ids: string[] = []
  readonly #alive = new Map<string, { readonly ttlMs: number; dueMs: number }>()
  readonly #leaseOf = new Map<string, string>()
  #nowMs = 0

  /** Every lease that ever existed. */
  get ids(): readonly string[] {
    return this.#ids
  }

  /** Any lease that ever existed, or an unknown one. */
  pick(index: number): string {
    return pick([...this.#ids, '4711'], index)
  }

  has(id: string): boolean {
    return this.#alive.has(id)
  }

  add({ id, ttlMs }: Lease): void {
    this.#ids.push(id)
    this.#alive.set(id, { ttlMs, dueMs: this.#nowMs + ttlMs })
  }

  renew(id: string): boolean {
    const lease = this.#alive.get(id)
    if (lease) lease.dueMs = this.#nowMs + lease.ttlMs
    return lease !== undefined
  }

  /** The key was written, with this lease or without one. */
  attach(key: string, lease: string | undefined): void {
    if (lease === undefined) this.#leaseOf.delete(key)
    else this.#leaseOf.set(key, lease)
  }

  keysOf(id: string): string[] {
    return [...this.#leaseOf].filter(([, lease]) => lease === id).map(([key]) => key)
  }

  end(id: string): void {
    this.#alive.delete(id)
  }

  /** Moves time; returns the keys of each expired lease. */
  advance(byMs: number): string[][] {
    this.#nowMs += byMs
    const ended = [...this.#alive]
      .filter(([, { dueMs }]) => dueMs <= this.#nowMs)
      .sort(([, a], [, b]) => a.dueMs - b.dueMs)
    for (const [id] of ended) this.#alive.delete(id)
    return ended.map(([id]) => this.keysOf(id))
  }
}
