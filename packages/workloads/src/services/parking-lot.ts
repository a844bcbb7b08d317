/**
 * Where connections wait that come before an endpoint is ready: bounded in number, time and memory.
 *
 *   add ──▶ seat ──▶ an endpoint is ready: leave       at most 100 seats: the next one drops the oldest
 *               └──▶ 30 s are over, or the client has gone: dropped
 *
 * What a client sends meanwhile is read, so that its end is noticed. All waiting connections of a service together are read
 * up to about 1 MiB: then reading stops, and the kernel holds the clients back. Nothing that was read is lost.
 *
 * Invariants: a waiter is given a connection or dropped, never both; `leave` and a drop free its timer.
 */
import type { Clock } from 'evenkeel/unstable/base'
import type { Connection } from './network.ts'

/** Why a waiting connection was closed. */
export type DropReason = 'TooMany' | 'TooLong' | 'Closed'

/** Waits for a connection to an endpoint. */
export interface Waiter {
  /** Its client has gone, or it was dropped. */
  readonly isGone: boolean
  give(endpoint: Connection): void
  drop(reason: DropReason): void
  /** Called when it gets a seat: it may read what its client sends. */
  hold?(budget: ByteBudget): void
}

interface ParkingLotOptions {
  readonly clock: Clock
  readonly onDrop: (reason: DropReason) => void
}

const limits = { seats: 100, waitMs: 30_000, bytes: 1_048_576 } as const

/** What all waiting connections of a service have been read. */
export class ByteBudget {
  readonly #stops = new Set<() => void>()
  #bytes = 0

  /** Whether a connection may be read; `stop` is called when the budget is used up. */
  begin(stop: () => void): boolean {
    if (this.#bytes >= limits.bytes) return false
    this.#stops.add(stop)
    return true
  }

  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < limits.bytes) return
    for (const stop of this.#stops) stop()
    this.#stops.clear()
  }

  /** A connection is not read here any more, and its bytes are not kept here. */
  end(stop: () => void, bytes: number): void {
    this.#stops.delete(stop)
    this.#bytes -= bytes
  }
}

export class ParkingLot {
  readonly #options: ParkingLotOptions
  readonly #budget = new ByteBudget()
  /** In the order of their arrival, with what ends their time. */
  readonly #seats = new Map<Waiter, () => void>()

  constructor(options: ParkingLotOptions) {
    this.#options = options
  }

  /** Those that wait, the oldest first. */
  waiters(): readonly Waiter[] {
    return [...this.#seats.keys()]
  }

  /** Takes a seat. One that has a seat keeps it, and its time goes on. */
  add(waiter: Waiter): void {
    if (this.#seats.has(waiter)) return
    const [oldest] = this.#seats.keys()
    if (oldest && this.#seats.size >= limits.seats) this.#drop(oldest, 'TooMany')
    const cancel = this.#options.clock.after(limits.waitMs, () => {
      this.#drop(waiter, 'TooLong')
    })
    this.#seats.set(waiter, cancel)
    waiter.hold?.(this.#budget)
  }

  /** The waiter is given a connection, or its client has gone. */
  leave(waiter: Waiter): void {
    this.#seats.get(waiter)?.()
    this.#seats.delete(waiter)
  }

  /** Drops all that wait. */
  close(): void {
    for (const waiter of this.waiters()) this.#drop(waiter, 'Closed')
  }

  #drop(waiter: Waiter, reason: DropReason): void {
    this.leave(waiter)
    waiter.drop(reason)
    this.#options.onDrop(reason)
  }
}
