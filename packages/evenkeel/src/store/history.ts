/**
 * The changes that can still be asked for, oldest first: what watches replay and what keeps old
 * versions alive.
 *
 * Invariants: revisions rise, equal ones belong to one commit and are never torn apart;
 * everything after `compacted` that was published is here.
 */
import type { Clock } from '#base'
import type { Version } from './version.ts'
import type { Versions } from './versions.ts'

/** Roughly what a change costs beyond the bytes of the version it replaced. */
const changeOverheadBytes = 160

export class History {
  /** Those before `#start` were taken out. */
  #changes: (Version | undefined)[] = []
  #start = 0
  #bytes = 0

  get length(): number {
    return this.#changes.length - this.#start
  }

  /** What the history keeps in memory that would otherwise be free. */
  get bytes(): number {
    return this.#bytes
  }

  push(version: Version): void {
    this.#changes.push(version)
    this.#bytes += costOf(version)
  }

  /** The revision of the change that has exactly `count` changes after it; undefined when there are fewer. */
  revisionBehind(count: number): number | undefined {
    const place = this.#changes.length - 1 - count
    return place < this.#start ? undefined : this.#changes[place]?.revision
  }

  /** The revision up to which the history must go to free so many bytes. */
  revisionThatFrees(bytes: number): number {
    let freed = 0
    for (let place = this.#start; place < this.#changes.length; place++) {
      const version = this.#changes[place]
      if (!version) break
      freed += costOf(version)
      if (freed >= bytes) return version.revision
    }
    return this.#changes.at(-1)?.revision ?? 0
  }

  /** Changes after a revision, some whole commits of them: stops at the first commit boundary past `limit`. */
  after(revision: number, limit: number): readonly Version[] {
    const from = this.#placeAfter(revision)
    let to = Math.min(from + limit, this.#changes.length)
    while (to < this.#changes.length && this.#changes[to]?.revision === this.#changes[to - 1]?.revision) to++
    return this.#changes.slice(from, to) as Version[]
  }

  /** Takes out the oldest change, if it is at or before the revision. */
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

  #placeAfter(revision: number): number {
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

/*
 * How much history is kept: by age, by number and by bytes, whichever is reached first.
 *
 * There is no timer: history grows only when something is published, so that is when its age is
 * looked at. The work of forgetting is paid in small pieces, a few old changes for each new one.
 */

export interface RetentionOptions {
  /**
   * How long a change can be replayed, at least as long as nothing else presses.
   *
   * @default 300_000
   */
  historyMs?: number
  /**
   * The most changes that are kept.
   *
   * @default 500_000
   */
  historyChangesMax?: number
  /**
   * The most memory that changes and what they replaced may take.
   *
   * @default 64 MiB
   */
  historyBytesMax?: number
}

export class Retention {
  readonly #versions: Versions
  readonly #clock: Clock
  readonly #historyMs: number
  readonly #changesMax: number
  readonly #bytesMax: number
  /** Which revision was the newest at some moments of the past, oldest first. */
  #marks: { readonly revision: number; readonly atMs: number }[] = []

  constructor(
    versions: Versions,
    {
      clock,
      historyMs = 300_000,
      historyChangesMax = 500_000,
      historyBytesMax = 64 * 1024 * 1024,
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

  /** Called after `count` changes were published: moves the boundary if it is time, and frees a little. */
  published(count: number): void {
    const versions = this.#versions
    const boundary = Math.max(this.#tooOld(), this.#tooMany(), this.#tooBig())
    if (boundary > versions.compacted) versions.compact(boundary)
    versions.clean(64 + 2 * count)
  }

  #tooOld(): number {
    const nowMs = this.#clock.monotonic()
    const last = this.#marks.at(-1)
    if (!last || nowMs - last.atMs >= this.#historyMs / 8)
      this.#marks.push({ revision: this.#versions.published, atMs: nowMs })
    let boundary = 0
    for (let first = this.#marks[0]; first && nowMs - first.atMs > this.#historyMs; first = this.#marks[0]) {
      boundary = first.revision
      this.#marks.shift()
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
