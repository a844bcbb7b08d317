/**
 * The history: all changes since the last compaction, oldest first. Watches replay it, and it keeps
 * old versions alive. {@link Retention} decides how much of it is kept.
 *
 * Invariants: revisions rise; changes with the same revision belong to one commit and are never
 * separated; every published change after `compacted` is in the history.
 *
 * Example. Commits 2 and 3 write a and b, commit 4 writes a and c, and nothing is compacted:
 *
 *   changes            a@2 b@3 a@4 c@4
 *   after(2, limit 1)  b@3
 *   after(3, limit 1)  a@4 c@4        one over the limit, because commit 4 stays whole
 *   revisionBehind(2)  3              two changes follow b@3
 *   shiftUpTo(3)       a@2, then b@3, then undefined
 */
import { heapShare, type Clock } from '#base'
import type { Version } from './version.ts'
import type { Versions } from './versions.ts'

/** The approximate memory cost of a change, without the bytes of the version it replaced. */
const changeOverheadBytes = 160

export class History {
  /** Slots before `#start` are removed changes. */
  #changes: (Version | undefined)[] = []
  #start = 0
  #bytes = 0

  get length(): number {
    return this.#changes.length - this.#start
  }

  /** Memory that only the history keeps alive. */
  get bytes(): number {
    return this.#bytes
  }

  push(version: Version): void {
    this.#changes.push(version)
    this.#bytes += costOf(version)
  }

  /** The revision of the change that has exactly `count` changes after it; undefined when the history is shorter. */
  revisionBehind(count: number): number | undefined {
    const index = this.#changes.length - 1 - count
    return index < this.#start ? undefined : this.#changes[index]?.revision
  }

  /** The revision to compact at in order to free so many bytes. */
  revisionThatFrees(bytes: number): number {
    let freed = 0
    for (let index = this.#start; index < this.#changes.length; index++) {
      const version = this.#changes[index]
      if (!version) break
      freed += costOf(version)
      if (freed >= bytes) return version.revision
    }
    return this.#changes.at(-1)?.revision ?? 0
  }

  /** Changes after a revision, in whole commits: stops at the first commit boundary at or past `limit`. */
  after(revision: number, limit: number): readonly Version[] {
    const from = this.#indexAfter(revision)
    let to = Math.min(from + limit, this.#changes.length)
    while (to < this.#changes.length && this.#changes[to]?.revision === this.#changes[to - 1]?.revision) to++
    return this.#changes.slice(from, to) as Version[]
  }

  /** Removes and returns the oldest change if it is at or before the revision. */
  shiftUpTo(revision: number): Version | undefined {
    const version = this.#changes[this.#start]
    if (!version || version.revision > revision) return undefined
    this.#changes[this.#start++] = undefined
    this.#bytes -= costOf(version)
    if (this.#start > 1024 && this.#start * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#start)
      this.#start = 0
    }
    return version
  }

  #indexAfter(revision: number): number {
    let [low, high] = [this.#start, this.#changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

function costOf({ older }: Version): number {
  return changeOverheadBytes + Math.max(older?.length ?? 0, 0)
}

export interface RetentionOptions {
  /**
   * How long a change stays in the history, unless another limit is reached first.
   *
   * @default 300_000
   */
  historyMs?: number
  /**
   * The maximum number of changes in the history.
   *
   * @default 500_000
   */
  historyChangesMax?: number
  /**
   * The maximum memory for changes and the versions they replaced.
   *
   * @default 1/24 of the largest size of the heap, at most 64 MiB
   */
  historyBytesMax?: number
}

/**
 * Limits the history by age, by number and by bytes, whichever is reached first.
 *
 * There is no timer. The history grows only when a commit is published, so that is when the limits
 * are checked. Each publication frees a few old changes.
 */
export class Retention {
  readonly #versions: Versions
  readonly #clock: Clock
  readonly #historyMs: number
  readonly #changesMax: number
  readonly #bytesMax: number
  /** Samples of the newest revision over time, oldest first, an eighth of `historyMs` apart. */
  #samples: { readonly revision: number; readonly atMs: number }[] = []

  constructor(
    versions: Versions,
    {
      clock,
      historyMs = 300_000,
      historyChangesMax = 500_000,
      historyBytesMax = heapShare(1 / 24, { max: 64 * 1024 * 1024 }),
    }: RetentionOptions & { clock: Clock },
  ) {
    if (!(historyMs > 0)) throw new RangeError(`historyMs must be above 0, got ${historyMs}`)
    if (!(historyChangesMax >= 1)) throw new RangeError(`historyChangesMax must be 1 or more, got ${historyChangesMax}`)
    if (!(historyBytesMax >= 1)) throw new RangeError(`historyBytesMax must be 1 or more, got ${historyBytesMax}`)
    this.#versions = versions
    this.#clock = clock
    this.#historyMs = historyMs
    this.#changesMax = historyChangesMax
    this.#bytesMax = historyBytesMax
  }

  /** Called after `count` changes were published: moves the boundary if a limit is exceeded, and frees some versions. */
  published(count: number): void {
    const versions = this.#versions
    const boundary = Math.max(this.#tooOld(), this.#tooMany(), this.#tooBig())
    if (boundary > versions.compacted) versions.compact(boundary)
    versions.clean(64 + 2 * count)
  }

  #tooOld(): number {
    const nowMs = this.#clock.monotonic()
    const last = this.#samples.at(-1)
    if (!last || nowMs - last.atMs >= this.#historyMs / 8)
      this.#samples.push({ revision: this.#versions.published, atMs: nowMs })
    let boundary = 0
    for (let first = this.#samples[0]; first && nowMs - first.atMs > this.#historyMs; first = this.#samples[0]) {
      boundary = first.revision
      this.#samples.shift()
    }
    return boundary
  }

  #tooMany(): number {
    const { history } = this.#versions
    return history.length > this.#changesMax ? (history.revisionBehind(((this.#changesMax * 3) / 4) | 0) ?? 0) : 0
  }

  #tooBig(): number {
    const { history } = this.#versions
    return history.bytes > this.#bytesMax ? history.revisionThatFrees(history.bytes - (this.#bytesMax * 3) / 4) : 0
  }
}
