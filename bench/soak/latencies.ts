/**
 * The durations of requests, by time and by kind of request.
 */

/** Start and end, as fractions of the measured time: 0 to 1. */
export type Span = readonly [from: number, to: number]

export const firstThird: Span = [0, 1 / 3]
export const lastThird: Span = [2 / 3, 1]

export class Latencies {
  /** The time of each request, as a fraction of the measured time; below 0 during the warm-up. */
  readonly #at: number[] = []
  readonly #tookMs: number[] = []
  readonly #kinds: string[] = []

  get kinds(): string[] {
    return [...new Set(this.#kinds)].sort()
  }

  add(at: number, tookMs: number, kind: string): void {
    this.#at.push(at)
    this.#tookMs.push(tookMs)
    this.#kinds.push(kind)
  }

  /** The duration within which this fraction of the requests of that span completed, in ms. */
  quantile(part: number, [from, to]: Span, { kind }: { kind?: string } = {}): number {
    return quantile(
      this.#tookMs.filter((_, index) => {
        const at = this.#at[index] ?? -1
        return at >= from && at < to && (kind === undefined || this.#kinds[index] === kind)
      }),
      part,
    )
  }
}

/** The value below which this fraction of all values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
