/**
 * Runs one schedule again, from a file, and says whether it still fails and whether it went the same way.
 */
import { profiles } from '../faults/profile.ts'
import type { Finding } from '../rules/finding.ts'
import type { ReplayFile } from '../report/replay-file.ts'
import { tellStory } from '../report/story.ts'
import type { StoryLine } from '../report/story.ts'
import { Reference } from '../state/reference.ts'
import { makeGround } from '../world/ground.ts'
import { scenarioOf } from './explore.ts'
import type { ExploreOptions } from './explore.ts'
import { kindsOf } from './kinds-of.ts'
import { runSchedule } from './run-schedule.ts'

export interface Replayed {
  /** The rule that the file expects was found broken again. */
  readonly isFound: boolean
  /** The trace is the very same. */
  readonly isSame: boolean
  readonly hash: string
  readonly findings: readonly Finding[]
  readonly story: readonly StoryLine[]
}

/** @throws {RangeError} when the file belongs to another scenario. */
export async function replay<Outside extends object = object>(file: ReplayFile, options: Pick<ExploreOptions<Outside>, 'controllers' | 'scenario'>): Promise<Replayed> {
  const scenario = scenarioOf(options)
  if (scenario.name !== file.scenario) throw new RangeError(`this replay file is about the scenario ${file.scenario}, not ${scenario.name}`)
  const { seed, deviations, expected } = file
  const base = { scenario, seed, profile: profiles[file.profile], ground: await makeGround(scenario, { kinds: kindsOf(scenario), seed }) }
  const first = await runSchedule({ ...base, deviations: [] })
  const world = deviations.length === 0 ? first : await runSchedule({ ...base, deviations, reference: new Reference(first.rests), keepsTrace: true })
  const { hash } = world.trace
  return {
    isFound: world.findings.some(({ rule, about }) => rule === expected.rule && about === expected.about), isSame: hash === file.hash, hash,
    findings: world.findings, story: tellStory({ about: expected.about, deviations }, world),
  }
}
