/**
 * A scenario that is ready to be explored: its initial state, its undisturbed schedule, and the plan that follows.
 *
 * Every process that takes part in an exploration opens a session of its own. The outcome of a schedule depends only on
 * the scenario, the seed and the deviations, so that any process may run any schedule.
 */
import { exercisedRules } from './coverage.ts'
import type { Deviation, Profile } from './deviation.ts'
import { isExempt } from './failures.ts'
import { fingerprintRule, type Fingerprints } from './fingerprint.ts'
import { buildInitialState, type InitialState } from './initial-state.ts'
import { planNextDeviations, type NextDeviation } from './plan/plan.ts'
import type { Reference } from './reference.ts'
import { allRules } from './rules/registry.ts'
import type { Finding } from './rules/rule.ts'
import { kindsOf, type Scenario } from './scenario.ts'
import { referenceOf, runSchedule } from './schedule.ts'
import type { World } from './world.ts'

export interface SessionOptions {
  readonly seed: string
  readonly profile: Profile
  /** Pairs are planned: record fingerprints of the undisturbed schedule. */
  readonly isDeep: boolean
}

/** One schedule to run. */
export interface ScheduleJob {
  readonly deviations: readonly Deviation[]
  /** Also return the deviations that could follow. */
  readonly wantsNextDeviations: boolean
}

/** The result of a schedule: plain data, because it may come from another process. */
export interface ScheduleOutcome {
  readonly findings: readonly Finding[]
  readonly hash: string
  /** Rules that had something to check for the first time in this process. */
  readonly exercised: readonly string[]
  readonly nextDeviations: readonly NextDeviation[]
  /** How many following deviations were left out because tier 1 ran them. */
  readonly pruned: number
}

/** Runs up to `workers` schedules at a time. */
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
  /** The same schedule before anything was learned: it must be the same. */
  readonly preview: World
  readonly reference: Reference
  /** Every single deviation of the scenario. */
  readonly singles: readonly NextDeviation[]
  readonly #tried: ReadonlySet<string>
  readonly #exercised = new Set<string>()

  private constructor(base: Session['base'], made: Pick<Session, 'first' | 'preview' | 'reference' | 'singles'>) {
    this.base = base
    this.first = made.first
    this.preview = made.preview
    this.reference = made.reference
    this.singles = made.singles
    this.#tried = new Set(made.singles.map(({ key }) => key))
  }

  /** @throws {RangeError} when the undisturbed scenario fails. */
  static async open(scenario: Scenario, { seed, profile, isDeep }: SessionOptions): Promise<Session> {
    const base = {
      scenario,
      seed,
      profile,
      initialState: await buildInitialState(scenario, { kinds: kindsOf(scenario), seed }),
    }
    const preview = await runSchedule({ ...base, deviations: [], keepsTrace: true })
    checkSteps(preview)
    const reference = await referenceOf(preview, base)
    const fingerprints: Fingerprints = new Map()
    const first = await runSchedule({
      ...base,
      deviations: [],
      keepsTrace: true,
      masks: reference.masks,
      ...(isDeep && { rules: [...allRules, fingerprintRule(fingerprints)] }),
    })
    // A program that never becomes quiet without faults needs no faults.
    const singles = first.nonConvergence ? [] : planNextDeviations(first, { fingerprints })
    return new Session(base, { first, preview, singles, reference })
  }

  async run({ deviations, wantsNextDeviations }: ScheduleJob): Promise<ScheduleOutcome> {
    const fingerprints: Fingerprints = new Map()
    const world = await runSchedule({
      ...this.base,
      deviations,
      reference: this.reference,
      ...(wantsNextDeviations && { rules: [...allRules, fingerprintRule(fingerprints)] }),
    })
    const isWrong =
      world.nonConvergence !== undefined ||
      world.findings.some((finding) => finding.severity !== 'info' && !isExempt(finding, this.base.scenario))
    // A schedule that failed already gets no second deviation.
    const all = wantsNextDeviations && !isWrong ? planNextDeviations(world, { fingerprints, first: deviations[0] }) : []
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

  /** Rules that have something to check in this world and had nothing in the worlds before. */
  exercised(world: World): readonly string[] {
    const found = exercisedRules(world, this.#exercised)
    for (const rule of found) this.#exercised.add(rule)
    return found
  }
}

/** @throws {RangeError} when a step of the user fails without a fault: the scenario itself is wrong. */
function checkSteps({ stepErrors, options: { scenario } }: World): void {
  const [first] = stepErrors
  if (first)
    throw new RangeError(
      `scenario ${scenario.name}: the step "${first.step}" fails without a fault: ${first.error instanceof Error ? first.error.message : String(first.error)}`,
    )
}
