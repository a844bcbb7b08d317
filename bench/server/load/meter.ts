/**
 * The stopwatch of a measurement: when it begins, when it is over, and what came out.
 *
 * What starts before the warm-up has passed is not counted. A job ends when its time or its number is used up,
 * whichever is first; what is then under way still counts.
 */
import { cpuUsOf } from '../process-usage.ts'
import type { Bounds, LoadResult } from './jobs.ts'
import { Latencies } from './latencies.ts'

export interface MeterOptions {
  readonly bounds: Bounds
  /** Whose CPU time counts. */
  readonly processIds: readonly number[]
  /** @default the process's clock */
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

  /** When it was begun, or undefined: then the measurement is over. */
  begin(): number | undefined {
    const now = this.#now()
    if (Number.isNaN(this.#startedAt) && now >= this.#warmUntil) this.#start(now)
    if (Number.isNaN(this.#startedAt)) return now
    if (this.#begun >= this.#bounds.countMax || now - this.#startedAt >= this.#bounds.durationMs) return undefined
    this.#begun++
    return now
  }

  /** Counts what was begun at this time, if that was after the warm-up. */
  end(begunAt: number): void {
    if (!(begunAt >= this.#startedAt)) return
    this.#endedAt = this.#now()
    this.#latencies.add(this.#endedAt - begunAt)
  }

  /** The measurement lasts until now. */
  stop(): void {
    this.#endedAt = this.#now()
  }

  /** `count` when something else is counted than what was begun and ended. */
  result(count: number = this.#latencies.count): LoadResult {
    const [p50Ms = NaN, p99Ms = NaN] = this.#latencies.percentiles(0.5, 0.99)
    const elapsedMs = this.#endedAt - this.#startedAt
    const serverCpuUs = (cpuUsOf(this.#processIds) ?? NaN) - this.#serverCpuBefore
    return {
      count,
      p50Ms,
      p99Ms,
      perSecond: count / (elapsedMs / 1000),
      // Nothing at all means that it was too short to be seen.
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
