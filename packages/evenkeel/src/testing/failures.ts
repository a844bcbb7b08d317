/**
 * Failures: findings of all schedules, one per rule and object, each with the shortest schedule that shows it.
 *
 * A failure that is described is shrunk, run once more with its trace kept, and gets a story and a timeline.
 */
import { describeDeviation, type Deviation } from './deviation.ts'
import { buildStory, type StoryLine } from './report/story.ts'
import { timelineOf, type Timeline } from './report/timeline.ts'
import type { Finding } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { runSchedule } from './schedule.ts'
import type { Session } from './session.ts'
import { shrink } from './shrink.ts'

export interface Failure extends Finding {
  /** The deviations that cause it; empty when the undisturbed schedule shows it. */
  readonly deviations: readonly Deviation[]
  /** The deviations as text. */
  readonly when: readonly string[]
  /** What happens in the shortest schedule that shows it. */
  readonly story?: readonly StoryLine[]
  /** How many steps the user takes in that schedule. */
  readonly steps?: number
  /** All events of that schedule. */
  readonly timeline?: Timeline
  /** The trace hash of that schedule. */
  readonly hash?: string
  /** How many schedules showed it. */
  readonly seen: number
  /** The number of the first schedule that showed it. */
  readonly foundAt: number
}

export class FailureCollection {
  readonly #scenario: Pick<Scenario, 'exceptions'>
  readonly #failures = new Map<string, Failure>()
  #schedules = 0

  constructor(scenario: Pick<Scenario, 'exceptions'>) {
    this.#scenario = scenario
  }

  get failures(): readonly Failure[] {
    return [...this.#failures.values()]
  }

  add(deviations: readonly Deviation[], findings: readonly Finding[]): void {
    this.#schedules++
    const reported = new Set<string>()
    for (const finding of findings) {
      const key = `${finding.rule} ${finding.about}`
      if (reported.has(key) || isExempt(finding, this.#scenario)) continue
      reported.add(key)
      const known = this.#failures.get(key)
      if (known) this.#failures.set(key, { ...known, seen: known.seen + 1 })
      else
        this.#failures.set(key, {
          ...finding,
          deviations,
          when: deviations.map(describeDeviation),
          seen: 1,
          foundAt: this.#schedules,
        })
    }
  }

  /** Replaces a failure by its shrunk form. */
  replace({ rule, about }: Pick<Failure, 'rule' | 'about'>, better: Failure): void {
    this.#failures.set(`${rule} ${about}`, better)
  }
}

/** Whether an exception of the scenario covers the finding. */
export function isExempt({ rule, about }: Finding, { exceptions = [] }: Pick<Scenario, 'exceptions'>): boolean {
  return exceptions.some(
    (exception) => exception.rule === rule && (exception.about === undefined || about.includes(exception.about)),
  )
}

/** Shrinks failures and adds their stories. @param options `stories`: how many; the others stay as they were found */
export async function describeFailures(
  collected: FailureCollection,
  { base, reference }: Pick<Session, 'base' | 'reference'>,
  { stories }: { stories: number },
): Promise<void> {
  for (const failure of collected.failures.slice(0, stories))
    collected.replace(failure, await describeFailure(failure, { base, reference }))
}

async function describeFailure(
  failure: Failure,
  { base, reference: whole }: Pick<Session, 'base' | 'reference'>,
): Promise<Failure> {
  const { scenario, deviations, finding, reference } = await shrink(
    { scenario: base.scenario, deviations: failure.deviations },
    failure,
    { base, reference: whole },
  )
  const world = await runSchedule({ ...base, scenario, deviations, keepsTrace: true, ...(reference && { reference }) })
  const { message, diff, hint, about, step } = finding
  return {
    rule: failure.rule,
    severity: finding.severity,
    about,
    message,
    step,
    ...(diff && { diff }),
    ...(hint !== undefined && { hint }),
    deviations,
    when: deviations.map(describeDeviation),
    steps: scenario.steps.length,
    hash: world.trace.hash,
    seen: failure.seen,
    foundAt: failure.foundAt,
    story: buildStory({ about }, world),
    timeline: timelineOf(world, finding),
  }
}
