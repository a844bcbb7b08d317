/**
 * Tells watchers what was published, each change looked at once however many watch.
 *
 *   published versions ──▶ group per prefix: one batch, made once ──▶ the channel of every watcher
 *
 * Invariants: a batch is handed to a channel in the same synchronous step that published it, so
 * nothing can come between a look at the history and joining here; no reader code runs in here;
 * watchers of one prefix get the very same batch object, so whoever encodes it can do so once.
 */
import { PrefixGroups } from '../prefix-groups.ts'
import type { WatchBatch, WatchEnd } from '../store.ts'
import type { WatchChannel } from '../watch-channel.ts'
import { changeOf } from './version.ts'
import type { Version } from './version.ts'

export class WatchHub {
  readonly #groups = new PrefixGroups<WatchChannel>()
  /** Every watch that is not over, up to date or not. */
  readonly #open = new Set<WatchChannel>()

  get size(): number {
    return this.#open.size
  }

  /** Remembers a watch that still reads the history, so that {@link endAll} reaches it. */
  add(channel: WatchChannel): void {
    this.#open.add(channel)
  }

  /** From now on the watch hears of everything that is published. */
  join(prefix: string, channel: WatchChannel): void {
    this.#groups.join(prefix, channel)
  }

  leave(prefix: string, channel: WatchChannel): void {
    this.#open.delete(channel)
    this.#groups.leave(prefix, channel)
  }

  publish(versions: readonly Version[], revision: number): void {
    if (this.#groups.isEmpty) return
    for (const [{ members }, changes] of this.#groups.sort(versions.map(changeOf))) {
      const batch: WatchBatch = { revision, changes }
      for (const channel of members) channel.push(batch)
    }
  }

  endAll(end: WatchEnd): void {
    for (const channel of [...this.#open]) channel.end(end)
  }
}
