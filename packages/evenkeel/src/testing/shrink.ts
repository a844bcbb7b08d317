/**
 * Shrinks a failure: fewer deviations, fewer steps of the user, earlier deviations, as long as the same failure remains.
 *
 * The same failure means the same rule and the same kind of object. The result cannot be made smaller by any of these
 * changes, so shrinking it again changes nothing.
 */
import { stringifyJson } from '#api'
import type { Deviation } from './deviation.ts'
import type { Reference } from './reference.ts'
import type { Finding } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { referenceOf, runSchedule } from './schedule.ts'
import type { World, WorldOptions } from './world.ts'

/** A scenario and the deviations that make it fail. */
interface ShrinkCase {
  readonly scenario: Scenario
  readonly deviations: readonly Deviation[]
}

interface Shrunk extends ShrinkCase {
  readonly finding: Finding
  /** The reference of its scenario; undefined when the undisturbed schedule fails. */
  readonly reference: Reference | undefined
}

type ShrinkBase = Pick<WorldOptions, 'initialState' | 'seed' | 'profile'>

interface ShrinkOptions {
  readonly base: ShrinkBase
  /** The reference of the whole scenario. */
  readonly reference: Reference
  /** How many schedules may run. @default 80 */
  readonly attemptsMax?: number
}

/** @returns the smallest case that was found, with the finding it still shows */
export async function shrink(
  found: ShrinkCase,
  finding: Finding,
  { base, reference, attemptsMax = 80 }: ShrinkOptions,
): Promise<Shrunk> {
  const references = new Map([[found.scenario.steps.length, reference]])
  let best: Shrunk = { ...found, finding, reference: found.deviations.length === 0 ? undefined : reference }
  const tried = new Set<string>()
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const candidate of smallerCases(best)) {
      const name = `${candidate.scenario.steps.length} ${stringifyJson(candidate.deviations)}`
      if (tried.has(name)) continue
      if (tried.size >= attemptsMax) return best
      tried.add(name)
      const still = await reproduce(candidate, finding, { base, references })
      if (!still) continue
      best = still
      isSmaller = true
      break
    }
  }
  return best
}

/** All cases that are one change smaller; those that save most come first. */
function* smallerCases({ scenario, deviations }: ShrinkCase): Generator<ShrinkCase> {
  if (deviations.length > 1) for (const deviation of deviations) yield { scenario, deviations: [deviation] }
  if (deviations.length > 2)
    for (const index of deviations.keys())
      yield { scenario, deviations: deviations.filter((_, other) => other !== index) }
  const { steps } = scenario
  // Removing steps at the end does not move the points of deviations.
  for (let length = 1; length < steps.length; length++)
    yield { scenario: { ...scenario, steps: steps.slice(0, length) }, deviations }
  yield* earlierCases({ scenario, deviations })
}

/** Each deviation at each earlier point of its type, the earliest first. */
function* earlierCases({ scenario, deviations }: ShrinkCase): Generator<ShrinkCase> {
  for (const [which, { at, action }] of deviations.entries()) {
    for (let index = 0; index < at.index; index++)
      yield {
        scenario,
        deviations: deviations.map((one, other) => (other === which ? { at: { ...at, index }, action } : one)),
      }
  }
}

interface ReproduceOptions {
  readonly base: ShrinkBase
  /** By the number of steps of the user. */
  readonly references: Map<number, Reference>
}

async function reproduce(
  { scenario, deviations }: ShrinkCase,
  { rule, about }: Finding,
  { base, references }: ReproduceOptions,
): Promise<Shrunk | undefined> {
  let reference = references.get(scenario.steps.length)
  if (!reference) {
    const undisturbed = await runSchedule({ ...base, scenario, deviations: [] })
    if (undisturbed.stepErrors.length > 0) return undefined
    reference = await referenceOf(undisturbed, { ...base, scenario })
    references.set(scenario.steps.length, reference)
  }
  if (deviations.length === 0) {
    const undisturbed = await runSchedule({ ...base, scenario, deviations, masks: reference.masks })
    const alone = matchingFinding(undisturbed, { rule, about })
    return alone && { scenario, deviations, finding: alone, reference: undefined }
  }
  const finding = matchingFinding(await runSchedule({ ...base, scenario, deviations, reference }), { rule, about })
  return finding && { scenario, deviations, finding, reference }
}

/** The finding of the same rule about the same object, or about the same kind of object. */
function matchingFinding({ findings }: World, { rule, about }: Pick<Finding, 'rule' | 'about'>): Finding | undefined {
  const kind = about.split(' ')[0]
  const alike = findings.filter((finding) => finding.rule === rule && finding.about.split(' ')[0] === kind)
  return alike.find((finding) => finding.about === about) ?? alike[0]
}
