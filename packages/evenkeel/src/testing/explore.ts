/**
 * `explore`: runs one scenario under many schedules and reports which rules the program breaks.
 *
 * The undisturbed schedule runs first, twice: it is the reference, and both runs must give the same trace. Single
 * deviations follow (tier 1), then pairs (tier 2), then random combinations (tier 3). Every schedule runs in a new world.
 * A failure that many schedules show is reported once, with a count. The result says which planned schedules did not run.
 */
import type { Kind } from '#api'
import { SystemClock, type Clock } from '#base'
import type { ControllersOf } from '#manager'
import { CoverageCounter, type Coverage } from './coverage.ts'
import { profiles, type ProfileName } from './deviation.ts'
import { describeFailures, FailureCollection, type Failure } from './failures.ts'
import { drawSchedule, planPairs } from './plan/plan.ts'
import type { Finding } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { Session } from './session.ts'
import { compareSnapshots, type Snapshot } from './snapshot.ts'
import { TierRunner, type Progress, type Stopped, type Tier, type TierResult } from './tier-runner.ts'
import { openWorkers } from './workers.ts'

/** The program: controller declarations, or a function that makes them for every process that starts. */
type Program<External extends object, Kinds extends readonly Kind[]> =
  | Scenario<External>['controllers']
  | ControllersOf<Kinds>

export interface ExploreOptions<External extends object = object, Kinds extends readonly Kind[] = readonly Kind[]> {
  readonly controllers: Program<External, Kinds>
  /** The initial objects, the external services and the steps of the user. */
  readonly scenario: Omit<Scenario<External>, 'controllers'>
  /** 0: only the undisturbed schedule; 1: every single deviation; 2: also pairs; 3: also random combinations. @default 1 */
  readonly tier?: Tier
  /** @default '1' */
  readonly seed?: string
  /** How many random schedules tier 3 runs. @default 1000 */
  readonly seeds?: number
  /** Which server the world simulates: it decides which faults are legal. @default 'evenkeel' */
  readonly profile?: ProfileName
  /**
   * Start no schedule after this time; `left` counts the schedules that did not run. In tier 3, pairs get half of the
   * time that single deviations leave. @default no limit
   */
  readonly budgetMs?: number
  /** Run no more schedules than this. @default no limit */
  readonly schedulesMax?: number
  /** The module that exports `controllers` and `scenario`: worker processes import it. @default one core */
  readonly module?: string | URL
  /** How many worker processes run schedules; needs `module`. @default one per core of the machine */
  readonly cores?: number
  /** Stop at the first finding for which this returns true. @default run all schedules */
  readonly until?: (finding: Finding) => boolean
  /** How many failures are shrunk and described by a story. @default 20 */
  readonly stories?: number
  /** Measures the time of the exploration. @default the system clock */
  readonly clock?: Clock
  readonly signal?: AbortSignal
  /** Called after every schedule. */
  readonly onProgress?: (progress: Progress) => void
}

export interface Explored {
  readonly scenario: string
  readonly seed: string
  readonly profile: ProfileName
  readonly failures: readonly Failure[]
  /** How many schedules ran, including the undisturbed one. */
  readonly schedules: number
  /** How many planned schedules did not run. */
  readonly left: number
  /** The result of each tier. */
  readonly tiers: readonly TierResult[]
  /** Why the exploration ended early, if it did. */
  readonly stopped?: Stopped
  readonly coverage: Coverage
  readonly effects: number
  readonly reads: number
  /** How many processes ran schedules. */
  readonly cores: number
  /** Why only one core was used although more were requested. */
  readonly whyOneCore?: string
  readonly ms: number
  /** The trace hash of the undisturbed schedule. */
  readonly hash: string
}

/** Readers do not get further than this. */
const storiesMax = 20

/**
 * Runs a scenario under every fault of the requested tier and checks each schedule against the rules.
 *
 * @throws {RangeError} when the undisturbed scenario fails, or an option is out of range.
 */
export async function explore<External extends object = object, const Kinds extends readonly Kind[] = readonly Kind[]>(
  given: ExploreOptions<External, Kinds>,
): Promise<Explored> {
  const options = given as ExploreOptions<External>
  const { seed = '1', profile = 'evenkeel', clock = new SystemClock(), stories = storiesMax, tier = 1 } = options
  checkNumbers(options)
  const startedAtMs = clock.monotonic()
  const scenario = scenarioOf(options)
  const sessionOptions = { seed, profile: profiles[profile], isDeep: tier >= 2 }
  const session = await Session.open(scenario, sessionOptions)
  const { first } = session
  const collected = new FailureCollection(scenario)
  const coverage = new CoverageCounter(first)
  coverage.add([], session.exercised(first))
  collected.add([], first.findings)
  checkRepeats(session, collected)
  const workers = await openWorkers(session, {
    ...options,
    session: sessionOptions,
    isWorth: tier > 0 && session.singles.length > 0,
  })
  const tierRunner = new TierRunner({ ...options, clock, runner: workers.runner, collected, coverage })
  try {
    await runTiers(tierRunner, session, { tier, seed, seeds: options.seeds ?? 1000 })
  } finally {
    await workers.close()
  }
  await describeFailures(collected, session, { stories })
  const count = (type: string): number => first.interactions.filter((interaction) => interaction.type === type).length
  return {
    scenario: scenario.name,
    seed,
    profile,
    failures: collected.failures,
    schedules: tierRunner.schedules + 2,
    left: tierRunner.tiers.reduce((sum, { planned, done }) => sum + planned - done, 0),
    tiers: [{ tier: 0, planned: 2, done: 2, pruned: 0 }, ...tierRunner.tiers],
    ...(tierRunner.stopped && { stopped: tierRunner.stopped }),
    coverage: coverage.result,
    effects: count('effect'),
    reads: count('read'),
    cores: workers.runner.workers,
    ...(workers.why !== undefined && { whyOneCore: workers.why }),
    ms: Math.round(clock.monotonic() - startedAtMs),
    hash: first.trace.hash,
  }
}

export function scenarioOf<External extends object>({
  controllers,
  scenario,
}: Pick<ExploreOptions<External>, 'controllers' | 'scenario'>): Scenario {
  // The Explorer treats services as plain objects; only the program knows their types.
  return {
    ...scenario,
    controllers: typeof controllers === 'function' ? controllers : () => controllers,
  } as unknown as Scenario
}

/** Runs tier after tier, up to the requested one. */
async function runTiers(
  tierRunner: TierRunner,
  { singles }: Session,
  { tier, seed, seeds }: { tier: Tier; seed: string; seeds: number },
): Promise<void> {
  if (tier < 1 || singles.length === 0) return
  const outcomes = await tierRunner.run(
    1,
    singles.map(({ deviation }) => [deviation]),
    { wantsNextDeviations: tier >= 2 },
  )
  if (tier < 2) return
  const { pairs, pruned } = planPairs(
    singles,
    outcomes.map(({ nextDeviations: nexts }) => nexts),
  )
  await tierRunner.run(2, pairs, {
    pruned: outcomes.reduce((sum, outcome) => sum + outcome.pruned, pruned),
    share: tier === 3 ? 0.5 : 1,
  })
  if (tier < 3) return
  // A deviation that fails alone would hide failures that need a combination.
  const deviations = singles.flatMap(({ deviation }, index) =>
    outcomes[index]?.findings.every(({ severity }) => severity === 'info') ? [deviation] : [],
  )
  await tierRunner.run(
    3,
    Array.from({ length: seeds }, (_, index) => drawSchedule(`${seed} ${index}`, deviations)),
  )
}

/** @throws {RangeError} for a number that is out of range. */
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

/** The undisturbed schedule ran twice: a different trace means that the program keeps state outside its process. */
function checkRepeats({ preview: first, first: second }: Session, collected: FailureCollection): void {
  if (
    second.trace.hash === first.trace.hash &&
    second.quietStates.every(
      ({ objects, external }, index) =>
        isSame(objects, first.quietStates[index]?.objects) && isSame(external, first.quietStates[index]?.external),
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
      'the second run of the same schedule differs: state outlives the process, or time or randomness bypasses the simulation',
    diff: [
      `first: ${one === undefined ? 'nothing' : `${one.actor} ${one.what}`}`,
      `second: ${other === undefined ? 'nothing' : `${other.actor} ${other.what}`}`,
    ],
    hint: 'keep no state in module variables; use the clock and the random source of the context',
  }
  collected.add([], [finding])
}

function isSame(one: Snapshot, other: Snapshot = new Map()): boolean {
  return compareSnapshots(one, other).length === 0
}
