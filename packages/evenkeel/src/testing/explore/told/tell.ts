/**
 * Tells failures: each is made as small as it gets, run once more with everything kept, and told as a story.
 */
import { describeDeviation } from '../../faults/deviation.ts'
import { timelineOf } from '../../report/timeline.ts'
import { buildStory } from '../../report/story.ts'
import type { FailureCollection, Failure } from '../collected.ts'
import { runSchedule } from '../run-schedule.ts'
import type { Session } from '../session.ts'
import { shrink } from './shrink.ts'

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
