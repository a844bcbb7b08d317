/**
 * The feed: one etcd watch for all watches of a store. Every change is read and decoded once, however
 * many watches there are.
 *
 *   upstream ──▶ recent changes (bounded) ──▶ group per prefix: one batch ──▶ every member
 *
 * Invariants: a change is delivered to the members in the same synchronous step that adds it to the
 * recent changes, so a watch that reads those and joins misses nothing; the recent changes are
 * exactly those after `start` and up to `position`; members of one prefix get the same batch object;
 * the upstream runs only while there are watches.
 *
 * Example. The feed started at 20; commits 21 (a), 22 (b, c) and 23 (a) followed:
 *
 *   start 20 · position 23 · recent a@21 b@22 c@22 a@23
 *   a watch after 20 or later replays the recent changes; one after 15 first needs an upstream of its own
 *   over `recentBytesMax`: a@21 is discarded, start 21; b@22 and c@22 are kept or discarded together
 */
import type { AbortOptions } from '#base'
import type { Change, WatchBatch } from '../store.ts'
import { PrefixGroups } from '../watch.ts'
import type { EtcdReader } from './reads.ts'
import { CompactedError, Upstream, type UpstreamBatch, type UpstreamChange, type UpstreamOptions } from './upstream.ts'

interface FeedOptions extends UpstreamOptions {
  reads: EtcdReader
  recentBytesMax: number
}

/** A live watch. */
export interface FeedMember {
  offer(batch: WatchBatch): void
  /** The feed stopped because of a compaction; an etcd watch of its own may still work. */
  leaveFeed(): void
  fail(cause: unknown): void
}

/** The maximum number of recent changes in a batch; the last commit may exceed it. */
const replayMax = 512

export class Feed {
  readonly #options: FeedOptions
  readonly #groups = new PrefixGroups<FeedMember>()
  #recent: UpstreamChange[] = []
  #recentBytes = 0
  #watches = 0
  #start = 0
  #position = 0
  #running: { readonly upstream: Upstream; readonly stop: AbortController; readonly done: Promise<void> } | undefined

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** The recent changes are those after this revision. */
  get start(): number {
    return this.#start
  }

  /** Every change up to this revision was delivered to the members. */
  get position(): number {
    return this.#position
  }

  /** Whether changes are being delivered. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Registers a watch. */
  open(): void {
    this.#watches++
  }

  /** Unregisters a watch; the last one stops the feed. */
  async close(): Promise<void> {
    if (--this.#watches > 0) return
    const running = this.#running
    this.#running = undefined
    running?.stop.abort(new Error('the last watch ended'))
    await running?.done
  }

  /** Starts the feed after a revision, unless it runs already. */
  run(head: number): void {
    if (this.#running || this.#watches === 0) return
    const upstream = new Upstream(head, this.#options)
    const stop = new AbortController()
    this.#start = this.#position = head
    this.#recent = []
    this.#recentBytes = 0
    this.#running = { upstream, stop, done: this.#pump(upstream, stop.signal) }
  }

  /** A separate etcd watch, from a revision before the recent changes. */
  upstream(after: number): Upstream {
    return new Upstream(after, this.#options)
  }

  /** Delivers every further change under the prefix to the member. */
  join(prefix: string, member: FeedMember): void {
    this.#groups.join(prefix, member)
  }

  leave(prefix: string, member: FeedMember): void {
    this.#groups.leave(prefix, member)
  }

  /** The next recent changes after a revision at or after `start`; the batch is empty when they belong to other prefixes. */
  after(revision: number, prefix: string): WatchBatch {
    const first = this.#indexAfter(revision)
    let end = Math.min(first + replayMax, this.#recent.length)
    const last = this.#recent[end - 1]?.revision ?? this.#position
    while (this.#recent[end]?.revision === last) end++
    const matching = this.#recent.slice(first, end).filter(({ key }) => key.startsWith(prefix))
    return { revision: end === this.#recent.length ? this.#position : last, changes: matching.map(changeOf) }
  }

  /** Waits until every change in the store now was delivered to the members. */
  async catchUp({ signal }: AbortOptions = {}): Promise<void> {
    const head = await this.#options.reads.head({ signal })
    await this.#running?.upstream.reach(head, { signal })
  }

  async #pump(upstream: Upstream, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of upstream.batches({ signal })) this.#publish(batch)
    } catch (error) {
      if (signal.aborted) return
      this.#running = undefined
      for (const member of this.#groups.members()) {
        if (error instanceof CompactedError) member.leaveFeed()
        else member.fail(error)
      }
    }
  }

  #publish({ revision, changes }: UpstreamBatch): void {
    this.#position = revision
    this.#addRecent(changes)
    for (const [{ members }, matching] of this.#groups.match(changes)) deliver([...members], matching, revision)
  }

  /** Adds recent changes; above the limit it discards the oldest quarter, in whole commits. */
  #addRecent(changes: readonly UpstreamChange[]): void {
    for (const change of changes) {
      this.#recent.push(change)
      this.#recentBytes += bytesOf(change)
    }
    const { recentBytesMax } = this.#options
    if (this.#recentBytes <= recentBytesMax) return
    let discarded = 0
    while (this.#recentBytes > recentBytesMax * 0.75 && discarded < this.#recent.length) {
      const { revision } = this.#recent[discarded] as UpstreamChange
      for (let change = this.#recent[discarded]; change?.revision === revision; change = this.#recent[++discarded])
        this.#recentBytes -= bytesOf(change)
      this.#start = revision
    }
    this.#recent.splice(0, discarded)
  }

  #indexAfter(revision: number): number {
    let [low, high] = [0, this.#recent.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#recent[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** @throws the error of a value that was not written by Evenkeel. */
export function changeOf(change: UpstreamChange): Change {
  if ('error' in change) throw change.error
  return change
}

/** Delivers one batch to all members; a foreign value ends their watches. */
function deliver(members: readonly FeedMember[], changes: readonly UpstreamChange[], revision: number): void {
  const foreign = changes.find((change) => 'error' in change)
  const batch: WatchBatch | undefined = foreign ? undefined : { revision, changes: changes.map(changeOf) }
  for (const member of members) {
    if (batch) member.offer(batch)
    else member.fail(foreign && 'error' in foreign ? foreign.error : undefined)
  }
}

function bytesOf(change: UpstreamChange): number {
  if ('error' in change) return change.key.length + 128
  return change.key.length + (change.entry?.value.length ?? 0) + (change.previous?.value.length ?? 0) + 128
}
