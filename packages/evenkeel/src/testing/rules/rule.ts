/**
 * What a rule is, what it may ask of a world, and what it finds.
 *
 * `error`: wrong in every program. `warning`: differs from the undisturbed schedule, and may be intended. `info`: worth
 * knowing.
 */
import type { WireRequest } from '#wire'
import type { Interaction } from '../deviation.ts'
import type { SimulatedProcess } from '../process.ts'
import type { RequestInfo } from '../requests.ts'
import type { World } from '../world.ts'

type Severity = 'error' | 'warning' | 'info'

export interface Finding {
  /** The code of the rule: `idempotent`. */
  readonly rule: string
  readonly severity: Severity
  /** The object or interaction: `ConfigMap default/a`. Rule and `about` identify a failure. */
  readonly about: string
  /** One sentence. */
  readonly message: string
  /** How to fix it, in one line. */
  readonly hint?: string
  /** Expected and found values, line by line. */
  readonly diff?: readonly string[]
  /** The step at which it was found. */
  readonly step: number
}

/** Observes a world while a schedule runs. Made once per schedule. */
export interface RuleWatcher {
  /** A process sent a request; it is not in the event queue yet. */
  request?(proc: SimulatedProcess, request: WireRequest, requestInfo: RequestInfo): void
  /** An interaction is about to be executed, unless a fault prevents it. */
  before?(interaction: Interaction): void
  /** An interaction was executed. */
  done?(interaction: Interaction): void
  /** An actor has changed an object or an external service. */
  committed?(actor: string): void
  /** The world is quiet while a deviation has changed a spec. */
  between?(): void | Promise<void>
  /** The world is quiet for the first time after a step of the user, before time leaps to what is due later. */
  rest?(): void
  /** The undisturbed world is quiet: a rule may trigger reconciles. */
  probe?(): Promise<void>
  /** The world is quiet; `isLast`: the schedule is over. */
  quiet?(phase: { readonly index: number; readonly isLast: boolean; readonly isHealed: boolean }): void | Promise<void>
}

/** What a rule may ask of the world of a schedule. Only its methods change anything. */
export interface RuleContext extends Readonly<
  Pick<
    World,
    /* The schedule and its limits. */
    | 'nonConvergence'
    | 'isBroken'
    | 'isHealed'
    | 'phase'
    /* What a rule may do: report a finding, and let the world run after a probe. */
    | 'addFinding'
    | 'runUntilQuiet'
  >
> {
  /** The scenario, the deviations and the reference of this schedule. */
  readonly options: Pick<World['options'], 'scenario' | 'deviations' | 'reference' | 'masks'>
  /** Simulated time. */
  readonly clock: Pick<World['clock'], 'monotonic'>
  /** Moves the wall clock between two probes. */
  readonly farTimers: Pick<World['farTimers'], 'passUnnoticed'>
  /** The true state, and what changed since the rule last asked. */
  readonly facts: World['facts']
  /** Every committed change and its actor. */
  readonly history: Pick<World['history'], 'events' | 'objects' | 'userObjects' | 'nameOf'>
  /** Requests and external calls that were executed, in order. */
  readonly interactions: readonly Interaction[]
  /** Events that have not run yet. */
  readonly eventQueue: Pick<World['eventQueue'], 'waiting'>
  /** All processes, running and crashed. */
  readonly processes: readonly SimulatedProcess[]
  /** Processes that lost the lease to another one, with the step at which they resumed. */
  readonly deposed: ReadonlyMap<SimulatedProcess, number>
  readonly logs: Readonly<World['logs']>
  readonly exits: Readonly<World['exits']>
  readonly unhandledRejections: Readonly<World['unhandledRejections']>
  readonly escapes: Readonly<World['escapes']>
  readonly stepErrors: Readonly<World['stepErrors']>
  /** The quiet states so far, while the undisturbed schedule runs. */
  readonly quietStates: Readonly<World['quietStates']>
}

export interface Rule {
  /** `idempotent` */
  readonly code: string
  /** The number of the golden rule, if it is one. */
  readonly number?: number
  /** The rule in one line. */
  readonly says: string
  watch(world: RuleContext): RuleWatcher
}
