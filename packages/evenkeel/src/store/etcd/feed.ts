/**
 * One upstream for all watches of a store: every change is read and decoded once, however many watch.
 *
 *   upstream ──▶ recent changes (bounded) ──▶ group per prefix: one batch ──▶ every member
 *
 * Invariants: a change is told to the members in the same synchronous step that makes it recent, so
 * nothing can come between a look at the recent ones and joining; all changes after `start` and up
 * to `position` are at hand; members of one prefix get the very same batch object; the upstream
 * runs only while somebody watches.
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

/** A watch, as the feed sees it. */
export interface FeedMember {
  offer(batch: WatchBatch): void
  /** The feed cannot go on, but a watch of its own may. */
  leaveFeed(): void
  fail(cause: unknown): void
}

/** How many recent changes one batch holds, at most one commit over. */
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

  /** Changes after this revision are at hand. */
  get start(): number {
    return this.#start
  }

  /** Members were told everything up to this revision. */
  get position(): number {
    return this.#position
  }

  /** Only then do members hear anything. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Somebody begins to watch. */
  open(): void {
    this.#watches++
  }

  /** Somebody watches no more; the last one stops the feed. */
  async close(): Promise<void> {
    if (--this.#watches > 0) return
    const running = this.#running
    this.#running = undefined
    running?.stop.abort(new Error('nobody watches'))
    await running?.done
  }

  /** Starts the feed behind a revision, if it does not run. */
  run(head: number): void {
    if (this.#running || this.#watches === 0) return
    const upstream = new Upstream(head, this.#options)
    const stop = new AbortController()
    this.#start = this.#position = head
    this.#recent = []
    this.#recentBytes = 0
    this.#running = { upstream, stop, done: this.#pump(upstream, stop.signal) }
  }

  /** A watch of its own, from a revision that is not recent. */
  upstream(after: number): Upstream {
    return new Upstream(after, this.#options)
  }

  /** From now on the member hears of everything that happens below the prefix. */
  join(prefix: string, member: FeedMember): void {
    this.#groups.join(prefix, member)
  }

  leave(prefix: string, member: FeedMember): void {
    this.#groups.leave(prefix, member)
  }

  /** The next recent changes after a revision, which must be at hand; all of them may belong to other prefixes. */
  after(revision: number, prefix: string): WatchBatch {
    const first = this.#indexAfter(revision)
    let end = Math.min(first + replayMax, this.#recent.length)
    const last = this.#recent[end - 1]?.revision ?? this.#position
    while (this.#recent[end]?.revision === last) end++
    const told = this.#recent.slice(first, end).filter(({ key }) => key.startsWith(prefix))
    return { revision: end === this.#recent.length ? this.#position : last, changes: told.map(changeOf) }
  }

  /** Waits until members were told everything that is in the store now. */
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

  #publish({ revision, changes: told }: UpstreamBatch): void {
    this.#position = revision
    this.#remember(told)
    for (const [{ members }, below] of this.#groups.sort(told)) deliver([...members], below, revision)
  }

  /** Keeps what is recent, and lets go of the oldest quarter, in whole commits, when it is too much. */
  #remember(told: readonly UpstreamChange[]): void {
    for (const one of told) {
      this.#recent.push(one)
      this.#recentBytes += bytesOf(one)
    }
    const { recentBytesMax } = this.#options
    if (this.#recentBytes <= recentBytesMax) return
    let gone = 0
    while (this.#recentBytes > recentBytesMax * 0.75 && gone < this.#recent.length) {
      const { revision } = this.#recent[gone] as UpstreamChange
      for (let one = this.#recent[gone]; one?.revision === revision; one = this.#recent[++gone])
        this.#recentBytes -= bytesOf(one)
      this.#start = revision
    }
    this.#recent.splice(0, gone)
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

/** @throws what was wrong with a key that is not ours. */
export function changeOf(told: UpstreamChange): Change {
  if ('error' in told) throw told.error
  return told
}

/** One batch for all; a key that is not ours ends their watches. */
function deliver(members: readonly FeedMember[], told: readonly UpstreamChange[], revision: number): void {
  const foreign = told.find((one) => 'error' in one)
  const batch: WatchBatch | undefined = foreign ? undefined : { revision, changes: told.map(changeOf) }
  for (const member of members) {
    if (batch) member.offer(batch)
    else member.fail(foreign && 'error' in foreign ? foreign.error : undefined)
  }
}

function bytesOf(told: UpstreamChange): number {
  if ('error' in told) return told.key.length + 128
  return told.key.length + (told.entry?.value.length ?? 0) + (told.previous?.value.length ?? 0) + 128
}
