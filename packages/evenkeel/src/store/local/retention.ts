/**
 * How much history is kept: by age, by number and by bytes, whichever is reached first.
 *
 * There is no timer: history grows only when something is published, so that is when its age is
 * looked at. The work of forgetting is paid in small pieces, a few old changes for each new one.
 */
import type { Clock } from '#base'
import type { Versions } from './versions.ts'

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
