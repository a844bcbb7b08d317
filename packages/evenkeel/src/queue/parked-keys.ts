/**
 * Keys that said they can do nothing until something happens, and what they wait for.
 *
 * Parking takes no place in the queue and sets no timer: any `add` makes the key run. This list is there to be shown,
 * and to wake all who wait for the same thing. Invariant: a key is here from the run that parked it until the end of
 * its next run.
 */
import type { WorkQueue } from './work-queue.ts'

export interface ParkedKey {
  /** For people: what has to happen. */
  readonly waitingFor: string
  /** The priority of the run that parked it; it is woken at the same. */
  readonly priority: number
}

export class ParkedKeys implements Iterable<[key: string, parked: ParkedKey]> {
  readonly #keys = new Map<string, ParkedKey>()

  get size(): number {
    return this.#keys.size
  }

  park(key: string, parked: ParkedKey): void {
    this.#keys.set(key, parked)
  }

  unpark(key: string): void {
    this.#keys.delete(key)
  }

  [Symbol.iterator](): IterableIterator<[key: string, parked: ParkedKey]> {
    return this.#keys.entries()
  }

  /** Adds every parked key that the function picks, and says how many it were. */
  wake<Reason>(
    queue: WorkQueue<Reason>,
    picks: (key: string, parked: ParkedKey) => boolean,
    { reason }: { reason?: Reason } = {},
  ): number {
    let woken = 0
    for (const [key, parked] of this.#keys) {
      if (!picks(key, parked)) continue
      this.#keys.delete(key)
      queue.add(key, { priority: parked.priority, reason })
      woken++
    }
    return woken
  }
}
