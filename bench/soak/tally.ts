/**
 * The counts of a soak: latencies over time, errors, and others by name. Everything counts from the start except
 * latencies, which count after a warm-up.
 */
import { Latencies } from './latencies.ts'

const errorsShown = 10

export class Tally {
  #startedMs = performance.now()
  readonly #lengthMs: number
  readonly #warmUpMs: number
  readonly latencies = new Latencies()
  readonly #counts = new Map<string, number>()
  readonly #errors: string[] = []

  constructor(lengthMs: number, { warmUpMs }: { warmUpMs: number }) {
    this.#lengthMs = lengthMs
    this.#warmUpMs = warmUpMs
  }

  /** Starts the warm-up, after which latencies count. */
  begin(): void {
    this.#startedMs = performance.now() + this.#warmUpMs
  }

  get isOver(): boolean {
    return performance.now() - this.#startedMs >= this.#lengthMs
  }

  get secondsLeft(): number {
    return Math.max(0, Math.round((this.#lengthMs - (performance.now() - this.#startedMs)) / 1000))
  }

  /** The first few errors. */
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

  /** Measures the duration of a request of some kind. */
  async time<T>(kind: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    const value = await work()
    this.latencies.add((begun - this.#startedMs) / this.#lengthMs, performance.now() - begun, kind)
    return value
  }
}
