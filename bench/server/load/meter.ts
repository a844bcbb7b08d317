/**
 * The stopwatch of a measurement: start, end and result.
 *
 * Operations that start during the warm-up are not counted. A job ends when its time or its number is reached,
 * whichever is first; operations in progress still count.
 */
import { cpuUsOf } from '../process-usage.ts'
import type { Bounds, LoadResult } from './jobs.ts'
import { Latencies } from './latencies.ts'

export interface MeterOptions {
  readonly bounds: Bounds
  /** The processes whose CPU time counts. */
  readonly processIds: readonly number[]
  /** @default the clock of the process */
  readonly now?: () => number
}

export class Meter {
  readonly #bounds: Bounds
  readonly #processIds: readonly number[]
  readonly #now: () => number
  readonly #latencies = new Latencies()
  readonly #warmUntil: number
  #startedAt = NaN
  #endedAt = NaN
  #begun = 0
  #serverCpuBefore = NaN
  #ownCpuBefore = 0

  constructor({ bounds, processIds, now = () => performance.now() }: MeterOptions) {
    this.#bounds = bounds
    this.#processIds = processIds
    this.#now = now
    this.#warmUntil = now() + (bounds.warmMs ?? 0)
  }

  /** The start time, or undefined: then the measurement is over. */
  begin(): number | undefined {
    const now = this.#now()
    if (Number.isNaN(this.#startedAt) && now >= this.#warmUntil) this.#start(now)
    if (Number.isNaN(this.#startedAt)) return now
    if (this.#begun >= this.#bounds.countMax || now - this.#startedAt >= this.#bounds.durationMs) return undefined
    this.#begun++
    return now
  }

  /** Counts an operation that started at this time, if that was after the warm-up. */
  end(begunAt: number): void {
    if (!(begunAt >= this.#startedAt)) return
    this.#endedAt = this.#now()
    this.#latencies.add(this.#endedAt - begunAt)
  }

  /** Ends the measured time. */
  stop(): void {
    this.#endedAt = this.#now()
  }

  /** `count` when the counted unit is not an operation. */
  result(count: number = this.#latencies.count): LoadResult {
    const [p50Ms = NaN, p99Ms = NaN] = this.#latencies.percentiles(0.5, 0.99)
    const elapsedMs = this.#endedAt - this.#startedAt
    const serverCpuUs = (cpuUsOf(this.#processIds) ?? NaN) - this.#serverCpuBefore
    return {
      count,
      p50Ms,
      p99Ms,
      perSecond: count / (elapsedMs / 1000),
      // Zero means that the duration was too short to measure.
      serverCpuUs: serverCpuUs > 0 ? serverCpuUs / count : NaN,
      generatorBusy: (ownCpuUs() - this.#ownCpuBefore) / 1000 / elapsedMs,
    }
  }

  #start(now: number): void {
    this.#startedAt = now
    this.#serverCpuBefore = cpuUsOf(this.#processIds) ?? NaN
    this.#ownCpuBefore = ownCpuUs()
  }
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
