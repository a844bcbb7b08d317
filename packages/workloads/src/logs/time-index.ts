/**
 * When the bytes of a log were written, as far as that is known.
 *
 * A program writes without us. While its log grows we look ten times a second: everything below the size at a look was
 * written at the latest when the file was changed last.
 *
 *   looks   { offset: 400, atMs: 1000 }, { offset: 900, atMs: 1100 }
 *   lines   that begin at 0 to 399 have the time 1000, those at 400 to 899 the time 1100
 *
 * A time is thus at most one look too late and never too early: a reader who wants the lines since a moment gets them all,
 * and at most those of a tenth of a second more.
 *
 * Invariants: offsets and times never go back; at most `entriesMax` entries. When there are more, every second one of the
 * older half is dropped: old times become coarser.
 */

export type TimeEntry = readonly [offset: number, atMs: number]

const entriesMax = 2048

export class TimeIndex {
  #entries: TimeEntry[]

  constructor(entries: readonly TimeEntry[] = []) {
    this.#entries = [...entries]
  }

  get entries(): readonly TimeEntry[] {
    return this.#entries
  }

  /** Everything below the offset was written at the latest then. */
  add(offset: number, atMs: number): void {
    const last = this.#entries.at(-1)
    if (last && last[0] >= offset) return
    // The wall clock may jump back.
    this.#entries.push([offset, Math.max(atMs, last?.[1] ?? atMs)])
    if (this.#entries.length <= entriesMax) return
    const half = entriesMax / 2
    this.#entries = this.#entries.filter((_, index) => index >= half || index % 2 === 1)
  }

  /** Forgets what is below the offset. */
  dropBefore(offset: number): void {
    const first = this.#indexOf(offset)
    if (first > 0) this.#entries.splice(0, first)
  }

  /** The look that covers the byte at an offset; undefined for bytes that came after the last one. */
  find(offset: number): TimeEntry | undefined {
    return this.#entries[this.#indexOf(offset)]
  }

  /** Where the bytes begin that were written then or later. */
  offsetAt(atMs: number): number {
    let offset = 0
    for (const [end, time] of this.#entries) {
      if (time >= atMs) return offset
      offset = end
    }
    return offset
  }

  /** The first entry whose offset is above. */
  #indexOf(offset: number): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle]?.[0] ?? 0) > offset) high = middle
      else low = middle + 1
    }
    return low
  }
}
