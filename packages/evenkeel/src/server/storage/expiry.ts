/**
 * Objects that die by themselves (Events): each is bound to a lease of the store.
 *
 * Leases are shared: everything written within a minute goes on one lease, which lives that minute longer, so that
 * a flood of Events costs a lease a minute and not one each. An object therefore lives for its time and up to a
 * minute more.
 */
import type { Clock } from '#base'
import type { Store } from '#store'

const leaseShareMs = 60_000

interface SharedLease {
  readonly id: Promise<string>
  readonly untilMs: number
}

export class LeaseManager {
  readonly #store: Store
  readonly #clock: Clock
  readonly #leases = new Map<number, SharedLease>()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** A lease that ends at least `ttlMs` from now. */
  async lease(ttlMs: number): Promise<string> {
    const now = this.#clock.monotonic()
    const known = this.#leases.get(ttlMs)
    if (known && now < known.untilMs) return known.id
    const id = this.#store.grant(ttlMs + leaseShareMs).then((lease) => lease.id)
    this.#leases.set(ttlMs, { id, untilMs: now + leaseShareMs })
    // A grant that failed must not be handed out for a minute.
    id.catch(() => this.#leases.delete(ttlMs))
    return id
  }
}
