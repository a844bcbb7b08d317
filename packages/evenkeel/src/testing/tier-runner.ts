/**
 * Goes through schedules, as many at a time as there are lanes, until all are done or something says stop.
 *
 * Schedules are begun in their order, and what they came to is taken in that order too: what is found, and as which,
 * does not depend on how many lanes there are.
 */
import type { Clock } from '#base'
import type { CoverageCounter } from './coverage.ts'
import type { Deviation } from './deviation.ts'
import type { FailureCollection } from './failures.ts'
import type { Finding } from './rules/rule.ts'
import type { ScheduleOutcome, ScheduleRunner } from './session.ts'

export type Tier = 0 | 1 | 2 | 3

/** How far an exploration is. */
export interface Progress {
  /** 0: the undisturbed schedule; 1: single deviations; 2: pairs; 3: by seeds. */
  readonly tier: Tier
  /** Schedules of this tier that are done, and all of it. */
  readonly done: number
  readonly planned: number
  /** Failures so far, each counted once. */
  readonly failures: number
  /** Rules that were found broken so far. */
  readonly broken: readonly string[]
  /** Schedules a second, in this tier. */
  readonly perSecond: number
}

/** What became of a tier. */
export interface TierResult {
  readonly tier: Tier
  readonly planned: number
  readonly done: number
  /** Not planned, because the same is tried elsewhere. */
  readonly pruned: number
}

/** Why an exploration ended before it was over. */
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
  /** A tier has used up its share of the time, or of the schedules; others may go on. */
  #cut: Stopped | undefined

  constructor(options: TierRunnerOptions) {
    this.#options = options
    this.#startedAtMs = options.clock.monotonic()
  }

  /** Why it ended early, if it did. */
  get stopped(): Stopped | undefined {
    return this.#stopped ?? this.#cut
  }

  /** Schedules that were run. */
  get schedules(): number {
    return this.#schedules
  }

  /**
   * @param options `share`: of the time and the schedules that are left, for there is more to come
   * @returns what the schedules came to, in their order, as far as they were run
   */
  async run(
    tier: Tier,
    schedules: readonly (readonly Deviation[])[],
    { pruned = 0, wantsNexts = false, share = 1 }: { pruned?: number; wantsNexts?: boolean; share?: number } = {},
  ): Promise<readonly ScheduleOutcome[]> {
    const { runner, clock, budgetMs = Infinity, schedulesMax = Infinity } = this.#options
    const [begun, taken] = [new Map<number, ScheduleOutcome>(), [] as ScheduleOutcome[]]
    const startedAtMs = clock.monotonic()
    const end = {
      ms: startedAtMs + share * (this.#startedAtMs + budgetMs - startedAtMs),
      schedules: this.#schedules + Math.ceil(share * (schedulesMax - this.#schedules)),
    }
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < schedules.length && !this.#isOver(next - taken.length, end)) {
        const index = next++
        begun.set(index, await runner.run({ deviations: schedules[index] ?? [], wantsNextDeviations: wantsNexts }))
        for (
          let outcome = begun.get(taken.length);
          outcome && this.#stopped !== 'found';
          outcome = begun.get(taken.length)
        ) {
          begun.delete(taken.length)
          taken.push(outcome)
          this.#take(schedules[taken.length - 1] ?? [], outcome)
          this.#tell({ tier, done: taken.length, planned: schedules.length, startedAtMs })
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(runner.workers, schedules.length) }, lane))
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

  /** @param begun schedules that are under way */
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

  #tell({
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
