/**
 * Runs the schedules of a tier, one per worker at a time, until all are done or a limit is reached.
 *
 * Schedules start in their order, and their outcomes are collected in that order. So the findings, and the order of the
 * findings, do not depend on the number of workers.
 */
import type { Clock } from '#base'
import type { CoverageCounter } from './coverage.ts'
import type { Deviation } from './deviation.ts'
import type { FailureCollection } from './failures.ts'
import type { Finding } from './rules/rule.ts'
import type { ScheduleOutcome, ScheduleRunner } from './session.ts'

export type Tier = 0 | 1 | 2 | 3

/** The progress of an exploration. */
export interface Progress {
  /** 0: the undisturbed schedule; 1: single deviations; 2: pairs; 3: random combinations. */
  readonly tier: Tier
  /** Schedules of this tier that are done. */
  readonly done: number
  /** All schedules of this tier. */
  readonly planned: number
  /** Failures so far, each counted once. */
  readonly failures: number
  /** Rules that the program has broken so far. */
  readonly broken: readonly string[]
  /** Schedules per second in this tier. */
  readonly perSecond: number
}

/** The result of a tier. */
export interface TierResult {
  readonly tier: Tier
  readonly planned: number
  readonly done: number
  /** Left out because another schedule covers the same case. */
  readonly pruned: number
}

/** Why an exploration ended early. */
export type Stopped = 'budget' | 'schedules' | 'signal' | 'found'

interface TierRunnerOptions {
  readonly runner: ScheduleRunner
  readonly collected: FailureCollection
  readonly coverage: CoverageCounter
  readonly clock: Clock
  readonly budgetMs?: number | undefined
  readonly schedulesMax?: number | undefined
  readonly until?: ((finding: Finding) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export class TierRunner {
  readonly tiers: TierResult[] = []
  readonly #options: TierRunnerOptions
  readonly #startedAtMs: number
  #schedules = 0
  #stopped: Stopped | undefined
  /** A tier used up its share of the time or of the schedules; later tiers still run. */
  #cut: Stopped | undefined

  constructor(options: TierRunnerOptions) {
    this.#options = options
    this.#startedAtMs = options.clock.monotonic()
  }

  /** Why the exploration ended early, if it did. */
  get stopped(): Stopped | undefined {
    return this.#stopped ?? this.#cut
  }

  /** How many schedules ran. */
  get schedules(): number {
    return this.#schedules
  }

  /**
   * @param options `share`: how much of the remaining time and schedules this tier may use
   * @returns the outcomes in the order of the schedules, as far as they ran
   */
  async run(
    tier: Tier,
    schedules: readonly (readonly Deviation[])[],
    {
      pruned = 0,
      wantsNextDeviations = false,
      share = 1,
    }: { pruned?: number; wantsNextDeviations?: boolean; share?: number } = {},
  ): Promise<readonly ScheduleOutcome[]> {
    const { runner, clock, budgetMs = Infinity, schedulesMax = Infinity } = this.#options
    const [begun, taken] = [new Map<number, ScheduleOutcome>(), [] as ScheduleOutcome[]]
    const startedAtMs = clock.monotonic()
    const end = {
      ms: startedAtMs + share * (this.#startedAtMs + budgetMs - startedAtMs),
      schedules: this.#schedules + Math.ceil(share * (schedulesMax - this.#schedules)),
    }
    let next = 0
    const worker = async (): Promise<void> => {
      while (next < schedules.length && !this.#isOver(next - taken.length, end)) {
        const index = next++
        begun.set(index, await runner.run({ deviations: schedules[index] ?? [], wantsNextDeviations }))
        for (
          let outcome = begun.get(taken.length);
          outcome && this.#stopped !== 'found';
          outcome = begun.get(taken.length)
        ) {
          begun.delete(taken.length)
          taken.push(outcome)
          this.#take(schedules[taken.length - 1] ?? [], outcome)
          this.#report({ tier, done: taken.length, planned: schedules.length, startedAtMs })
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(runner.workers, schedules.length) }, worker))
    this.tiers.push({ tier, planned: schedules.length, done: taken.length, pruned })
    return taken
  }

  #take(deviations: readonly Deviation[], { findings, exercised }: ScheduleOutcome): void {
    const { collected, coverage, until } = this.#options
    this.#schedules++
    collected.add(deviations, findings)
    coverage.add(deviations, exercised)
    if (until && collected.failures.some(until)) this.#stopped ??= 'found'
  }

  /** @param begun how many schedules are running */
  #isOver(begun: number, end: { readonly ms: number; readonly schedules: number }): boolean {
    const { clock, budgetMs = Infinity, schedulesMax = Infinity, signal } = this.#options
    const nowMs = clock.monotonic()
    if (signal?.aborted) this.#stopped ??= 'signal'
    else if (nowMs - this.#startedAtMs > budgetMs) this.#stopped ??= 'budget'
    else if (this.#schedules + begun >= schedulesMax) this.#stopped ??= 'schedules'
    const cut = nowMs > end.ms ? 'budget' : this.#schedules + begun >= end.schedules ? 'schedules' : undefined
    this.#cut ??= cut
    return this.#stopped !== undefined || cut !== undefined
  }

  #report({
    tier,
    done,
    planned,
    startedAtMs,
  }: {
    tier: Tier
    done: number
    planned: number
    startedAtMs: number
  }): void {
    const { clock, collected, onProgress } = this.#options
    if (!onProgress) return
    const seconds = (clock.monotonic() - startedAtMs) / 1000
    onProgress({
      tier,
      done,
      planned,
      failures: collected.failures.length,
      broken: [...new Set(collected.failures.map(({ rule }) => rule))],
      perSecond: seconds > 0 ? Math.round(done / seconds) : 0,
    })
  }
}
