/**
 * How long requests took, by when they were made and by what they were.
 */

/** From and to, as parts of the time that counts: 0 to 1. */
export type Span = readonly [from: number, to: number]

export const firstThird: Span = [0, 1 / 3]
export const lastThird: Span = [2 / 3, 1]

export class Latencies {
  /** When each request was made, as a part of the time that counts; below 0 while it warmed up. */
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

  /** The time within which a part of the requests of that span were answered, in ms. */
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

/** The value below which a part of all lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
