/**
 * Failures as they are told: one for every rule and thing, however many schedules show it, with the shortest way to it.
 */
import { describeDeviation, type Deviation } from './deviation.ts'
import { buildStory, timelineOf, type StoryLine, type Timeline } from './report/timeline.ts'
import type { Finding } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { runSchedule } from './schedule.ts'
import type { Session } from './session.ts'
import { shrink } from './shrink.ts'

export interface Failure extends Finding {
  /** What has to go wrong for it to show; nothing for some. */
  readonly deviations: readonly Deviation[]
  /** The same in words. */
  readonly when: readonly string[]
  /** The shortest story of it. */
  readonly story?: readonly StoryLine[]
  /** How many steps the user takes in it. */
  readonly steps?: number
  /** All that happened in it. */
  readonly timeline?: Timeline
  /** The number of its trace. */
  readonly hash?: string
  /** In how many schedules it was seen. */
  readonly seen: number
  /** After how many schedules it was first seen. */
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
    const told = new Set<string>()
    for (const finding of findings) {
      const key = `${finding.rule} ${finding.about}`
      if (told.has(key) || isExempt(finding, this.#scenario)) continue
      told.add(key)
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

  /** Replaces a failure by the same one, better told. */
  replace({ rule, about }: Pick<Failure, 'rule' | 'about'>, better: Failure): void {
    this.#failures.set(`${rule} ${about}`, better)
  }
}

/** Whether the scenario says that this is as it should be. */
export function isExempt({ rule, about }: Finding, { exceptions = [] }: Pick<Scenario, 'exceptions'>): boolean {
  return exceptions.some(
    (exception) => exception.rule === rule && (exception.about === undefined || about.includes(exception.about)),
  )
}

/*
 * Tells failures: each is made as small as it gets, run once more with everything kept, and told as a story.
 */

/** @param options `stories`: how many are told; the others stay as they were found */
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
    story: buildStory({ about, deviations }, world),
    timeline: timelineOf(world, finding),
  }
}
