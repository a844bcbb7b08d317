/**
 * A scenario: a program, its external services, its initial objects, and the steps of a user.
 *
 * A scenario is code without state. The Explorer calls its functions again for every schedule, so that no state passes
 * from one schedule to the next.
 */
import { parseTime, type Kind, type KubeObject, type UnstructuredObject } from '#api'
import { SeededRandom, silentLogger, SimulatedClock, type Clock, type Logger, type Random } from '#base'
import { Client } from '#client'
import { verbsOf, type ControllerDeclaration } from '#controller'
import type { ElectionSettings, ManagedContext, Runnable } from '#manager'

/** What the program receives when a process starts. */
export interface ProcessContext<External extends object> {
  /** The simulated external services, as this process reaches them: every call can fail, be slow or lose its reply. */
  readonly external: External
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** A client of this process, for programs that do not use the one of the reconcile context. */
  readonly client: Client
}

/** One action of the user. It runs when the world is quiet after the step before. */
export interface UserStep {
  /** `creates App a` */
  readonly name: string
  run(user: Client): Promise<unknown>
}

/** The user does nothing and time passes: programs work when their timers are due. */
export interface WaitStep {
  /** `90d`, `36h`, `1h30m`, or milliseconds. */
  readonly wait: string | number
  /** @default `waits 90d` */
  readonly name?: string
}

/** How the Explorer treats an external service. The service outlives every process. */
interface ExternalService {
  /** Methods that only read. @default those whose names begin with get, list, find, read, describe, has, is, exists, observe or watch */
  readonly reads?: readonly string[]
  /** The resources in the service as plain data, by id: rules compare them. @default the own fields of the service */
  readonly contents?: (service: never) => unknown
}

export interface Scenario<External extends object = object> {
  readonly name: string
  /** The program. Called once for every process that starts. */
  readonly controllers: (process: ProcessContext<External>) => readonly ControllerDeclaration<Kind, ManagedContext>[]
  /** What the program runs beside its controllers. @default none */
  readonly runnables?: (process: ProcessContext<External>) => readonly Runnable[]
  /** The steps of the user, in order. */
  readonly steps: readonly (UserStep | WaitStep)[]
  /** When the scenario begins: `2026-03-28T22:00:00Z`. @default 2026-01-01T00:00:00Z */
  readonly startsAt?: string
  /**
   * How often each timer beyond `quietMs` is waited for when the world is quiet after a step: what a reconcile asked for
   * by `afterMs`, and timers of the clock of the program. @default 1; 0 if a step waits
   */
  readonly timers?: number
  /** Kinds to install beside those of the controllers. @default none */
  readonly kinds?: readonly Kind[]
  /** Objects that exist before the program starts, each with its status. @default none */
  readonly objects?: readonly KubeObject[]
  /** Makes the external services, once per schedule. A service that takes time uses this clock. @default none */
  readonly external?: (world: { readonly clock: Clock }) => External
  /** How the Explorer treats each external service. @default as described in ExternalService */
  readonly services?: Partial<Record<Extract<keyof External, string>, ExternalService>>
  /** Leader election; some schedules then run two processes. @default false */
  readonly leaderElection?: ElectionSettings | false
  /** How many processes run; needs `leaderElection`. With more than one, writes of the lease can fail too. @default 1 */
  readonly replicas?: number
  /** Controllers of the cluster that the Explorer simulates: leave one out to explore your own. @default both */
  readonly clusterControllers?: readonly ('garbage' | 'namespaces')[]
  /** The world counts as quiet after this long without a write. @default 30_000 */
  readonly quietMs?: number
  /** Kill this process when the program blocks the event loop for this long; 0: never. @default 30_000 */
  readonly blockedMs?: number
  /** Whether an object whose Ready condition is True really is ready, judged by the true state. @default not checked */
  readonly ready?: (object: UnstructuredObject, world: WorldView<External>) => boolean
  /** Checked in every quiet state: returns a sentence that says what is wrong. @default not checked */
  readonly expects?: (world: WorldView<External>) => string | undefined
  /** Checked after each change: returns a sentence that says what is wrong. A write of the program must not break it. @default not checked */
  readonly always?: (world: WorldView<External>) => string | undefined
  /** Checked in the end, when all faults are over: returns a sentence that says what is wrong. @default not checked */
  readonly eventually?: (world: WorldView<External>) => string | undefined
  /** Findings that are intended, each with a reason. @default none */
  readonly exceptions?: readonly RuleException[]
}

/** The true state of the world, without caches and faults. */
export interface WorldView<External extends object = object> {
  /** The objects of a kind, without those that only test whether the program leaves them alone. */
  list(kind: Pick<Kind, 'group' | 'kind'>): readonly UnstructuredObject[]
  readonly external: External
}

/** A rule that the program breaks on purpose. */
export interface RuleException {
  /** The code of the rule: `idempotent`. */
  readonly rule: string
  /** Only for findings whose `about` contains this text. @default all */
  readonly about?: string
  /** Why this is intended. */
  readonly because: string
}

/** When a scenario begins, in milliseconds since 1970. @throws {RangeError} when `startsAt` is no time */
export function startOf({ startsAt, name }: Pick<Scenario, 'startsAt' | 'name'>): number | undefined {
  if (startsAt === undefined) return undefined
  const startMs = parseTime(startsAt)
  if (startMs === undefined)
    throw new RangeError(
      `scenario ${name}: startsAt is ${JSON.stringify(startsAt)}; write a time like 2026-03-28T22:00:00Z`,
    )
  return startMs
}

/** How long a step waits; 0 for one that does something. @throws {RangeError} when `wait` is no duration */
export function waitOf(step: UserStep | WaitStep): number {
  if (!('wait' in step)) return 0
  const ms = typeof step.wait === 'number' ? step.wait : durationOf(step.wait)
  if (!(ms >= 0 && ms < Infinity))
    throw new RangeError(`a step waits ${JSON.stringify(step.wait)}; write a duration like 90d, 36h or 1h30m`)
  return ms
}

/** `creates App a`, `waits 90d` */
export function nameOfStep(step: UserStep | WaitStep): string {
  return 'wait' in step
    ? (step.name ?? `waits ${typeof step.wait === 'number' ? `${step.wait}ms` : step.wait}`)
    : step.name
}

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

/** NaN when it is none. */
function durationOf(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return NaN
  return [...text.matchAll(/([\d.]+)(ms|[smhdw])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitsMs[unit] ?? NaN),
    0,
  )
}

/** The kinds to install: those of the scenario and those its controllers declare. Calls the program once to learn them. */
export function kindsOf(scenario: Scenario): Kind[] {
  const clock = new SimulatedClock()
  const client = new Client({
    transport: () => Promise.reject(new Error('the factory of the program must not send requests')),
    clock,
    random: new SeededRandom('kinds'),
  })
  const declarations = callFactory(() =>
    scenario.controllers({
      external: scenario.external?.({ clock }) ?? {},
      clock,
      random: new SeededRandom('kinds'),
      log: silentLogger,
      client,
    }),
  )
  const kinds = [
    ...(scenario.kinds ?? []),
    ...declarations.flatMap(({ for: kind, owns = [], watches = [], ...declaration }) => [
      kind,
      ...owns.map(asKind),
      ...watches.map((watch) => watch.kind as Kind),
      ...verbsOf(declaration).flatMap((verb) => verb.kinds ?? []),
    ]),
  ]
  const byName = new Map(kinds.filter((kind) => isDefined(kind)).map((kind) => [`${kind.group}/${kind.kind}`, kind]))
  return [...byName.values()]
}

/** @throws {RangeError} when the factory of the program throws. */
function callFactory<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new RangeError(
      `the factory of the program throws: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

function asKind(one: object): Kind {
  return ('kind' in one && typeof one.kind === 'object' ? one.kind : one) as Kind
}

/** A kind without a schema is built in: the server already serves it. */
function isDefined(kind: Kind): boolean {
  return kind.schema !== undefined
}
