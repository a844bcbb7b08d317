/**
 * One line of a terminal that is written over and over while something goes on; nothing where there is no terminal.
 */
import type { Output } from '../frame/command.ts'

const redrawMs = 100

export class ProgressLine {
  readonly #output: Output
  readonly #clock: { monotonic(): number }
  #drawnAtMs = -Infinity
  #isDrawn = false

  constructor(output: Output, clock: { monotonic(): number }) {
    this.#output = output
    this.#clock = clock
  }

  /** Called as often as you like: a few are drawn. */
  show(text: () => string): void {
    if (this.#output.isTTY !== true) return
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#drawnAtMs < redrawMs) return
    this.#drawnAtMs = nowMs
    this.#isDrawn = true
    this.#output.write(`\r\u001b[K${text().slice(0, (this.#output.columns ?? 80) - 1)}`)
  }

  clear(): void {
    if (this.#isDrawn) this.#output.write('\r\u001b[K')
    this.#isDrawn = false
  }
}
