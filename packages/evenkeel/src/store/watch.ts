/**
 * Watches of the local engines.
 *
 *   replaying ──end of history──▶ live ──▶ ended
 *       └──overtaken by a compaction──▶ ended
 *
 * A replaying watch pulls changes from the shared history at the pace of its reader and buffers
 * nothing. A live watch gets batches from the {@link WatchHub} and has a bounded backlog. The step
 * from replaying to live is synchronous: no commit can be published in between.
 *
 *   published versions ──▶ hub ──▶ group per prefix: one batch, built once ──▶ channel of every watch
 *
 * Invariants: the hub delivers a batch in the same synchronous step that publishes the commit; no
 * reader code runs inside the hub; watches of one prefix get the same batch object, so that an
 * encoder can cache its bytes.
 *
 * Example. Watches A and B of `/pods/`, C of `/pods/default/` and D of `/nodes/` are live:
 *
 *   groups    /pods/ {A B} · /nodes/ {D} · /pods/default/ {C}      prefix lengths 6, 7 and 14
 *   publish   /pods/default/x: look up /pods/, /pods/d and /pods/default/ ──▶ A B and C
 *
 * One map lookup per prefix length, not per watch: a thousand watches of a thousand namespaces of
 * equal length cost one lookup per change.
 */
import { Channel } from '#base'
import { storeLimits, type Watch, type WatchBatch, type WatchEnd, type WatchOptions } from './store.ts'
import { changeOf, type Version } from './version.ts'
import type { Versions } from './versions.ts'

/** The maximum number of changes in a replayed batch; the last commit may exceed it. */
const replayMax = 512

export class LocalWatch implements Watch, AsyncIterator<WatchBatch, WatchEnd | undefined> {
  readonly #prefix: string
  readonly #versions: Versions
  readonly #hub: WatchHub
  readonly #channel: WatchChannel
  #cursor: number
  #live = false
  #progressRequested = false

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
    else this.#progressRequested = true
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

  /** The next batch of history with a matching change; undefined once the watch is live or has ended. */
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
    if (this.#progressRequested) this.requestProgress()
  }
}

/** Delivers published changes to the live watches; the work per change does not depend on the number of watches. */
export class WatchHub {
  readonly #groups = new PrefixGroups<WatchChannel>()
  /** Every open watch, replaying or live. */
  readonly #open = new Set<WatchChannel>()

  get size(): number {
    return this.#open.size
  }

  /** Registers a replaying watch, so that {@link endAll} ends it. */
  add(channel: WatchChannel): void {
    this.#open.add(channel)
  }

  /** Makes a watch live: it gets every change published from now on. */
  join(prefix: string, channel: WatchChannel): void {
    this.#groups.join(prefix, channel)
  }

  leave(prefix: string, channel: WatchChannel): void {
    this.#open.delete(channel)
    this.#groups.leave(prefix, channel)
  }

  publish(versions: readonly Version[], revision: number): void {
    if (this.#groups.isEmpty) return
    for (const [{ members }, changes] of this.#groups.match(versions.map(changeOf))) {
      const batch: WatchBatch = { revision, changes }
      for (const channel of members) channel.push(batch)
    }
  }

  endAll(end: WatchEnd): void {
    for (const channel of [...this.#open]) channel.end(end)
  }
}

/** The members of one prefix. */
interface PrefixGroup<Member> {
  readonly prefix: string
  readonly members: Set<Member>
}

/**
 * Finds the members whose prefix matches a key, with one lookup per prefix length.
 *
 * Invariants: a member is in a group at most once; no group is empty.
 */
export class PrefixGroups<Member> {
  readonly #groups = new Map<string, PrefixGroup<Member>>()
  /** How many prefixes have each length. */
  readonly #counts = new Map<number, number>()
  /** The lengths, shortest first; computed on demand after a length was added or removed. */
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

  /** The items that match each group, in the order given; groups without a match are left out. */
  match<Item extends { readonly key: string }>(items: readonly Item[]): Map<PrefixGroup<Member>, Item[]> {
    const matches = new Map<PrefixGroup<Member>, Item[]>()
    const lengths = (this.#lengths ??= [...this.#counts.keys()].sort((a, b) => a - b))
    for (const item of items) {
      for (const length of lengths) {
        if (length > item.key.length) break
        const group = this.#groups.get(item.key.slice(0, length))
        if (group) add(matches, group, item)
      }
    }
    return matches
  }

  #count(length: number, change: 1 | -1): void {
    const before = this.#counts.get(length) ?? 0
    const after = before + change
    if (after === 0) this.#counts.delete(length)
    else this.#counts.set(length, after)
    if (before === 0 || after === 0) this.#lengths = undefined
  }
}

function add<Group, Item>(matches: Map<Group, Item[]>, group: Group, item: Item): void {
  const items = matches.get(group)
  if (items) items.push(item)
  else matches.set(group, [item])
}

/** The backlog of a watch. */
export type WatchChannel = Channel<WatchBatch, WatchEnd>

/** The backlog of a watch in any engine: bounded in bytes, ends with `overflow` when the reader falls too far behind. */
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

/** The cost of a batch in the backlog: keys, new values and a fixed overhead per change. */
function batchBytes({ changes }: WatchBatch): number {
  let bytes = 64
  for (const { key, entry } of changes) bytes += key.length + (entry?.value.length ?? 0) + 64
  return bytes
}
