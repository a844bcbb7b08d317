/**
 * The changes that can still be asked for, oldest first: what watches replay and what keeps old
 * versions alive.
 *
 * Invariants: revisions rise, equal ones belong to one commit and are never torn apart;
 * everything after `compacted` that was published is here.
 */
import type { Version } from './version.ts'

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
