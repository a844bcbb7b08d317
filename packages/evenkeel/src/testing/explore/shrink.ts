/**
 * Makes a failure smaller: fewer deviations, then fewer steps of the user, while it stays the same failure.
 *
 * The same means the same rule and the same kind of thing: a smaller schedule that breaks another rule is another story.
 */
import type { Deviation } from '../faults/deviation.ts'
import type { Finding } from '../rules/finding.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { Reference } from '../state/reference.ts'
import { runSchedule } from './run-schedule.ts'
import type { World, WorldOptions } from '../world/world.ts'

interface Case {
  readonly scenario: Scenario
  readonly deviations: readonly Deviation[]
}

type Base = Pick<WorldOptions, 'ground' | 'seed' | 'profile'>

/** @returns the smallest case that was found, with the finding it still shows */
export async function shrink(found: Case, finding: Finding, base: Base): Promise<Case & { readonly finding: Finding }> {
  let best: Case & { finding: Finding } = { ...found, finding }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const candidate of smaller(best)) {
      const still = await showsAgain(candidate, finding, base)
      if (!still) continue
      best = { ...candidate, finding: still }
      isSmaller = true
      break
    }
  }
  return best
}

/** Everything one step smaller, what saves most first. */
function* smaller({ scenario, deviations }: Case): Generator<Case> {
  if (deviations.length > 1) for (const index of deviations.keys()) yield { scenario, deviations: deviations.filter((_, other) => other !== index) }
  const { steps } = scenario
  // Steps at the end can go without moving the places of deviations.
  for (let length = 1; length < steps.length; length++) yield { scenario: { ...scenario, steps: steps.slice(0, length) }, deviations }
}

async function showsAgain({ scenario, deviations }: Case, { rule, about }: Finding, base: Base): Promise<Finding | undefined> {
  const reference = await runSchedule({ ...base, scenario, deviations: [] })
  if (reference.stepErrors.length > 0) return undefined
  const world = deviations.length === 0 ? reference : await runSchedule({ ...base, scenario, deviations, reference: new Reference(reference.rests) })
  return same(world, { rule, about })
}

function same({ findings }: World, { rule, about }: Pick<Finding, 'rule' | 'about'>): Finding | undefined {
  const kind = about.split(' ')[0]
  return findings.find((finding) => finding.rule === rule && finding.about.split(' ')[0] === kind)
}
