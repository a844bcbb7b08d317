/**
 * Tells watchers what was published, each change looked at once however many watch.
 *
 *   published versions ──▶ group per prefix: one batch, made once ──▶ the channel of every watcher
 *
 * Invariants: a batch is handed to a channel in the same synchronous step that published it, so
 * nothing can come between a look at the history and joining here; no reader code runs in here;
 * watchers of one prefix get the very same batch object, so whoever encodes it can do so once.
 */
import type { Channel } from '#base'
import type { Change, WatchBatch, WatchEnd } from '../store.ts'
import { changeOf } from './version.ts'
import type { Version } from './version.ts'

export type WatchChannel = Channel<WatchBatch, WatchEnd>

interface Group {
  readonly prefix: string
  readonly channels: Set<WatchChannel>
  changes: Change[]
}

export class Hub {
  readonly #groups = new Map<string, Group>()
  /** The lengths of the prefixes that are watched: a change is looked up once per length, not once per prefix. */
  #lengths: readonly number[] = []
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
    const group = this.#groups.get(prefix)
    if (group) {
      group.channels.add(channel)
      return
    }
    this.#groups.set(prefix, { prefix, channels: new Set([channel]), changes: [] })
    this.#measure()
  }

  leave(prefix: string, channel: WatchChannel): void {
    this.#open.delete(channel)
    const group = this.#groups.get(prefix)
    if (!group?.channels.delete(channel) || group.channels.size > 0) return
    this.#groups.delete(prefix)
    this.#measure()
  }

  tell(versions: readonly Version[], revision: number): void {
    if (this.#groups.size === 0) return
    const touched: Group[] = []
    for (const version of versions) this.#sort(version, touched)
    for (const group of touched) {
      const batch: WatchBatch = { revision, changes: group.changes }
      group.changes = []
      for (const channel of group.channels) channel.push(batch)
    }
  }

  endAll(end: WatchEnd): void {
    for (const channel of [...this.#open]) channel.end(end)
  }

  #sort(version: Version, touched: Group[]): void {
    let change: Change | undefined
    for (const length of this.#lengths) {
      if (length > version.key.length) break
      const group = this.#groups.get(length === version.key.length ? version.key : version.key.slice(0, length))
      if (!group) continue
      if (group.changes.length === 0) touched.push(group)
      change ??= changeOf(version)
      group.changes.push(change)
    }
  }

  #measure(): void {
    this.#lengths = [...new Set([...this.#groups.keys()].map((prefix) => prefix.length))].sort((a, b) => a - b)
  }
}

/** What a batch weighs in the backlog of a watcher. */
export function batchBytes({ changes }: WatchBatch): number {
  let bytes = 64
  for (const { key, entry } of changes) bytes += key.length + (entry?.value.length ?? 0) + 64
  return bytes
}
