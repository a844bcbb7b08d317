/**
 * The world of one schedule: a server, processes of the program, external services and a user.
 *
 * Everything that can happen is an event in the queue. The event loop runs one event, flushes promises and takes the
 * next. A request, a call and a reconcile take a millisecond; otherwise simulated time moves only when the queue is empty.
 * The script takes the steps of the user. The fault injector carries out the deviations. When the script is over, all
 * faults end: only then can rules judge the final state.
 *
 *     ScriptRunner   steps of the user, quiet states, the end of all faults      (script.ts)
 *     EventLoop      runs events until the world is quiet                        (event-loop.ts)
 *     FarTimers      leaps to what is due much later                             (far-timers.ts)
 *     FaultInjector  carries out deviations at their schedule points             (fault-injector.ts)
 *     History        every committed change and its actor                        (history.ts)
 *     WorldFacts     questions of the rules about the true state                 (world-state.ts)
 *
 * Invariant: the same scenario, seed and deviations give the same trace.
 */
import { flushPromises, SeededRandom, type LogRecord, type SimulatedClock } from '#base'
import { Client } from '#client'
import { startServer, type Server } from '#server'
import type { Store } from '#store'
import type { Transport, WireRequest } from '#wire'
import type { Deviation, Interaction, Profile, RequestDecision, ResponseDecision } from './deviation.ts'
import { originOf, type Escape } from './escapes.ts'
import { EventLoop, EventQueue, type NonConvergence } from './event-loop.ts'
import type { FarTimers } from './far-timers.ts'
import { FaultInjector } from './fault-injector.ts'
import { mutatingHooks, poisonName } from './faults.ts'
import { DirectClient, otherClient } from './foreign-writes.ts'
import { History, Trace, type TraceEntry } from './history.ts'
import type { InitialState } from './initial-state.ts'
import { InteractionLog, type InteractionFacts } from './interaction-log.ts'
import type { Masks } from './learned.ts'
import { openSurroundings, seedOf, type Surroundings, type Variant } from './nature.ts'
import type { NetworkHost } from './network.ts'
import { SimulatedProcess } from './process.ts'
import type { QuietState, Reference } from './reference.ts'
import { describeRequest, errorResponse, readRequestInfo, type RequestInfo } from './requests.ts'
import type { Finding, Rule, RuleContext, RuleWatcher } from './rules/rule.ts'
import type { Scenario } from './scenario.ts'
import { ScriptRunner } from './script.ts'
import type { Snapshot } from './snapshot.ts'
import { WorldFacts } from './world-state.ts'

export interface WorldOptions {
  readonly scenario: Scenario
  readonly initialState: InitialState
  readonly rules: readonly Rule[]
  readonly seed: string
  readonly profile: Profile
  readonly deviations: readonly Deviation[]
  /** The quiet states of the undisturbed schedule; absent while that schedule runs. */
  readonly reference?: Reference
  /** What differs by nature, for an undisturbed schedule that is judged; others have it in the reference. */
  readonly masks?: Masks
  /** What this undisturbed schedule has by nature, and the first has not. @default nothing */
  readonly variant?: Variant
  /** Keep the entries of the trace, not only their hash. @default false */
  readonly keepsTrace?: boolean
  /** Called before every event; the world waits for the returned promise. @default not called */
  readonly onAction?: (entry: TraceEntry) => void | Promise<void>
  /** Called for every note: a process starts or crashes, a fault begins or ends. @default not called */
  readonly onNote?: (entry: TraceEntry) => void
}

export class World implements NetworkHost, RuleContext {
  readonly options: WorldOptions
  readonly clock: SimulatedClock
  readonly eventQueue = new EventQueue()
  readonly keepsPast: boolean
  readonly trace: Trace
  readonly #interactionLog = new InteractionLog()
  readonly findings: Finding[] = []
  readonly processes: SimulatedProcess[] = []
  readonly logs: { readonly process: string; readonly record: LogRecord }[] = []
  readonly services: object
  /** What others had in the services before the schedule began. */
  readonly others: Snapshot
  readonly history: History
  readonly facts: WorldFacts
  /** Processes whose program returned, threw, or called process.exit. */
  readonly exits: { readonly process: string; readonly error: unknown }[] = []
  /** Rejections without a handler. */
  readonly unhandledRejections: { readonly error: unknown }[] = []
  /** Uses of globals that bypass the simulation. */
  readonly escapes: Escape[] = []
  /** Errors of the steps of the user: empty without faults. */
  readonly stepErrors: { readonly step: string; readonly error: unknown }[] = []
  /** Where in the user's code a request or call was made, by the trace text of its response. */
  readonly origins = new Map<string, string>()
  readonly quietStates: QuietState[] = []
  /** What the world looked like before each leap to a far timer, while the undisturbed schedule runs. */
  readonly restStates: QuietState[] = []
  readonly farTimers: FarTimers
  /** The step of each quiet state. */
  readonly quietSteps: number[] = []
  readonly #watchers: readonly RuleWatcher[]
  readonly #faultInjector: FaultInjector
  readonly #server: Server
  readonly #store: Store
  readonly #loop: EventLoop
  readonly #script: ScriptRunner
  /** The actor of the current event. */
  actor = 'world'
  readonly #clients = new Map<string, Client>()

  private constructor(options: WorldOptions, parts: Omit<Surroundings, 'seed'> & { server: Server }) {
    this.options = options
    this.keepsPast = options.deviations.some(({ action }) => action.type === 'past')
    this.clock = parts.clock
    this.farTimers = parts.farTimers
    this.#store = parts.store
    this.#server = parts.server
    this.trace = new Trace({ keeps: options.keepsTrace ?? false })
    this.services = parts.services
    this.others = parts.others
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
      quietSteps: this.quietSteps,
      services: this.services,
      scenario: options.scenario,
      phase: () => this.#script.phase,
      time: () => ({
        elapsedMs: this.clock.monotonic() + this.farTimers.leapedMs,
        requeues: new Set(this.farTimers.requeues(this)),
      }),
      hasNoticedOthers: () => this.trace.lastStepOf(otherClient) <= this.#loop.lastQuietStep,
      masks: options.masks ?? options.reference?.masks,
    })
    this.#faultInjector = new FaultInjector(this, options.deviations)
    this.#loop = new EventLoop(this, this.#faultInjector)
    this.#watchers = options.rules.map((rule) => rule.watch(this))
    this.#script = new ScriptRunner(this, {
      faultInjector: this.#faultInjector,
      loop: this.#loop,
      watchers: this.#watchers,
    })
  }

  static async open(options: WorldOptions): Promise<World> {
    const opened: { world?: World } = {}
    const { seed, ...surroundings } = await openSurroundings(options, () => opened.world?.actor === 'user')
    const server = await startServer({
      store: surroundings.store,
      clock: surroundings.clock,
      random: new SeededRandom(`${seed} server`),
      compactionMs: 1e12,
      bootstrap: false,
      admission: { hooks: mutatingHooks(options.deviations) },
    })
    const world = new World(options, { ...surroundings, server })
    opened.world = world
    await world.history.start()
    return world
  }

  get server(): Transport {
    const { activeFaults: faults } = this.#faultInjector
    if (!faults.hasServerErrors) return this.#server.transport
    return (request) => {
      const answer = faults.errorFor(readRequestInfo(request))
      return answer ? Promise.resolve(errorResponse(answer)) : this.#server.transport(request)
    }
  }

  /** Why the world never became quiet, if it did not. */
  get nonConvergence(): NonConvergence | undefined {
    return this.#loop.nonConvergence
  }

  get steps(): number {
    return this.trace.steps
  }

  /** Requests and external calls that were executed, in order. */
  get interactions(): readonly Interaction[] {
    return this.#interactionLog.all
  }

  /** Several processes compete for the lease. */
  get hasRivals(): boolean {
    return (this.options.scenario.replicas ?? 1) > 1
  }

  countsLease(proc: SimulatedProcess): boolean {
    return this.hasRivals && this.#interactionLog.countsLease(proc)
  }

  get phase(): number {
    return this.#script.phase
  }

  /** All faults are over. */
  get isHealed(): boolean {
    return this.#script.isHealed
  }

  /** A process is down until all faults are over. */
  get isBroken(): boolean {
    return this.#faultInjector.isBroken
  }

  /** Processes that lost the lease to another one, with the step at which they resumed. */
  get deposed(): ReadonlyMap<SimulatedProcess, number> {
    return this.#faultInjector.deposed
  }

  /** Runs the schedule from the first step to the last quiet state. */
  run(): Promise<void> {
    return this.#script.run()
  }

  /** Ends all processes. A world has no sockets, files or system timers, so the garbage collector frees the rest. */
  close(): void {
    for (const proc of this.processes) proc.kill()
    this.history.stop()
  }

  /** The user takes the next step. */
  step(): Promise<void> {
    return this.#script.step()
  }

  /** Executes something as another actor, at once and completely. */
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
    this.noteCommit(actor)
  }

  /** A client whose requests never meet a fault. */
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

  /** Writes to the true state, for other clients and for the simulated cluster controllers. */
  directClient(name: string): DirectClient {
    return new DirectClient(this.#server.transport, this.history, name)
  }

  startProcess({
    prefix = 'A',
    ...stale
  }: { prefix?: string; back?: number; staleKind?: string | undefined } = {}): SimulatedProcess {
    const before = this.processes.filter(({ name }) => name.startsWith(prefix)).length
    const { scenario, profile } = this.options
    const proc = new SimulatedProcess({
      name: before === 0 ? prefix : `${prefix}${before + 1}`,
      scenario,
      seed: seedOf(this.options),
      host: this,
      clock: this.clock,
      farTimers: this.farTimers,
      services: this.services,
      skew: this.#faultInjector.skew,
      isSerial: this.#faultInjector.isSerial,
      ...stale,
      oldLists: profile.timeTravel,
      isTracked: this.options.reference === undefined,
      onLog: (from, record) => {
        this.#onLog(from, record)
      },
      onEnd: (from, error) => {
        if (!from.isDead) this.exits.push({ process: from.name, error })
      },
    })
    this.processes.push(proc)
    this.note(proc.name, 'starts')
    proc.start()
    return proc
  }

  kill(proc: SimulatedProcess): void {
    this.note(proc.name, 'crashes')
    proc.kill()
  }

  note(actor: string, what: string): void {
    const entry = this.trace.add(actor, what, { atMs: this.clock.monotonic(), isStep: false })
    this.options.onNote?.(entry)
  }

  addFinding(finding: Omit<Finding, 'step'>): void {
    this.findings.push({ ...finding, step: this.trace.steps })
  }

  /** Work that was done now took a moment. */
  passMoment(): void {
    this.clock.elapse(1)
  }

  /** An actor has changed something. */
  noteCommit(actor: string): void {
    for (const watcher of this.#watchers) watcher.committed?.(actor)
  }

  /** Restarts the time after which the world counts as quiet. */
  noteActivity(): void {
    this.#loop.noteActivity()
  }

  recordInteraction(proc: SimulatedProcess, facts: InteractionFacts, type: Interaction['type']): Interaction {
    const { isProbing, phase } = this.#script
    return this.#interactionLog.add(facts, type, { process: proc, step: this.trace.steps, phase, isProbing })
  }

  async before(interaction: Interaction): Promise<RequestDecision> {
    for (const watcher of this.#watchers) watcher.before?.(interaction)
    return await this.#faultInjector.at(
      { type: interaction.type, index: interaction.index, when: 'before' },
      interaction,
    )
  }

  async after(interaction: Interaction): Promise<ResponseDecision> {
    await flushPromises()
    for (const watcher of this.#watchers) watcher.done?.(interaction)
    const decision = await this.#faultInjector.at(
      { type: interaction.type, index: interaction.index, when: 'after' },
      interaction,
    )
    if (interaction.process.isDead) return 'dead'
    return decision.type === 'reset' ? 'lose' : 'answer'
  }

  /** Records where in the user's code a request or call is made, if the trace is kept. */
  noteOrigin(what: string): void {
    if (!this.options.keepsTrace) return
    const origin = originOf()
    if (origin !== undefined) this.origins.set(what, origin)
  }

  head(): Promise<number> {
    return this.#store.head()
  }

  onRequest(proc: SimulatedProcess, request: WireRequest, requestInfo: RequestInfo): void {
    if (this.options.keepsTrace && requestInfo.isWrite) this.noteOrigin(`answer ${describeRequest(requestInfo)}`)
    for (const watcher of this.#watchers) watcher.request?.(proc, request, requestInfo)
  }

  #onLog(proc: SimulatedProcess, record: LogRecord): void {
    this.logs.push({ process: proc.name, record })
    this.trace.addFailure(proc.name, record, { atMs: this.clock.monotonic() })
    // The object that always fails does not keep the world from becoming quiet.
    if (
      record.message === 'reconcile failed' &&
      !(
        this.#faultInjector.poisoned > 0 &&
        JSON.stringify(record.fields['object'] ?? record.fields['key'] ?? '').includes(poisonName)
      )
    )
      this.noteActivity()
  }

  /** A quiet state in the middle of a deviation: rules check what the status claims. */
  async judgeBetween(): Promise<void> {
    for (const watcher of this.#watchers) await watcher.between?.()
  }

  /** Runs until the world is quiet; `ignoresNonConvergence`: not becoming quiet is no finding here. */
  async runUntilQuiet({ ignoresNonConvergence = false } = {}): Promise<boolean> {
    const isQuiet = await this.#loop.runUntilQuiet()
    if (ignoresNonConvergence) this.#loop.clearNonConvergence()
    return isQuiet
  }
}
