/**
 * One schedule: a server, lives of a program, services outside, a user; from the first step to the last rest.
 *
 * Everything that can happen is on the agenda. The loop takes one action, lets promises settle, and looks again; only
 * when nothing is left does time move, to the next timer. Deviations say where something goes otherwise. When the script
 * is over everything is made well again, because only then may one ask whether all came out right.
 *
 * Invariant: the same scenario, seed and deviations give the same trace.
 */
import { SeededRandom, settle, SimulatedClock } from '#base'
import type { LogRecord } from '#base'
import { Client } from '#client'
import { startServer } from '#server'
import type { Server } from '#server'
import type { Store } from '#store'
import type { Transport, WireRequest } from '#wire'
import type { Escape } from '../escapes/guard.ts'
import type { Deviation, Place } from '../faults/deviation.ts'
import type { Profile } from '../faults/profile.ts'
import type { Finding, Rule, Watcher } from '../rules/finding.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { Reference, Rest } from '../state/reference.ts'
import { Agenda } from './agenda.ts'
import { describeAsked } from '../life/asked.ts'
import type { Asked } from '../life/asked.ts'
import { Chronicle } from './chronicle.ts'
import { nextCollection } from './collector.ts'
import { releaseForeign } from './deeds.ts'
import { Direct } from './direct.ts'
import { Facts } from './facts.ts'
import type { Aftermath, Fate, Point } from '../life/effect.ts'
import type { Ground } from './ground.ts'
import { Interventions } from './interventions.ts'
import { Life } from '../life/life.ts'
import type { LineHost } from '../life/line.ts'
import { originOf } from '../life/origin.ts'
import { Trace } from './trace.ts'

export interface WorldOptions {
  readonly scenario: Scenario
  readonly ground: Ground
  readonly rules: readonly Rule[]
  readonly seed: string
  readonly profile: Profile
  readonly deviations: readonly Deviation[]
  /** What the undisturbed schedule came to; absent while it is being made. */
  readonly reference?: Reference
  /** Remember what happened, not only its number. @default false */
  readonly keepsTrace?: boolean
}

/** How a world never came to rest. */
interface Restless {
  readonly why: 'steps' | 'time' | 'turns'
  readonly steps: number
  readonly virtualMs: number
}

const stepsMax = 4000
const restlessMs = 30 * 60_000
/** How often time may move while nothing is written, and how much may happen at one moment before it moves. */
const [turnsMax, instantMax] = [3000, 300]

export class World implements LineHost {
  readonly options: WorldOptions
  readonly clock: SimulatedClock
  readonly agenda = new Agenda()
  readonly keepsPast: boolean
  readonly trace: Trace
  readonly points: Point[] = []
  readonly findings: Finding[] = []
  readonly lives: Life[] = []
  readonly logs: { readonly life: string, readonly record: LogRecord }[] = []
  readonly services: object
  readonly chronicle: Chronicle
  readonly facts: Facts
  /** Programs that ended by themselves. */
  readonly ends: { readonly life: string, readonly error: unknown }[] = []
  /** Promises that were rejected and that nobody listened to. */
  readonly unhandled: { readonly error: unknown }[] = []
  /** What left the simulation. */
  readonly escapes: Escape[] = []
  /** What the user's own steps threw: nothing, unless somebody was in the way. */
  readonly stepErrors: { readonly step: string, readonly error: unknown }[] = []
  /** Where in the user's code something was asked for, by what the trace says of its answer. */
  readonly origins = new Map<string, string>()
  readonly rests: Rest[] = []
  /** At which step the world came to each rest. */
  readonly restSteps: number[] = []
  readonly zombies: { readonly life: string, readonly about: string }[] = []
  readonly #watchers: readonly Watcher[]
  readonly #interventions: Interventions
  readonly #server: Server
  readonly #store: Store
  #actor = 'world'
  #phase = 0
  #quiets = 0
  #activeAtMs = 0
  #restless: Restless | undefined
  #isHealed = false
  #isProbing = false
  #effects = 0
  #collectedAt = -1
  readonly #clients = new Map<string, Client>()
  #looks = 0

  private constructor(options: WorldOptions, parts: { clock: SimulatedClock, store: Store, server: Server }) {
    this.options = options
    this.keepsPast = options.deviations.some(({ deed }) => deed.type === 'past')
    this.clock = parts.clock
    this.#store = parts.store
    this.#server = parts.server
    this.trace = new Trace({ keeps: options.keepsTrace ?? false })
    this.services = options.scenario.outside?.() ?? {}
    this.chronicle = new Chronicle({ store: parts.store, actor: () => this.#actor, step: () => this.trace.steps, now: () => this.clock.monotonic(), isLife: () => this.#actor === 'gc' || this.facts.isLife(this.#actor) })
    this.facts = new Facts({ chronicle: this.chronicle, lives: this.lives, services: this.services, phase: () => this.#phase })
    this.#interventions = new Interventions(this, options.deviations)
    this.#watchers = options.rules.map((rule) => rule.watch(this))
  }

  static async open(options: WorldOptions): Promise<World> {
    const clock = new SimulatedClock({ startMs: options.ground.startMs })
    const store = await options.ground.open(clock)
    const server = await startServer({ store, clock, random: new SeededRandom(`${options.seed} server`), compactionMs: 1e12, bootstrap: false })
    const world = new World(options, { clock, store, server })
    await world.chronicle.start()
    return world
  }

  get server(): Transport {
    return this.#server.transport
  }

  /** How it never came to rest, if it did not. */
  get restless(): Restless | undefined {
    return this.#restless
  }

  get phase(): number {
    return this.#phase
  }

  /** Everything was made well again. */
  get isHealed(): boolean {
    return this.#isHealed
  }

  /** Something is down that only healing brings back. */
  get isBroken(): boolean {
    return this.#interventions.isBroken
  }

  /** Processes that another one has taken over from, and how many effects they had since. */
  get deposed(): Map<Life, number> {
    return this.#interventions.deposed
  }

  /** Runs the whole script. */
  async run(): Promise<void> {
    const { steps } = this.options.scenario
    this.#interventions.begin()
    this.startLife()
    for (;;) {
      if (!await this.#rest()) break
      await this.#quiet(false)
      if (this.#restless) break
      if (this.#phase >= steps.length) break
      await this.step()
    }
    await this.#heal()
  }

  async close(): Promise<void> {
    for (const life of this.lives) life.kill()
    this.chronicle.stop()
    const stopping = this.#server.stop({ graceMs: 0 })
    await this.clock.advance(0)
    await stopping
    await this.#store.close()
  }

  /** The user takes the next step. */
  async step(): Promise<void> {
    const step = this.options.scenario.steps[this.#phase]
    if (!step) return
    this.#phase++
    await this.as('user', step.name, () => step.run(this.clientFor('user')).catch((error: unknown) => { this.stepErrors.push({ step: step.name, error }) }))
  }

  /** Somebody does something, at once and in full. */
  async as(actor: string, what: string, run: () => Promise<unknown>): Promise<void> {
    const before = this.#actor
    this.#actor = actor
    this.trace.add(actor, what, { atMs: this.clock.monotonic() })
    try {
      await run()
      await settle()
    } finally {
      this.#actor = before
    }
    this.active()
  }

  /** A client that nothing stands in the way of. */
  clientFor(name: string): Client {
    const known = this.#clients.get(name)
    if (known) return known
    const client = new Client({ transport: this.#server.transport, clock: this.clock, random: new SeededRandom(`${this.options.seed} ${name}`), namespace: 'default', fieldOwner: name })
    this.#clients.set(name, client)
    return client
  }

  /** Somebody who meddles. */
  direct(name: string): Direct {
    return new Direct(this.#server.transport, this.chronicle, name)
  }

  startLife({ prefix = 'A', ...stale }: { prefix?: string, back?: number, staleKind?: string | undefined } = {}): Life {
    const before = this.lives.filter(({ name }) => name.startsWith(prefix)).length
    const { scenario, seed, profile } = this.options
    const life = new Life({
      name: before === 0 ? prefix : `${prefix}${before + 1}`, scenario, seed, host: this, clock: this.clock, services: this.services,
      offsetMs: this.#interventions.offsetMs, isSerial: this.#interventions.isSerial, ...stale, oldLists: profile.timeTravel, isFollowed: this.options.reference === undefined,
      onLog: (from, record) => { this.#heardLog(from, record) },
      onEnd: (from, error) => { if (!from.isDead) this.ends.push({ life: from.name, error }) },
    })
    this.lives.push(life)
    this.note(life.name, 'starts')
    life.start()
    return life
  }

  kill(life: Life): void {
    this.note(life.name, 'dies')
    life.kill()
  }

  note(actor: string, what: string): void {
    this.trace.add(actor, what, { atMs: this.clock.monotonic(), isStep: false })
  }

  find(finding: Omit<Finding, 'step'>): void {
    this.findings.push({ ...finding, step: this.trace.steps })
  }

  /** Something goes on: the world is not at rest for a while. */
  active(): void {
    this.#activeAtMs = this.clock.monotonic()
  }

  point(life: Life, facts: Pick<Point, 'about'> & Partial<Pick<Point, 'asked' | 'request' | 'call' | 'knew'>>, type: Point['type']): Point {
    // What a rule provokes has no number: other schedules do not have it.
    const index = this.#isProbing ? -1 : type === 'effect' ? this.#effects++ : this.#looks++
    const point: Point = { ...facts, type, index, life, step: this.trace.steps, phase: this.#phase, outcome: '' }
    this.points.push(point)
    return point
  }

  async before(point: Point): Promise<Fate> {
    return await this.#interventions.at({ type: point.type, index: point.index, when: 'before' }, point)
  }

  async after(point: Point): Promise<Aftermath> {
    await settle()
    for (const watcher of this.#watchers) watcher.done?.(point)
    const fate = await this.#interventions.at({ type: point.type, index: point.index, when: 'after' }, point)
    if (point.life.isDead) return 'dead'
    return fate.type === 'reset' ? 'lose' : 'answer'
  }

  /** Remembers where something is asked for, if a story is to be told. */
  asked(what: string): void {
    if (!this.options.keepsTrace) return
    const origin = originOf()
    if (origin !== undefined) this.origins.set(what, origin)
  }

  head(): Promise<number> {
    return this.#store.head()
  }

  heard(life: Life, request: WireRequest, asked: Asked): void {
    if (this.options.keepsTrace && asked.isWrite) this.asked(`answer ${describeAsked(asked)}`)
    for (const watcher of this.#watchers) watcher.request?.(life, request, asked)
  }

  zombie(life: Life, about: string): void {
    this.zombies.push({ life: life.name, about })
  }

  #heardLog(life: Life, record: LogRecord): void {
    this.logs.push({ life: life.name, record })
    if (record.message === 'reconcile failed') this.active()
  }

  /** Runs until nothing happens any more; `forgives`: that there is no rest is nobody's fault. */
  async settleDown({ forgives = false } = {}): Promise<boolean> {
    const isAtRest = await this.#rest()
    if (forgives) this.#restless = undefined
    return isAtRest
  }

  /** @returns false when it never stops */
  async #rest(): Promise<boolean> {
    const { quietMs = 30_000 } = this.options.scenario
    const [beganAtStep, beganAtMs] = [this.trace.steps, this.clock.monotonic()]
    this.active()
    await settle()
    for (let turns = 0; ; turns++) {
      const isDone = await this.#runActions()
      const steps = this.trace.steps - beganAtStep
      const virtualMs = this.clock.monotonic() - beganAtMs
      if (steps > stepsMax || virtualMs > restlessMs || turns > turnsMax) {
        this.#restless = { why: steps > stepsMax ? 'steps' : turns > turnsMax ? 'turns' : 'time', steps, virtualMs }
        return false
      }
      const nextInMs = this.clock.nextInMs
      const isSoon = nextInMs !== undefined && this.clock.monotonic() + nextInMs - this.#activeAtMs <= Math.max(quietMs, this.#interventions.patienceMs)
      // Who failed last is tried again, however long that takes.
      const isWaiting = nextInMs !== undefined && (isSoon || this.#isFailing())
      if (isWaiting) await this.clock.advance(nextInMs)
      // Two that do not know of each other never end: they hear of it now.
      if (!isDone) await this.#interventions.release()
      if (isWaiting || !isDone) continue
      if (!await this.#interventions.release()) return true
      this.active()
    }
  }

  #isFailing(): boolean {
    return this.lives.some(({ isDead, manager }) => !isDead && (manager?.controllers ?? []).some(({ health }) => health.failing > 0))
  }

  /** @returns whether nothing is left to do now */
  async #runActions(): Promise<boolean> {
    const { agenda, chronicle } = this
    for (let taken = 0; taken < instantMax; taken++) {
      if (this.clock.nextInMs === 0) await this.clock.advance(0)
      const action = agenda.take() ?? this.#collection()
      if (!action) return true
      this.#actor = action.actor
      this.trace.add(action.actor, `${action.type} ${action.about}`, { atMs: this.clock.monotonic() })
      const before = chronicle.happenings.length
      await action.run()
      await settle()
      if (chronicle.happenings.slice(before).some(({ resource }) => resource !== 'leases' && resource !== 'events')) this.active()
      this.#actor = 'world'
    }
    return false
  }

  #collection(): { readonly actor: string, readonly type: 'collect', readonly about: string, run(): Promise<void> } | undefined {
    const { length } = this.chronicle.happenings
    if (length === this.#collectedAt) return undefined
    const next = nextCollection(this.chronicle)
    if (next === undefined) this.#collectedAt = length
    return next && { actor: 'gc', type: 'collect', about: next.about, run: async () => { await next.run(this.direct('gc')) } }
  }

  async #quiet(isLast: boolean): Promise<void> {
    const place: Place = { type: 'quiet', index: this.#quiets++ }
    this.note('world', `is quiet (${place.index})`)
    this.restSteps.push(this.trace.steps)
    if (!isLast && await this.#interventions.atRest(place)) {
      if (!await this.#rest()) return
    }
    if (!this.options.reference) this.rests.push(this.facts.rest())
    await this.#judge(isLast)
    if (!this.options.reference) await this.#probe()
  }

  /** Rules may poke at an undisturbed world at rest. */
  async #probe(): Promise<void> {
    this.#isProbing = true
    for (const watcher of this.#watchers) if (watcher.probe) await watcher.probe()
    this.#isProbing = false
  }

  async #judge(isLast: boolean): Promise<void> {
    for (const watcher of this.#watchers) await watcher.quiet?.({ index: this.#quiets - 1, isLast, isHealed: this.#isHealed })
  }

  async #heal(): Promise<void> {
    if (!this.#restless) await this.#judgeUnhealed()
    this.#isHealed = true
    this.note('world', 'everything is made well again')
    await this.#interventions.heal()
    await releaseForeign([...this.chronicle.objects.values()], this.direct('somebody'))
    if (this.lives.every(({ isDead }) => isDead)) this.startLife()
    this.active()
    if (!this.#restless && await this.#rest()) await this.#quiet(true)
    else await this.#judge(true)
  }

  /** What was claimed before healing must be true before healing. */
  async #judgeUnhealed(): Promise<void> {
    if (this.#interventions.isBroken) await this.#judge(false)
  }
}
