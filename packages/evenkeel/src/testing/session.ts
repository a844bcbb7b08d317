/**
 * A scenario, ready to be explored: its ground, its undisturbed schedule, and what came of that.
 *
 * Every process that takes part in an exploration has one of its own. What a schedule comes to depends on the scenario,
 * the seed and the deviations alone, so it does not matter which of them runs it.
 */
import { planNextDeviations, type NextDeviation } from './combinations.ts'
import { exercisedRules } from './coverage.ts'
import type { Deviation, Profile } from './deviation.ts'
import { isExempt } from './failures.ts'
import { fingerprintRule, type Fingerprints } from './fingerprint.ts'
import { buildInitialState, type InitialState } from './initial-state.ts'
import type { Reference } from './reference.ts'
import { allRules } from './rules/registry.ts'
import type { Finding } from './rules/rule.ts'
import { kindsOf, type Scenario } from './scenario.ts'
import { referenceOf, runSchedule } from './schedule.ts'
import type { World } from './world.ts'

export interface SessionOptions {
  readonly seed: string
  readonly profile: Profile
  /** What could come after a deviation will be asked for. */
  readonly isDeep: boolean
}

/** One schedule to run. */
export interface ScheduleJob {
  readonly deviations: readonly Deviation[]
  /** Also say what could come next. */
  readonly wantsNextDeviations: boolean
}

/** What came of it; plain data, for it may come from another process. */
export interface ScheduleOutcome {
  readonly findings: readonly Finding[]
  readonly hash: string
  /** Rules that had something to judge for the first time in this process. */
  readonly exercised: readonly string[]
  readonly nextDeviations: readonly NextDeviation[]
  /** How many that could come next have been tried alone. */
  readonly pruned: number
}

/** Runs schedules, some at a time. */
export interface ScheduleRunner {
  readonly workers: number
  run(job: ScheduleJob): Promise<ScheduleOutcome>
}

export class Session implements ScheduleRunner {
  readonly workers = 1
  readonly base: {
    readonly scenario: Scenario
    readonly initialState: InitialState
    readonly seed: string
    readonly profile: Profile
  }
  /** The undisturbed schedule. */
  readonly first: World
  readonly reference: Reference
  /** Everything that can go wrong alone. */
  readonly singles: readonly NextDeviation[]
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
    const base = {
      scenario,
      seed,
      profile,
      initialState: await buildInitialState(scenario, { kinds: kindsOf(scenario), seed }),
    }
    const prints: Fingerprints = new Map()
    const first = await runSchedule({
      ...base,
      deviations: [],
      keepsTrace: true,
      ...(isDeep && { rules: [...allRules, fingerprintRule(prints)] }),
    })
    checkPlayable(first)
    // Who never rests undisturbed has said enough.
    const singles = first.nonConvergence ? [] : planNextDeviations(first, { prints })
    return new Session(base, { first, singles, reference: await referenceOf(first, base) })
  }

  async run({ deviations, wantsNextDeviations: wantsNexts }: ScheduleJob): Promise<ScheduleOutcome> {
    const prints: Fingerprints = new Map()
    const world = await runSchedule({
      ...this.base,
      deviations,
      reference: this.reference,
      ...(wantsNexts && { rules: [...allRules, fingerprintRule(prints)] }),
    })
    const isWrong =
      world.nonConvergence !== undefined ||
      world.findings.some((finding) => finding.severity !== 'info' && !isExempt(finding, this.base.scenario))
    // What has gone wrong already is not made worse.
    const all = wantsNexts && !isWrong ? planNextDeviations(world, { prints, first: deviations[0] }) : []
    const tried = new Set(this.#tried)
    const nexts = all.filter(({ key }) => tried.size < tried.add(key).size)
    return {
      findings: world.findings,
      hash: world.trace.hash,
      exercised: this.exercised(world),
      nextDeviations: nexts,
      pruned: all.length - nexts.length,
    }
  }

  /** Rules that have something to judge in this world and had not before. */
  exercised(world: World): readonly string[] {
    const found = exercisedRules(world, this.#exercised)
    for (const rule of found) this.#exercised.add(rule)
    return found
  }
}

/** A scenario whose own steps fail says nothing about its controllers. @throws {RangeError} */
function checkPlayable({ stepErrors, options: { scenario } }: World): void {
  const [first] = stepErrors
  if (first)
    throw new RangeError(
      `the scenario ${scenario.name} cannot be played: "${first.step}" fails although nobody is in the way: ${first.error instanceof Error ? first.error.message : String(first.error)}`,
    )
}
