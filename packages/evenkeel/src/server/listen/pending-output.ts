/**
 * Bytes of responses that wait for slow clients, of all connections together.
 *
 * A watcher that does not read holds little, but there may be thousands of them. When all together hold too much, those
 * that have not read for the longest time are disconnected. They connect again and list, as after any lost watch.
 *
 * Invariant: above the limit no connection has been stalled for longer than `patienceMs`.
 */
const patienceMs = 1_000

/** A response that waits for its client. */
export interface StalledOutput {
  readonly stalledAtMs: number
  readonly bytes: number
  disconnect(): void
}

export class PendingOutput {
  readonly #max: number
  /** Oldest first. */
  readonly #stalled = new Set<StalledOutput>()
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a response until {@link remove}. */
  add(output: StalledOutput): void {
    this.#stalled.add(output)
    this.#bytes += output.bytes
    for (const oldest of this.#stalled) {
      if (this.#bytes <= this.#max || output.stalledAtMs - oldest.stalledAtMs < patienceMs) return
      this.remove(oldest)
      oldest.disconnect()
    }
  }

  remove(output: StalledOutput): void {
    if (this.#stalled.delete(output)) this.#bytes -= output.bytes
  }
}
