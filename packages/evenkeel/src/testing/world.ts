/**
 * One schedule: a server, lives of a program, services outside, a user; from the first step to the last rest.
 *
 * Everything that can happen is on the agenda. The loop takes one action, lets promises settle, and looks again; only
 * when nothing is left does time move, to the next timer. Deviations say where something goes otherwise. When the script
 * is over everything is made well again, because only then may one ask whether all came out right.
 *
 * Invariant: the same scenario, seed and deviations give the same trace.
 */
import { flushPromises, SeededRandom, SimulatedClock, type LogRecord } from '#base'
import { Client } from '#client'
import { startServer, type Server } from '#server'
import type { Store } from '#store'
import type { Transport, WireRequest } from '#wire'
import type { Deviation, Interaction, Profile, RequestDecision, ResponseDecision } from './deviation.ts'
import { originOf, type Escape } from './escapes.ts'
import { EventLoop, EventQueue, type NonConvergence } from './event-loop.ts'
import { FaultInjector } from './fault-injector.ts'
import { mutatingHooks, poisonName } from './faults.ts'
import { DirectClient } from './foreign-writes.ts'
import { History, Trace, type TraceEntry } from './history.ts'
import type { InitialState } from './initial-state.ts'
import type { NetworkHost } from './network.ts'
import { SimulatedProcess } from './process.ts'
import type { QuietState, Reference } from './reference.ts'
import { describeRequest, errorResponse, readRequestInfo, type RequestInfo } from './requests.ts'
import type { Finding, Rule, RuleWatcher } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { ScriptRunner } from './script.ts'
import { WorldFacts } from './world-state.ts'

export interface WorldOptions {
  readonly scenario: Scenario
  readonly initialState: InitialState
  readonly rules: readonly Rule[]
  readonly seed: string
  readonly profile: Profile
  readonly deviations: readonly Deviation[]
  /** What the undisturbed schedule came to; absent while it is being made. */
  readonly reference?: Reference
  /** Programs draw other numbers than the seed alone gives them. @default the seed's */
  readonly chance?: string
  /** Remember what happened, not only its number. @default false */
  readonly keepsTrace?: boolean
  /** Hears of every action before it happens; the world waits for it. @default nobody */
  readonly onAction?: (entry: TraceEntry) => void | Promise<void>
  /** Hears of what is no action: who starts and dies, what goes wrong. @default nobody */
  readonly onNote?: (entry: TraceEntry) => void
}

/** So many renewals of a lease in a row count. */
const renewalsMax = 3

export class World implements NetworkHost {
  readonly options: WorldOptions
  readonly clock: SimulatedClock
  readonly eventQueue = new EventQueue()
  readonly keepsPast: boolean
  readonly trace: Trace
  readonly interactions: Interaction[] = []
  readonly findings: Finding[] = []
  readonly processes: SimulatedProcess[] = []
  readonly logs: { readonly life: string; readonly record: LogRecord }[] = []
  readonly services: object
  readonly history: History
  readonly facts: WorldFacts
  /** Programs that ended by themselves. */
  readonly ends: { readonly life: string; readonly error: unknown }[] = []
  /** Promises that were rejected and that nobody listened to. */
  readonly unhandled: { readonly error: unknown }[] = []
  /** What left the simulation. */
  readonly escapes: Escape[] = []
  /** What the user's own steps threw: nothing, unless somebody was in the way. */
  readonly stepErrors: { readonly step: string; readonly error: unknown }[] = []
  /** Where in the user's code something was asked for, by what the trace says of its answer. */
  readonly origins = new Map<string, string>()
  readonly quietStates: QuietState[] = []
  /** At which step the world came to each rest. */
  readonly quietSteps: number[] = []
  readonly zombies: { readonly life: string; readonly about: string }[] = []
  readonly #watchers: readonly RuleWatcher[]
  readonly #interventions: FaultInjector
  readonly #server: Server
  readonly #store: Store
  readonly #loop: EventLoop
  readonly #course: ScriptRunner
  /** Who is acting at this moment. */
  actor = 'world'
  #effects = 0
  readonly #clients = new Map<string, Client>()
  #looks = 0

  private constructor(options: WorldOptions, parts: { clock: SimulatedClock; store: Store; server: Server }) {
    this.options = options
    this.keepsPast = options.deviations.some(({ deed }) => deed.type === 'past')
    this.clock = parts.clock
    this.#store = parts.store
    this.#server = parts.server
    this.trace = new Trace({ keeps: options.keepsTrace ?? false })
    this.services = options.scenario.outside?.({ clock: parts.clock }) ?? {}
    this.history = new History({
      store: parts.store,
      initialObjects: options.initialState.objects,
      actor: () => this.actor,
      step: () => this.trace.steps,
      now: () => this.clock.monotonic(),
      isProgram: () => this.actor === 'gc' || this.facts.isProcess(this.actor),
    })
    this.facts = new WorldFacts({
      history: this.history,
      processes: this.processes,
      services: this.services,
      contentsOf: (name, service) => contentsOf(options.scenario, name, service),
      phase: () => this.#course.phase,
    })
    this.#interventions = new FaultInjector(this, options.deviations)
    this.#loop = new EventLoop(this, this.#interventions)
    this.#watchers = options.rules.map((rule) => rule.watch(this))
    this.#course = new ScriptRunner(this, {
      interventions: this.#interventions,
      loop: this.#loop,
      watchers: this.#watchers,
    })
  }

  static async open(options: WorldOptions): Promise<World> {
    const clock = new SimulatedClock({ startMs: options.initialState.startMs, isPure: true })
    const store = await options.initialState.open(clock)
    const server = await startServer({
      store,
      clock,
      random: new SeededRandom(`${options.seed} server`),
      compactionMs: 1e12,
      bootstrap: false,
      admission: { hooks: mutatingHooks(options.deviations) },
    })
    const world = new World(options, { clock, store, server })
    await world.history.start()
    return world
  }

  get server(): Transport {
    const { activeFaults: faults } = this.#interventions
    if (!faults.hasServerErrors) return this.#server.transport
    return (request) => {
      const answer = faults.errorFor(readRequestInfo(request))
      return answer ? Promise.resolve(errorResponse(answer)) : this.#server.transport(request)
    }
  }

  /** How it never came to rest, if it did not. */
  get nonConvergence(): NonConvergence | undefined {
    return this.#loop.nonConvergence
  }

  /** How many there have been. */
  get steps(): number {
    return this.trace.steps
  }

  /** Several processes compete for the lease. */
  get hasRivals(): boolean {
    return (this.options.scenario.replicas ?? 1) > 1
  }

  /** What they do to it can go wrong; but one renewal after another is like the one before. */
  countsLease({ name }: SimulatedProcess): boolean {
    if (!this.hasRivals) return false
    const last = this.interactions.slice(-renewalsMax)
    return (
      last.length < renewalsMax ||
      last.some(({ process: life, requestInfo }) => requestInfo?.resource !== 'leases' || life.name !== name)
    )
  }

  get phase(): number {
    return this.#course.phase
  }

  /** Everything was made well again. */
  get isHealed(): boolean {
    return this.#course.isHealed
  }

  /** Something is down that only healing brings back. */
  get isBroken(): boolean {
    return this.#interventions.isBroken
  }

  /** Processes that another one has taken over from, and how many effects they had since. */
  get deposed(): Map<SimulatedProcess, number> {
    return this.#interventions.deposed
  }

  /** Runs the whole script. */
  run(): Promise<void> {
    return this.#course.run()
  }

  /** Nothing of it goes on: it has no sockets, files or timers of the machine, so what is not reached any more is gone. */
  close(): void {
    for (const life of this.processes) life.kill()
    this.history.stop()
  }

  /** The user takes the next step. */
  step(): Promise<void> {
    return this.#course.step()
  }

  /** Somebody does something, at once and in full. */
  async actAs(actor: string, what: string, run: () => Promise<unknown>): Promise<void> {
    const before = this.actor
    this.actor = actor
    const entry = this.trace.add(actor, what, { atMs: this.clock.monotonic() })
    try {
      if (this.options.onAction) await this.options.onAction(entry)
      await run()
      await flushPromises()
    } finally {
      this.actor = before
    }
    this.noteActivity()
  }

  /** A client that nothing stands in the way of. */
  clientFor(name: string): Client {
    const known = this.#clients.get(name)
    if (known) return known
    const client = new Client({
      transport: this.#server.transport,
      clock: this.clock,
      random: new SeededRandom(`${this.options.seed} ${name}`),
      namespace: 'default',
      fieldManager: name,
    })
    this.#clients.set(name, client)
    return client
  }

  /** Somebody who meddles. */
  directClient(name: string): DirectClient {
    return new DirectClient(this.#server.transport, this.history, name)
  }

  startProcess({
    prefix = 'A',
    ...stale
  }: { prefix?: string; back?: number; staleKind?: string | undefined } = {}): SimulatedProcess {
    const before = this.processes.filter(({ name }) => name.startsWith(prefix)).length
    const { scenario, seed, profile, chance } = this.options
    const life = new SimulatedProcess({
      name: before === 0 ? prefix : `${prefix}${before + 1}`,
      scenario,
      seed: chance === undefined ? seed : `${seed} ${chance}`,
      host: this,
      clock: this.clock,
      services: this.services,
      skew: this.#interventions.skew,
      isSerial: this.#interventions.isSerial,
      ...stale,
      oldLists: profile.timeTravel,
      isFollowed: this.options.reference === undefined,
      onLog: (from, record) => {
        this.#heardLog(from, record)
      },
      onEnd: (from, error) => {
        if (!from.isDead) this.ends.push({ life: from.name, error })
      },
    })
    this.processes.push(life)
    this.note(life.name, 'starts')
    life.start()
    return life
  }

  kill(life: SimulatedProcess): void {
    this.note(life.name, 'dies')
    life.kill()
  }

  note(actor: string, what: string): void {
    const entry = this.trace.add(actor, what, { atMs: this.clock.monotonic(), isStep: false })
    this.options.onNote?.(entry)
  }

  addFinding(finding: Omit<Finding, 'step'>): void {
    this.findings.push({ ...finding, step: this.trace.steps })
  }

  /** Something goes on: the world is not at rest for a while. */
  noteActivity(): void {
    this.#loop.noteActivity()
  }

  recordInteraction(
    life: SimulatedProcess,
    facts: Pick<Interaction, 'about'> &
      Pick<Interaction, 'requestedAt'> &
      Partial<Pick<Interaction, 'requestInfo' | 'request' | 'call' | 'knew'>>,
    type: Interaction['type'],
  ): Interaction {
    // What a rule provokes has no number: other schedules do not have it.
    const index = this.#course.isProbing ? -1 : type === 'effect' ? this.#effects++ : this.#looks++
    // Every field by its name: points of one form are made, and looked at, in a fraction of the time.
    const { about, requestedAt, requestInfo, request, call, knew } = facts
    const point: Interaction = {
      about,
      requestedAt,
      requestInfo,
      request,
      call,
      knew,
      type,
      index,
      process: life,
      step: this.trace.steps,
      phase: this.#course.phase,
      outcome: '',
    }
    this.interactions.push(point)
    return point
  }

  async before(point: Interaction): Promise<RequestDecision> {
    for (const watcher of this.#watchers) watcher.before?.(point)
    return await this.#interventions.at({ type: point.type, index: point.index, when: 'before' }, point)
  }

  async after(point: Interaction): Promise<ResponseDecision> {
    await flushPromises()
    for (const watcher of this.#watchers) watcher.done?.(point)
    const fate = await this.#interventions.at({ type: point.type, index: point.index, when: 'after' }, point)
    if (point.process.isDead) return 'dead'
    return fate.type === 'reset' ? 'lose' : 'answer'
  }

  /** Remembers where something is asked for, if a story is to be told. */
  noteOrigin(what: string): void {
    if (!this.options.keepsTrace) return
    const origin = originOf()
    if (origin !== undefined) this.origins.set(what, origin)
  }

  head(): Promise<number> {
    return this.#store.head()
  }

  onRequest(life: SimulatedProcess, request: WireRequest, requestInfo: RequestInfo): void {
    if (this.options.keepsTrace && requestInfo.isWrite) this.noteOrigin(`answer ${describeRequest(requestInfo)}`)
    for (const watcher of this.#watchers) watcher.request?.(life, request, requestInfo)
  }

  onZombie(life: SimulatedProcess, about: string): void {
    this.zombies.push({ life: life.name, about })
  }

  #heardLog(life: SimulatedProcess, record: LogRecord): void {
    this.logs.push({ life: life.name, record })
    // Nobody waits for what fails for good.
    if (
      record.message === 'reconcile failed' &&
      !(
        this.#interventions.poisoned > 0 &&
        JSON.stringify(record.fields['object'] ?? record.fields['key'] ?? '').includes(poisonName)
      )
    )
      this.noteActivity()
  }

  /** A rest in the middle of something that somebody does: rules may look at what is claimed. */
  async judgeBetween(): Promise<void> {
    for (const watcher of this.#watchers) await watcher.between?.()
  }

  /** Runs until nothing happens any more; `forgives`: that there is no rest is nobody's fault. */
  async runUntilQuiet({ forgives = false } = {}): Promise<boolean> {
    const isAtRest = await this.#loop.runUntilQuiet()
    if (forgives) this.#loop.clearNonConvergence()
    return isAtRest
  }
}

/** What is in a service, as plain data: what the scenario says, or its own fields. */
function contentsOf({ services = {} }: Scenario, name: string, service: unknown): unknown {
  const { contents } =
    (services as Readonly<Record<string, { readonly contents?: (service: never) => unknown } | undefined>>)[name] ?? {}
  return contents ? contents(service as never) : service
}
