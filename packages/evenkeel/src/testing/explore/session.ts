/**
 * A scenario, ready to be explored: its ground, its undisturbed schedule, and what came of that.
 *
 * Every process that takes part in an exploration has one of its own. What a schedule comes to depends on the scenario,
 * the seed and the deviations alone, so it does not matter which of them runs it.
 */
import type { Deviation } from '../faults/deviation.ts'
import type { Profile } from '../faults/profile.ts'
import { allRules } from '../rules/index.ts'
import type { Finding } from '../rules/finding.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { Reference } from '../state/reference.ts'
import { makeGround } from '../world/ground.ts'
import type { Ground } from '../world/ground.ts'
import type { World } from '../world/world.ts'
import { isMeant } from './collected.ts'
import { exercisedIn } from './coverage/opportunities.ts'
import { fingerprinting } from './deep/fingerprint.ts'
import type { Prints } from './deep/fingerprint.ts'
import { planNexts } from './deep/pairs.ts'
import type { Next } from './deep/pairs.ts'
import { kindsOf } from './kinds-of.ts'
import { referenceOf } from './reference-of.ts'
import { runSchedule } from './run-schedule.ts'

export interface SessionOptions {
  readonly seed: string
  readonly profile: Profile
  /** What could come after a deviation will be asked for. */
  readonly isDeep: boolean
}

/** One schedule to run. */
export interface Job {
  readonly deviations: readonly Deviation[]
  /** Also say what could come next. */
  readonly wantsNexts: boolean
}

/** What came of it; plain data, for it may come from another process. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly hash: string
  /** Rules that had something to judge for the first time in this process. */
  readonly exercised: readonly string[]
  readonly nexts: readonly Next[]
  /** How many that could come next have been tried alone. */
  readonly pruned: number
}

/** Runs schedules, some at a time. */
export interface Runner {
  readonly lanes: number
  run(job: Job): Promise<Outcome>
}

export class Session implements Runner {
  readonly lanes = 1
  readonly base: {
    readonly scenario: Scenario
    readonly ground: Ground
    readonly seed: string
    readonly profile: Profile
  }
  /** The undisturbed schedule. */
  readonly first: World
  readonly reference: Reference
  /** Everything that can go wrong alone. */
  readonly singles: readonly Next[]
  readonly #tried: ReadonlySet<string>
  readonly #exercised = new Set<string>()

  private constructor(base: Session['base'], made: Pick<Session, 'first' | 'reference' | 'singles'>) {
    this.base = base
    this.first = made.first
    this.reference = made.reference
    this.singles = made.singles
    this.#tried = new Set(made.singles.map(({ key }) => key))
  }

  /** @throws {RangeError} when the scenario cannot be played. */
  static async open(scenario: Scenario, { seed, profile, isDeep }: SessionOptions): Promise<Session> {
    const base = { scenario, seed, profile, ground: await makeGround(scenario, { kinds: kindsOf(scenario), seed }) }
    const prints: Prints = new Map()
    const first = await runSchedule({
      ...base,
      deviations: [],
      keepsTrace: true,
      ...(isDeep && { rules: [...allRules, fingerprinting(prints)] }),
    })
    refuseBroken(first)
    // Who never rests undisturbed has said enough.
    const singles = first.restless ? [] : planNexts(first, { prints })
    return new Session(base, { first, singles, reference: await referenceOf(first, base) })
  }

  async run({ deviations, wantsNexts }: Job): Promise<Outcome> {
    const prints: Prints = new Map()
    const world = await runSchedule({
      ...this.base,
      deviations,
      reference: this.reference,
      ...(wantsNexts && { rules: [...allRules, fingerprinting(prints)] }),
    })
    const isWrong =
      world.restless !== undefined ||
      world.findings.some((finding) => finding.severity !== 'info' && !isMeant(finding, this.base.scenario))
    // What has gone wrong already is not made worse.
    const all = wantsNexts && !isWrong ? planNexts(world, { prints, first: deviations[0] }) : []
    const tried = new Set(this.#tried)
    const nexts = all.filter(({ key }) => tried.size < tried.add(key).size)
    return {
      findings: world.findings,
      hash: world.trace.hash,
      exercised: this.exercised(world),
      nexts,
      pruned: all.length - nexts.length,
    }
  }

  /** Rules that have something to judge in this world and had not before. */
  exercised(world: World): readonly string[] {
    const found = exercisedIn(world, this.#exercised)
    for (const rule of found) this.#exercised.add(rule)
    return found
  }
}

/** A scenario whose own steps fail says nothing about its controllers. @throws {RangeError} */
function refuseBroken({ stepErrors, options: { scenario } }: World): void {
  const [first] = stepErrors
  if (first)
    throw new RangeError(
      `the scenario ${scenario.name} cannot be played: "${first.step}" fails although nobody is in the way: ${first.error instanceof Error ? first.error.message : String(first.error)}`,
    )
}
