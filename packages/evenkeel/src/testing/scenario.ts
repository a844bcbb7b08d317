/**
 * What is explored: the controllers of a program, the world outside them, and what a user does to them.
 *
 * A scenario is code without state: everything that lives is made anew for every schedule by calling its functions.
 */
import type { Kind, KubeObject, UnstructuredObject } from '#api'
import { SeededRandom, silentLogger, SimulatedClock, type Clock, type Logger, type Random } from '#base'
import { Client } from '#client'
import type { ControllerDeclaration } from '#controller'
import type { ElectionSettings, ManagedContext, Runnable } from '#manager'

/** What a process is given when it starts. */
export interface ProcessContext<Outside extends object> {
  /** The services of the world outside, as this process reaches them: every call can fail, be slow or get lost. */
  readonly outside: Outside
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** A client of its own, for programs that do not use the one in the context of a reconcile. */
  readonly client: Client
}

/** One thing a user does, once everything that followed from the one before is done. */
export interface UserStep {
  /** `creates App a` */
  readonly name: string
  run(user: Client): Promise<unknown>
}

/** A service of the world outside: it outlives every process. */
export interface ExternalService {
  /** Methods that change nothing. @default those whose names begin with get, list, find, read, describe, has, is, exists, observe or watch */
  readonly reads?: readonly string[]
  /** What is there now, as plain data, for the rules: things that an object made, by an id. @default the service's own fields */
  readonly contents?: (service: never) => unknown
}

export interface Scenario<Outside extends object = object> {
  readonly name: string
  /** The program: called once for every life of a process. */
  readonly controllers: (process: ProcessContext<Outside>) => readonly ControllerDeclaration<Kind, ManagedContext>[]
  /** What the program runs beside its controllers. @default nothing */
  readonly runnables?: (process: ProcessContext<Outside>) => readonly Runnable[]
  /** What the user does, in order. */
  readonly steps: readonly UserStep[]
  /** Kinds beside those of the controllers that have to be installed. @default none */
  readonly kinds?: readonly Kind[]
  /** Objects that are there before anything starts. @default none */
  readonly objects?: readonly KubeObject[]
  /** The world outside: made anew for every schedule. What takes time there looks at this clock. @default nothing */
  readonly outside?: (world: { readonly clock: Clock }) => Outside
  /** More about the services. @default none */
  readonly services?: Partial<Record<Extract<keyof Outside, string>, ExternalService>>
  /** Elect a leader; two processes then run in some schedules. @default false */
  readonly leaderElection?: ElectionSettings | false
  /** How many processes of the program run, with `leaderElection`; what they do to the lease can then go wrong as well. @default 1 */
  readonly replicas?: number
  /** Which controllers of a cluster the world plays itself. @default both */
  readonly plays?: readonly ('garbage' | 'namespaces')[]
  /** After how long without a write the world counts as quiet. @default 30_000 */
  readonly quietMs?: number
  /** After how long a program that computes without a pause is given up, and this process with it; 0: never. @default 30_000 */
  readonly blockedMs?: number
  /** When the program says that an object is ready, is it? Asked of the true world. @default nobody asks */
  readonly ready?: (object: UnstructuredObject, world: WorldView<Outside>) => boolean
  /** What must be so whenever everything has come to rest: a sentence when it is not. @default nothing */
  readonly expects?: (world: WorldView<Outside>) => string | undefined
  /** What is meant to be as it is: each with a reason. @default none */
  readonly exceptions?: readonly RuleException[]
}

/** The true world, for those who judge it. */
export interface WorldView<Outside extends object = object> {
  /** What is there of a kind. */
  list(kind: Pick<Kind, 'group' | 'kind'>): readonly UnstructuredObject[]
  readonly outside: Outside
}

/** One rule that does not hold here, on purpose. */
export interface RuleException {
  /** The code of the rule: `idempotent`. */
  readonly rule: string
  /** Only for findings about something whose name contains this. @default all */
  readonly about?: string
  /** Why this is meant. */
  readonly because: string
}

/*
 * The kinds a scenario needs on its server: those it names, and those its controllers declare.
 */

/** Asks the program once, on a world that is never run. */
export function kindsOf(scenario: Scenario): Kind[] {
  const clock = new SimulatedClock()
  const client = new Client({
    transport: () => Promise.reject(new Error('nobody is there yet: a factory must not ask anything')),
    clock,
    random: new SeededRandom('kinds'),
  })
  const declarations = callFactory(() =>
    scenario.controllers({
      outside: scenario.outside?.({ clock }) ?? {},
      clock,
      random: new SeededRandom('kinds'),
      log: silentLogger,
      client,
    }),
  )
  const kinds = [
    ...(scenario.kinds ?? []),
    ...declarations.flatMap(({ for: kind, owns = [], watches = [], verbs = [] }) => [
      kind,
      ...owns.map(asKind),
      ...watches.map((watch) => watch.kind as Kind),
      ...verbs.flatMap((verb) => verb.kinds ?? []),
    ]),
  ]
  const byName = new Map(kinds.filter((kind) => isDefined(kind)).map((kind) => [`${kind.group}/${kind.kind}`, kind]))
  return [...byName.values()]
}

/** @throws {RangeError} when the factory throws: then there is nothing to explore. */
function callFactory<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new RangeError(
      `the program cannot be made: its factory throws: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

function asKind(one: object): Kind {
  return ('kind' in one && typeof one.kind === 'object' ? one.kind : one) as Kind
}

/** Built-in kinds are there already. */
function isDefined(kind: Kind): boolean {
  return kind.schema !== undefined
}
