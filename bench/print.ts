/**
 * The type of a benchmark, and the output of its figures.
 */

/** One figure: ours, and the peer's from the same run. */
export interface Figure {
  readonly case: string
  readonly ours: number
  /** Undefined when the peer is missing; `peerName` then has the reason. */
  readonly peer: number | undefined
  readonly peerName: string
  readonly unit: string
  /**
   * Whether a smaller number is better, as for times and sizes; the ratio is always "ours is better by".
   *
   * @default false
   */
  readonly lessIsBetter?: boolean
  /** Other measurements of the same case, such as CPU time per operation. */
  readonly more?: Readonly<Record<string, number | string>>
}

export type Print = (figure: Figure) => void

export interface BenchOptions {
  readonly rounds: number
  /** Only cases whose name contains this. */
  readonly only: string
  /** A smoke run: everything once and small; the figures are meaningless. */
  readonly quick: boolean
  /** Servers on one core, the load generator on another. */
  readonly pin: boolean
  /** Also load the peer with 100,000 objects, which takes minutes. */
  readonly peer100k: boolean
  readonly print: Print
}

export interface Bench {
  readonly about: string
  run(options: BenchOptions): Promise<void>
}

export function printer(bench: string, { json }: { json: boolean }): Print {
  return ({ case: name, ours, peer, peerName, unit, lessIsBetter = false, more = {} }) => {
    const ratio = peer === undefined ? undefined : round(lessIsBetter ? peer / ours : ours / peer)
    if (json) {
      process.stdout.write(
        `${JSON.stringify({ bench, case: name, ours: round(ours), peer: peer === undefined ? null : round(peer), peerName, ratio: ratio ?? null, unit, ...more })}\n`,
      )
      return
    }
    const against = peer === undefined ? peerName : `${peerName} ${round(peer)}: ${ratio}x`
    const rest = Object.entries(more)
      .map(([key, value]) => `${key} ${value}`)
      .join(', ')
    process.stdout.write(
      `${name.padEnd(32)} ${String(round(ours)).padStart(10)} ${unit.padEnd(12)} ${against}${rest === '' ? '' : `   (${rest})`}\n`,
    )
  }
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(value >= 1000 ? 4 : 3))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? NaN
}
