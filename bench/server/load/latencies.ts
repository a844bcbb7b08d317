/**
 * Durations, stored without an allocation for each, and their percentiles.
 */

export class Latencies {
  #values = new Float64Array(1024)
  #count = 0

  get count(): number {
    return this.#count
  }

  add(ms: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count++] = ms
  }

  /** The smallest duration that this share of all (0.99 for p99) does not exceed; NaN without durations. */
  percentiles(...shares: readonly number[]): number[] {
    const sorted = this.#values.slice(0, this.#count).sort()
    return shares.map((share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN)
  }
}
