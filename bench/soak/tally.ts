/**
 * What a soak counts: latencies over time, mistakes, and the rest by name. Everything counts from the beginning but the time, which begins after a warm-up.
 */

const errorsShown = 10

export class Tally {
  #startedMs = performance.now()
  readonly #lengthMs: number
  readonly #warmUpMs: number
  /** When each request was made, as a part of the time that counts: from 0 to 1, below 0 while it warmed up; and how long it took. */
  readonly #at: number[] = []
  readonly #tookMs: number[] = []
  readonly #isRead: boolean[] = []
  readonly #counts = new Map<string, number>()
  readonly #errors: string[] = []

  constructor(lengthMs: number, { warmUpMs }: { warmUpMs: number }) {
    this.#lengthMs = lengthMs
    this.#warmUpMs = warmUpMs
  }

  /** From now on it warms up, and after that the time counts. */
  begin(): void {
    this.#startedMs = performance.now() + this.#warmUpMs
  }

  get isOver(): boolean {
    return performance.now() - this.#startedMs >= this.#lengthMs
  }

  get secondsLeft(): number {
    return Math.max(0, Math.round((this.#lengthMs - (performance.now() - this.#startedMs)) / 1000))
  }

  /** The first few of what went wrong. */
  get errors(): readonly string[] {
    return this.#errors
  }

  count(name: string, by = 1): void {
    this.#counts.set(name, this.counted(name) + by)
  }

  counted(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  error(text: string): void {
    this.count('errors')
    if (this.#errors.length < errorsShown) this.#errors.push(text)
  }

  /** Measures how long something takes. */
  async time<T>(work: () => Promise<T>, { isRead = false } = {}): Promise<T> {
    const begun = performance.now()
    const value = await work()
    this.#at.push((begun - this.#startedMs) / this.#lengthMs)
    this.#tookMs.push(performance.now() - begun)
    this.#isRead.push(isRead)
    return value
  }

  /** The 99th percentile in the first and in the last third, and in every minute: noise jumps, a leak climbs. */
  p99({ ofReads = false } = {}): { readonly firstMs: number, readonly lastMs: number, readonly byMinuteMs: readonly number[] } {
    const within = (from: number, to: number): number => quantile(this.#tookMs.filter((_, index) => (!ofReads || this.#isRead[index] === true) && (this.#at[index] ?? -1) >= from && (this.#at[index] ?? -1) < to), 0.99)
    const minutes = Math.max(1, Math.round(this.#lengthMs / 60_000))
    return { firstMs: within(0, 1 / 3), lastMs: within(2 / 3, 1), byMinuteMs: Array.from({ length: minutes }, (_, minute) => within(minute / minutes, (minute + 1) / minutes)) }
  }
}

/** The value below which a part of all lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
