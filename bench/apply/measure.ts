/**
 * The duration of one operation in this process, in nanoseconds of CPU time and of wall time.
 */
import { median } from '../print.ts'

export interface Measured {
  readonly cpuNs: number
  readonly wallNs: number
}

interface MeasureOptions {
  readonly rounds: number
  /** The minimum duration of one round. */
  readonly roundMs: number
}

/** Runs rounds until the time is up, after a long warm-up round; the medians count. */
export function measure(run: () => unknown, { rounds, roundMs }: MeasureOptions): Measured {
  let perRound = once(run, 1, roundMs * 4).count >> 2
  const results: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    const { count, ...measured } = once(run, perRound, roundMs)
    perRound = count
    results.push(measured)
  }
  return { cpuNs: median(results.map(({ cpuNs }) => cpuNs)), wallNs: median(results.map(({ wallNs }) => wallNs)) }
}

/** Reads the clock only now and then: reading takes longer than some operations. */
function once(run: () => unknown, expected: number, roundMs: number): Measured & { readonly count: number } {
  const step = Math.max(1, expected >> 4)
  const before = process.cpuUsage()
  const startedAt = performance.now()
  let count = 0
  do {
    for (let turn = 0; turn < step; turn++) run()
    count += step
  } while (performance.now() - startedAt < roundMs)
  const { user, system } = process.cpuUsage(before)
  return { count, cpuNs: ((user + system) * 1000) / count, wallNs: ((performance.now() - startedAt) * 1e6) / count }
}
