/**
 * Lets keys wait until they have been quiet for a while, but never longer than a cap.
 *
 *   push ──▶ waiting ──quiet for `quietMs`, or `capMs` after the first──▶ ready
 *               ▲ │
 *               └─┘ push
 *
 * Invariants: a key that was pushed comes out exactly once per wait, with what was pushed last; not more than `keysMax`
 * keys wait: beyond that the oldest comes out early.
 */
import type { Cancel, Clock } from '#base'

interface DebounceOptions<T> {
  readonly clock: Clock
  readonly quietMs: number
  readonly capMs: number
  readonly keysMax: number
  readonly onReady: (key: string, value: T) => void
}

interface Waiting<T> {
  readonly firstMs: number
  value: T
  cancel: Cancel
}

export class Debounce<T> {
  readonly #options: DebounceOptions<T>
  readonly #waiting = new Map<string, Waiting<T>>()

  constructor(options: DebounceOptions<T>) {
    this.#options = options
  }

  push(key: string, value: T): void {
    const { clock, quietMs, capMs, keysMax, onReady } = this.#options
    if (quietMs <= 0) return onReady(key, value)
    const nowMs = clock.monotonic()
    const known = this.#waiting.get(key)
    known?.cancel()
    const firstMs = known?.firstMs ?? nowMs
    const delayMs = Math.max(0, Math.min(quietMs, firstMs + capMs - nowMs))
    const cancel = clock.after(delayMs, () => {
      this.#release(key)
    })
    this.#waiting.set(key, { firstMs, value, cancel })
    if (this.#waiting.size > keysMax) for (const oldest of [...this.#waiting.keys()].slice(0, 1)) this.#release(oldest)
  }

  /** Forgets what waits. */
  clear(): void {
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }

  #release(key: string): void {
    const waiting = this.#waiting.get(key)
    if (!waiting) return
    waiting.cancel()
    this.#waiting.delete(key)
    this.#options.onReady(key, waiting.value)
  }
}
