/**
 * A part of a terminal that is drawn over itself.
 *
 * Nothing is written when nothing has changed. It is never higher than the terminal: lines that have scrolled out cannot be
 * overwritten.
 */
import type { Output } from './command.ts'

export class Frame {
  readonly #output: Output
  #drawn = ''
  #height = 0

  constructor(output: Output) {
    this.#output = output
  }

  get columns(): number {
    return this.#output.columns || 100
  }

  get rows(): number {
    return this.#output.rows || 40
  }

  draw(given: readonly string[]): void {
    const { columns } = this
    const lines = given
      .slice(-this.rows + 1)
      .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
    const text = lines.join('\n')
    if (text === this.#drawn) return
    this.#output.write(`${this.#height === 0 ? '' : `\u001b[${this.#height}A\r`}\u001b[J${text}\n`)
    this.#drawn = text
    this.#height = lines.length
  }

  /** The next drawing begins below what is on the screen. */
  release(): void {
    this.#drawn = ''
    this.#height = 0
  }
}
