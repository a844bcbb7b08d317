/**
 * Explores a scenario: what can go wrong in it, each time in a world of its own, judged by the rules.
 *
 * First the undisturbed schedule, twice: it is the reference, and it must be the same both times. Then one deviation at
 * a time, then pairs, then by chance, as far as was asked for. The same failure in many schedules is told once, with how
 * often it was seen. What was planned and not done is said.
 */
import { SystemClock, type Clock } from '#base'
import { drawSchedule, planPairs } from './combinations.ts'
import { CoverageCounter, type Coverage } from './coverage.ts'
import { profiles, type ProfileName } from './deviation.ts'
import { describeFailures, FailureCollection, type Failure } from './failures.ts'
import type { Finding } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { runSchedule } from './schedule.ts'
import { Session } from './session.ts'
import { compareSnapshots, type Snapshot } from './snapshot.ts'
import { TierRunner, type Progress, type Stopped, type Tier, type TierResult } from './tier-runner.ts'
import { openWorkers } from './workers.ts'

/** The program: declarations, or a function that makes them for every life of a process. */
export type Program<Outside extends object> =
  | Scenario<Outside>['controllers']
  | ReturnType<Scenario<Outside>['controllers']>

export interface ExploreOptions<Outside extends object = object> {
  readonly controllers: Program<Outside>
  /** What is there, and what a user does. */
  readonly scenario: Omit<Scenario<Outside>, 'controllers'>
  /** 0: the undisturbed schedule alone; 1: every single deviation; 2: pairs as well; 3: and by chance. @default 1 */
  readonly tier?: Tier
  /** @default '1' */
  readonly seed?: string
  /** How many schedules are drawn by chance in tier 3. @default 1000 */
  readonly seeds?: number
  /** What the server may do. @default 'evenkeel' */
  readonly profile?: ProfileName
  /** Begin no schedule after this long; what was left out is said. With tier 3, pairs have half of what singles leave. @default no limit */
  readonly budgetMs?: number
  /** Run no more schedules than this. @default no limit */
  readonly schedulesMax?: number
  /** The module that exports `controllers` and `scenario`, for other cores: functions cannot be sent to them. @default one core */
  readonly module?: string | URL
  /** How many processes share the work, with `module`. @default as many as the machine has cores */
  readonly cores?: number
  /** Stop as soon as this has been found. @default go on to the end */
  readonly until?: (finding: Finding) => boolean
  /** How many failures are made smaller and told as stories. @default 20 */
  readonly stories?: number
  /** By which the time is measured. @default the machine's */
  readonly clock?: Clock
  readonly signal?: AbortSignal
  /** Hears how far it is. */
  readonly onProgress?: (progress: Progress) => void
}

export interface Explored {
  readonly scenario: string
  readonly seed: string
  readonly profile: ProfileName
  readonly failures: readonly Failure[]
  /** Schedules that were run, the undisturbed one included. */
  readonly schedules: number
  /** Schedules that were planned and not run. */
  readonly left: number
  /** What became of each tier. */
  readonly tiers: readonly TierResult[]
  /** Why it ended early, if it did. */
  readonly stopped?: Stopped
  readonly coverage: Coverage
  readonly effects: number
  readonly looks: number
  /** How many processes shared the work, and why it was one, if more were possible. */
  readonly cores: number
  readonly whyOneCore?: string
  readonly ms: number
  /** The number of the undisturbed schedule's trace. */
  readonly hash: string
}

/** More would not be read. */
const storiesMax = 20

/**
 * Runs a scenario with everything that can go wrong in it, as deep as asked for, and judges each schedule by the rules.
 *
 * @throws {RangeError} when the scenario cannot be played at all.
 */
export async function explore<Outside extends object = object>(options: ExploreOptions<Outside>): Promise<Explored> {
  const { seed = '1', profile = 'evenkeel', clock = new SystemClock(), stories = storiesMax, tier = 1 } = options
  checkNumbers(options)
  const startedAtMs = clock.monotonic()
  const scenario = scenarioOf(options)
  const making = { seed, profile: profiles[profile], isDeep: tier >= 2 }
  const session = await Session.open(scenario, making)
  const { first } = session
  const collected = new FailureCollection(scenario)
  const coverage = new CoverageCounter(first)
  coverage.add([], session.exercised(first))
  collected.add([], first.findings)
  await checkRepeats(session, collected)
  const lanes = await openWorkers(session, {
    ...options,
    session: making,
    isWorth: tier > 0 && session.singles.length > 0,
  })
  const tour = new TierRunner({ ...options, clock, runner: lanes.runner, collected, coverage })
  try {
    await runTiers(tour, session, { tier, seed, seeds: options.seeds ?? 1000 })
  } finally {
    await lanes.close()
  }
  await describeFailures(collected, session, { stories })
  const count = (type: string): number => first.interactions.filter((point) => point.type === type).length
  return {
    scenario: scenario.name,
    seed,
    profile,
    failures: collected.failures,
    schedules: tour.schedules + 2,
    left: tour.tiers.reduce((sum, { planned, done }) => sum + planned - done, 0),
    tiers: [{ tier: 0, planned: 2, done: 2, pruned: 0 }, ...tour.tiers],
    ...(tour.stopped && { stopped: tour.stopped }),
    coverage: coverage.result,
    effects: count('effect'),
    looks: count('look'),
    cores: lanes.runner.workers,
    ...(lanes.why !== undefined && { whyOneCore: lanes.why }),
    ms: Math.round(clock.monotonic() - startedAtMs),
    hash: first.trace.hash,
  }
}

export function scenarioOf<Outside extends object>({
  controllers,
  scenario,
}: Pick<ExploreOptions<Outside>, 'controllers' | 'scenario'>): Scenario {
  return {
    ...scenario,
    controllers: typeof controllers === 'function' ? controllers : () => controllers,
  } as unknown as Scenario
}

/** Tier by tier, as far as was asked for. */
async function runTiers(
  tour: TierRunner,
  { singles }: Session,
  { tier, seed, seeds }: { tier: Tier; seed: string; seeds: number },
): Promise<void> {
  if (tier < 1 || singles.length === 0) return
  const outcomes = await tour.run(
    1,
    singles.map(({ deviation }) => [deviation]),
    { wantsNexts: tier >= 2 },
  )
  if (tier < 2) return
  const { pairs, pruned } = planPairs(
    singles,
    outcomes.map(({ nextDeviations: nexts }) => nexts),
  )
  await tour.run(2, pairs, {
    pruned: outcomes.reduce((sum, outcome) => sum + outcome.pruned, pruned),
    share: tier === 3 ? 0.5 : 1,
  })
  if (tier < 3) return
  // What goes wrong alone hides what only goes wrong together.
  const deviations = singles.flatMap(({ deviation }, index) =>
    outcomes[index]?.findings.every(({ severity }) => severity === 'info') ? [deviation] : [],
  )
  await tour.run(
    3,
    Array.from({ length: seeds }, (_, index) => drawSchedule(`${seed} ${index}`, deviations)),
  )
}

/** @throws {RangeError} for numbers that mean nothing. */
function checkNumbers(
  options: Pick<ExploreOptions, 'budgetMs' | 'schedulesMax' | 'seeds' | 'cores' | 'stories' | 'tier'>,
): void {
  for (const name of ['budgetMs', 'schedulesMax', 'seeds', 'stories'] as const) {
    const value = options[name]
    if (value !== undefined && !(value >= 0)) throw new RangeError(`${name} must be 0 or more, got ${value}`)
  }
  const { cores = 1, tier = 1 } = options
  if (!(Number.isInteger(cores) && cores >= 1))
    throw new RangeError(`cores must be a whole number of 1 or more, got ${cores}`)
  if (![0, 1, 2, 3].includes(tier)) throw new RangeError(`tier must be 0, 1, 2 or 3, got ${tier}`)
}

/** The same schedule must give the same trace: if not, something of the program lives outside its process. */
async function checkRepeats({ first, base }: Session, collected: FailureCollection): Promise<void> {
  const second = await runSchedule({ ...base, deviations: [], keepsTrace: true })
  if (
    second.trace.hash === first.trace.hash &&
    second.quietStates.every(
      ({ objects, outside }, index) =>
        isSame(objects, first.quietStates[index]?.objects) && isSame(outside, first.quietStates[index]?.outside),
    )
  )
    return
  const at = first.trace.entries.findIndex(
    (entry, index) =>
      second.trace.entries[index]?.what !== entry.what || second.trace.entries[index]?.actor !== entry.actor,
  )
  const [one, other] = [first.trace.entries[at], second.trace.entries[at]]
  const finding: Finding = {
    rule: 'stateless',
    severity: 'error',
    about: 'the program',
    step: one?.step ?? 0,
    message:
      'the same schedule went differently the second time: something outlives the process, or time and chance come from elsewhere',
    diff: [
      `first: ${one === undefined ? 'nothing' : `${one.actor} ${one.what}`}`,
      `then: ${other === undefined ? 'nothing' : `${other.actor} ${other.what}`}`,
    ],
    hint: 'keep nothing in variables of a module; take time and chance from the context',
  }
  collected.add([], [finding])
}

function isSame(one: Snapshot, other: Snapshot = new Map()): boolean {
  return compareSnapshots(one, other).length === 0
}
