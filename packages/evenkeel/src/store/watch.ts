/**
 * A watch on a store of this machine.
 *
 *   replaying ──history read to its end──▶ live ──▶ ended
 *       └──compaction passed us──▶ ended
 *
 * Replaying pulls from the shared history, only as fast as the reader asks, and keeps nothing of
 * its own; live is pushed to by the hub and has a bounded backlog. The step from the one to the
 * other is synchronous: nothing can be published in between.
 */
import { Channel } from '#base'
import { storeLimits, type Watch, type WatchBatch, type WatchEnd, type WatchOptions } from './store.ts'
import { changeOf, type Version } from './version.ts'
import type { Versions } from './versions.ts'

/** How many changes of the history one batch holds, at most one commit over. */
const replayMax = 512

export class LocalWatch implements Watch, AsyncIterator<WatchBatch, WatchEnd | undefined> {
  readonly #prefix: string
  readonly #versions: Versions
  readonly #hub: WatchHub
  readonly #channel: WatchChannel
  #cursor: number
  #live = false
  #progressAsked = false

  constructor(prefix: string, { versions, hub }: { versions: Versions; hub: WatchHub }, options: WatchOptions) {
    this.#prefix = prefix
    this.#versions = versions
    this.#hub = hub
    this.#cursor = options.after
    this.#channel = watchChannel(options, () => {
      hub.leave(prefix, this.#channel)
    })
    if (this.#channel.open) hub.add(this.#channel)
    if (options.after === versions.published) this.#join()
  }

  get end(): WatchEnd | undefined {
    return this.#channel.reason
  }

  requestProgress(): void {
    if (this.#live) this.#channel.push({ revision: this.#versions.published, changes: [] })
    else this.#progressAsked = true
  }

  close(): void {
    this.#channel.end({ reason: 'closed' })
  }

  next(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    const batch = this.#replay()
    return batch ? Promise.resolve({ done: false, value: batch }) : this.#channel.next()
  }

  return(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    return this.#channel.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The next batch of history with something in it, or undefined once we are live or over. */
  #replay(): WatchBatch | undefined {
    while (!this.#live && this.#channel.open) {
      const { published, compacted, history } = this.#versions
      if (this.#cursor > published) this.#channel.end({ reason: 'ahead', revision: published })
      else if (this.#cursor < compacted) this.#channel.end({ reason: 'compacted', compacted })
      else if (this.#cursor === published) this.#join()
      else {
        const versions = history.after(this.#cursor, replayMax)
        this.#cursor = versions.at(-1)?.revision ?? published
        const changes = versions.filter(({ key }) => key.startsWith(this.#prefix)).map(changeOf)
        if (changes.length > 0) return { revision: this.#cursor, changes }
      }
    }
    return undefined
  }

  #join(): void {
    this.#live = true
    if (!this.#channel.open) return
    this.#hub.join(this.#prefix, this.#channel)
    if (this.#progressAsked) this.requestProgress()
  }
}

/*
 * Tells watchers what was published, each change looked at once however many watch.
 *
 *   published versions ──▶ group per prefix: one batch, made once ──▶ the channel of every watcher
 *
 * Invariants: a batch is handed to a channel in the same synchronous step that published it, so
 * nothing can come between a look at the history and joining here; no reader code runs in here;
 * watchers of one prefix get the very same batch object, so whoever encodes it can do so once.
 */

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

/*
 * Who watches which prefix: finds the watchers of a key without asking each of them.
 *
 * Invariants: a member is in a group at most once; no group is empty. A key is looked up once for
 * each length that a watched prefix has, not once for each prefix: a thousand watches of as many
 * namespaces cost one look.
 */

/** The watchers of one prefix. */
interface PrefixGroup<Member> {
  readonly prefix: string
  readonly members: Set<Member>
}

export class PrefixGroups<Member> {
  readonly #groups = new Map<string, PrefixGroup<Member>>()
  /** How many prefixes have each length. */
  readonly #counts = new Map<number, number>()
  /** The lengths, shortest first; undefined until somebody asks after one came or went. */
  #lengths: readonly number[] | undefined

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  join(prefix: string, member: Member): void {
    const group = this.#groups.get(prefix)
    if (group) {
      group.members.add(member)
      return
    }
    this.#groups.set(prefix, { prefix, members: new Set([member]) })
    this.#count(prefix.length, 1)
  }

  leave(prefix: string, member: Member): void {
    const group = this.#groups.get(prefix)
    if (!group?.members.delete(member) || group.members.size > 0) return
    this.#groups.delete(prefix)
    this.#count(prefix.length, -1)
  }

  /** Every member of every group. */
  members(): Member[] {
    return [...this.#groups.values()].flatMap(({ members }) => [...members])
  }

  /** What each group has to hear of, in the order given; groups that nothing is for are left out. */
  sort<Item extends { readonly key: string }>(items: readonly Item[]): Map<PrefixGroup<Member>, Item[]> {
    const sorted = new Map<PrefixGroup<Member>, Item[]>()
    const lengths = (this.#lengths ??= [...this.#counts.keys()].sort((a, b) => a - b))
    for (const item of items) {
      for (const length of lengths) {
        if (length > item.key.length) break
        const group = this.#groups.get(item.key.slice(0, length))
        if (group) add(sorted, group, item)
      }
    }
    return sorted
  }

  #count(length: number, change: 1 | -1): void {
    const before = this.#counts.get(length) ?? 0
    const after = before + change
    if (after === 0) this.#counts.delete(length)
    else this.#counts.set(length, after)
    if (before === 0 || after === 0) this.#lengths = undefined
  }
}

function add<Group, Item>(sorted: Map<Group, Item[]>, group: Group, item: Item): void {
  const items = sorted.get(group)
  if (items) items.push(item)
  else sorted.set(group, [item])
}

/*
 * The backlog of a watch: bounded in bytes, the same in every engine.
 */

export type WatchChannel = Channel<WatchBatch, WatchEnd>

/** A channel that ends with `overflow` when its reader falls too far behind. */
export function watchChannel(
  { signal, backlogBytesMax = storeLimits.backlogBytesMax }: Omit<WatchOptions, 'after'>,
  onClose: () => void,
): WatchChannel {
  return new Channel<WatchBatch, WatchEnd>({
    weightMax: backlogBytesMax,
    weigh: batchBytes,
    overflow: { reason: 'overflow' },
    signal,
    onClose,
  })
}

/** What a batch weighs in the backlog of a watcher: its keys and new values, and something for each. */
function batchBytes({ changes }: WatchBatch): number {
  let bytes = 64
  for (const { key, entry } of changes) bytes += key.length + (entry?.value.length ?? 0) + 64
  return bytes
}
