/**
 * Explores a scenario: every single thing that can go wrong, each in a world of its own, judged by the rules.
 *
 * First the undisturbed schedule, twice: it is the reference, and it must be the same both times. Then one deviation at
 * a time. The same failure in many schedules is told once, with how often it was seen.
 */
import { SystemClock } from '#base'
import type { Clock } from '#base'
import type { ControllerDeclaration } from '#controller'
import type { Deviation } from '../faults/deviation.ts'
import { profiles } from '../faults/profile.ts'
import type { Profile, ProfileName } from '../faults/profile.ts'
import type { Finding } from '../rules/finding.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { tellStory } from '../report/story.ts'
import { compareSnapshots } from '../state/compare.ts'
import type { Snapshot } from '../state/normalize.ts'
import { Reference } from '../state/reference.ts'
import { makeGround } from '../world/ground.ts'
import type { Ground } from '../world/ground.ts'
import type { World } from '../world/world.ts'
import { Collected } from './collected.ts'
import type { Failure } from './collected.ts'
import { kindsOf } from './kinds-of.ts'
import { planSingles } from './plan.ts'
import { runSchedule } from './run-schedule.ts'
import { shrink } from './shrink.ts'

/** The program: declarations, or a function that makes them for every life of a process. */
export type Program<Outside extends object> = Scenario<Outside>['controllers'] | readonly ControllerDeclaration[]

export interface ExploreOptions<Outside extends object = object> {
  readonly controllers: Program<Outside>
  /** What is there, and what a user does. */
  readonly scenario: Omit<Scenario<Outside>, 'controllers'>
  /** 0: the undisturbed schedule alone; 1: every single deviation. @default 1 */
  readonly tier?: 0 | 1
  /** @default '1' */
  readonly seed?: string
  /** What the server may do. @default 'evenkeel' */
  readonly profile?: ProfileName
  /** Stop after this long; what was left out is said. @default no limit */
  readonly budgetMs?: number
  /** Stop as soon as this has been found. @default go on to the end */
  readonly until?: (finding: Finding) => boolean
  /** How many failures are made smaller and told as stories. @default 20 */
  readonly stories?: number
  /** By which the time is measured. @default the machine's */
  readonly clock?: Clock
  readonly signal?: AbortSignal
  /** Hears how far it is. */
  readonly onProgress?: (progress: { readonly done: number, readonly all: number, readonly failures: number }) => void
}

export interface Explored {
  readonly scenario: string
  readonly failures: readonly Failure[]
  /** Schedules that were run, the undisturbed one included. */
  readonly schedules: number
  /** Schedules that were planned and not run. */
  readonly left: number
  readonly effects: number
  readonly looks: number
  /** The number of the undisturbed schedule's trace. */
  readonly hash: string
}

/**
 * Runs every single-fault schedule of a scenario and judges each by the rules.
 *
 * @throws {RangeError} when the scenario cannot be played at all.
 */
export async function explore<Outside extends object = object>(options: ExploreOptions<Outside>): Promise<Explored> {
  const scenario = scenarioOf(options)
  const { seed = '1', tier = 1, profile = 'evenkeel' } = options
  const ground = await makeGround(scenario, { kinds: kindsOf(scenario), seed })
  const base = { scenario, ground, seed, profile: profiles[profile] }
  const first = await runSchedule({ ...base, deviations: [], keepsTrace: true })
  const collected = new Collected(scenario)
  refuseBroken(first)
  collected.add([], first.findings)
  await checkRepeats(first, base, collected)
  // Who never rests undisturbed has said enough.
  const plan = tier === 0 || first.restless ? [] : planSingles({ points: first.points, world: first, profile: profiles[profile] })
  const reference = await referenceOf(first, base)
  const done = await runAll(plan, { base, reference, collected, options })
  await tellAll(collected, { base, reference, stories: options.stories ?? storiesMax })
  const count = (type: string): number => first.points.filter((point) => point.type === type).length
  return { scenario: scenario.name, failures: collected.failures, schedules: done + 2, left: plan.length - done, effects: count('effect'), looks: count('look'), hash: first.trace.hash }
}

export function scenarioOf<Outside extends object>({ controllers, scenario }: ExploreOptions<Outside>): Scenario {
  return { ...scenario, controllers: typeof controllers === 'function' ? controllers : () => controllers } as unknown as Scenario
}

interface Running {
  readonly base: { readonly scenario: Scenario, readonly ground: Ground, readonly seed: string, readonly profile: Profile }
  readonly reference: Reference
  readonly collected: Collected
  readonly options: Pick<ExploreOptions, 'signal' | 'onProgress' | 'budgetMs' | 'clock' | 'until'>
}

/** What the undisturbed schedule came to, and what time alone makes of it for a program that looks at the clock. */
async function referenceOf(first: World, base: Running['base']): Promise<Reference> {
  const isTimed = first.lives.some(({ manager }) => manager?.ledger.entries().some(({ end }) => end?.afterMs !== undefined))
  const patient = isTimed && !first.restless ? await runSchedule({ ...base, deviations: [{ at: { type: 'start', index: 0 }, deed: { type: 'wait' } }] }) : undefined
  return new Reference(first.rests, patient?.rests)
}

async function runAll(plan: readonly Deviation[], { base, reference, collected, options }: Running): Promise<number> {
  const { signal, onProgress, until, budgetMs = Infinity, clock = new SystemClock() } = options
  const startedAt = clock.monotonic()
  let done = 0
  for (const deviation of plan) {
    if (signal?.aborted || clock.monotonic() - startedAt > budgetMs || (until && collected.failures.some(until))) break
    const world = await runSchedule({ ...base, reference, deviations: [deviation] })
    collected.add([deviation], world.findings)
    done++
    onProgress?.({ done, all: plan.length, failures: collected.failures.length })
  }
  return done
}

/** Runs each failure once more with its trace kept, and tells its story. */
async function tellAll(collected: Collected, { base, reference, stories }: Pick<Running, 'base' | 'reference'> & { stories: number }): Promise<void> {
  for (const failure of collected.failures.slice(0, stories)) {
    const { deviations, finding } = await shrink({ scenario: base.scenario, deviations: failure.deviations }, failure, base)
    const world = await runSchedule({ ...base, deviations, keepsTrace: true, ...deviations.length > 0 && { reference } })
    const { message, diff, hint } = finding
    collected.retell({ ...failure, message, ...diff && { diff }, ...hint !== undefined && { hint }, deviations, story: tellStory(failure, world), hash: world.trace.hash })
  }
}

/** More would not be read. */
const storiesMax = 20

/** The same schedule must give the same trace: if not, something of the program lives outside its process. */
async function checkRepeats(first: World, base: Running['base'], collected: Collected): Promise<void> {
  const second = await runSchedule({ ...base, deviations: [], keepsTrace: true })
  if (second.trace.hash === first.trace.hash && second.rests.every(({ objects, outside }, index) => isSame(objects, first.rests[index]?.objects) && isSame(outside, first.rests[index]?.outside))) return
  const at = first.trace.entries.findIndex((entry, index) => second.trace.entries[index]?.what !== entry.what || second.trace.entries[index]?.actor !== entry.actor)
  const [one, other] = [first.trace.entries[at], second.trace.entries[at]]
  const finding: Finding = {
    rule: 'stateless', severity: 'error', about: 'the program', step: one?.step ?? 0,
    message: 'the same schedule went differently the second time: something outlives the process, or time and chance come from elsewhere',
    diff: [`first: ${one === undefined ? 'nothing' : `${one.actor} ${one.what}`}`, `then: ${other === undefined ? 'nothing' : `${other.actor} ${other.what}`}`],
    hint: 'keep nothing in variables of a module; take time and chance from the context',
  }
  collected.add([], [finding])
}

function isSame(one: Snapshot, other: Snapshot = new Map()): boolean {
  return compareSnapshots(one, other).length === 0
}

/** A scenario whose own steps fail says nothing about its controllers. @throws {RangeError} */
function refuseBroken({ stepErrors, options: { scenario } }: World): void {
  const [first] = stepErrors
  if (first) throw new RangeError(`the scenario ${scenario.name} cannot be played: "${first.step}" fails although nobody is in the way: ${first.error instanceof Error ? first.error.message : String(first.error)}`)
}
