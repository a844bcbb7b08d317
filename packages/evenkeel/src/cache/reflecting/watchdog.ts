/**
 * Notices when nothing was heard for too long: a connection may be dead without either end knowing.
 *
 * One timer, which looks at its watch when it fires; hearing something costs a clock reading.
 */
import type { Cancel, Clock } from '#base'

export class Watchdog {
  readonly #clock: Clock
  readonly #onSilence: () => void
  #limitMs: number
  #heardAtMs: number
  #cancel: Cancel = () => undefined

  constructor({ clock, limitMs, onSilence }: { clock: Clock; limitMs: number; onSilence: () => void }) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onSilence = onSilence
    this.#heardAtMs = clock.monotonic()
    this.#arm(limitMs)
  }

  /** Something arrived. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonic()
  }

  /** From now on another silence is too long. */
  allow(limitMs: number): void {
    this.#limitMs = limitMs
    this.heard()
    this.stop()
    this.#arm(limitMs)
  }

  stop(): void {
    this.#cancel()
  }

  #arm(inMs: number): void {
    this.#cancel = this.#clock.after(inMs, () => {
      const leftMs = this.#heardAtMs + this.#limitMs - this.#clock.monotonic()
      if (leftMs > 0) this.#arm(leftMs)
      else this.#onSilence()
    })
  }
}
