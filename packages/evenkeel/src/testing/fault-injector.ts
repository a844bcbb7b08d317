/**
 * Carries out the deviations of a schedule, each when the world has come to its place.
 */
import type { UnstructuredObject } from '#api'
import type {
  Deviation,
  DeviationAction,
  Interaction,
  ObjectReference,
  RequestDecision,
  SchedulePoint,
} from './deviation.ts'
import {
  ActiveFaults,
  deleteDependency,
  forbiddenFault,
  missingKindFault,
  outageFault,
  poisonFault,
  removeExternalResource,
  terminateNamespace,
} from './faults.ts'
import { applyForeignAction, asNew } from './foreign-writes.ts'
import type { SimulatedProcess } from './process.ts'
import { connectionReset } from './requests.ts'
import type { World } from './world.ts'

/** A client that looks after its watches has noticed by then. */
const silenceMs = 5 * 60_000

/** The lease of a process that stands still is over, and taken. */
const leaseMs = 60_000

/** Longer than this nothing is held back. */
const holdMs = 5 * 60_000

const go: RequestDecision = { type: 'go' }

export class FaultInjector {
  readonly #world: World
  readonly #byPlace = new Map<string, Deviation[]>()
  readonly #holds: { readonly resource: string; readonly coalesces: boolean; release(): void }[] = []
  /** Processes that another one has taken over from, and how many calls they made since. */
  readonly deposed = new Map<SimulatedProcess, number>()
  /** What is wrong at this moment, for everybody. */
  readonly activeFaults = new ActiveFaults()
  #skew: { readonly offsetMs: number; readonly rate?: number } = { offsetMs: 0 }
  #isSerial = false
  #lateSteps = 0
  #poisoned = 0
  #isOver = false
  #isBroken = false
  #isSilent = false
  #isContested = false

  constructor(world: World, deviations: readonly Deviation[]) {
    this.#world = world
    for (const deviation of deviations) {
      const key = pointKey(deviation.at)
      this.#byPlace.set(key, [...(this.#byPlace.get(key) ?? []), deviation])
    }
  }

  /** How far the clocks of new processes are off. */
  get skew(): { readonly offsetMs: number; readonly rate?: number } {
    return this.#skew
  }

  /** How many steps the user takes before the program starts. */
  get lateSteps(): number {
    return this.#lateSteps
  }

  /** The user takes no more steps. */
  get userIsDone(): boolean {
    return this.#isOver
  }

  /** How many objects fail for good, and nobody waits for them. */
  get poisoned(): number {
    return this.#poisoned
  }

  /** Whether controllers of new processes work on one object at a time. */
  get isSerial(): boolean {
    return this.#isSerial
  }

  /** Something is down or dead that only healing brings back. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** How long nothing must happen before the world counts as quiet. */
  get patienceMs(): number {
    return this.#isSilent ? silenceMs : this.#isContested || this.#world.hasRivals ? leaseMs : 0
  }

  /** What holds from the very start. */
  begin(): void {
    for (const { deed } of this.#byPlace.get(pointKey({ type: 'start', index: 0 })) ?? []) {
      if (deed.type === 'skew') this.#skew = deed
      if (deed.type === 'late') this.#lateSteps = deed.steps
      if (deed.type === 'absent') this.activeFaults.add(missingKindFault(this.#world, deed.resource))
      if (deed.type === 'absent') this.#isSilent = true
      if (deed.type === 'serial') this.#isSerial = true
      if (deed.type === 'wait') this.#isSilent = true
    }
  }

  /** Before or after a point. */
  async at(
    place: SchedulePoint,
    point: Pick<Interaction, 'process' | 'about' | 'requestInfo' | 'call' | 'request' | 'type'>,
  ): Promise<RequestDecision> {
    const { process: life } = point
    let fate = go
    // Once everything was made well nothing goes wrong any more.
    for (const { deed } of this.#world.isHealed ? [] : (this.#byPlace.get(pointKey(place)) ?? [])) {
      const said = deed.type === 'slow' ? this.#slow(point) : await this.#do(deed, life)
      if (said.type !== 'go') fate = said
    }
    if (place.when !== 'after') fate = this.activeFaults.decisionFor(point) ?? fate
    return life.isDead ? { type: 'dead' } : fate
  }

  /** When nothing happens any more. @returns whether anything was done */
  async atQuiet(place: SchedulePoint): Promise<boolean> {
    const due = this.#byPlace.get(pointKey(place)) ?? []
    for (const { deed } of due) {
      const life = this.#world.processes.findLast(({ isDead }) => !isDead)
      if (life) await this.#do(deed, life)
      if (deed.type === 'recreate') await this.#makeAnew(deed.object)
    }
    return due.length > 0
  }

  /** Lets go of what was held back until now. @returns whether there was anything */
  async release(): Promise<boolean> {
    const held = this.#holds.splice(0)
    for (const { resource, coalesces, release } of held) {
      if (resource !== '')
        this.#world.note(
          'world',
          coalesces ? `the watch of ${resource} breaks; only the newest state is left` : `events of ${resource} arrive`,
        )
      const alive = coalesces ? this.#world.processes.filter(({ isDead }) => !isDead) : []
      for (const life of alive) life.network.expire(resource)
      release()
    }
    return (await this.activeFaults.end()) || held.length > 0
  }

  async heal(): Promise<void> {
    this.#isBroken = false
    this.#poisoned = 0
    await this.activeFaults.end({ all: true })
    await this.release()
  }

  async #do(deed: DeviationAction, life: SimulatedProcess): Promise<RequestDecision> {
    const world = this.#world
    switch (deed.type) {
      case 'refuse':
        return { ...deed, type: 'refuse' }
      case 'lose':
        return { type: 'reset' }
      case 'crash':
        world.kill(life)
        world.startProcess({ prefix: life.name[0] ?? 'A' })
        // The lease of the dead has to run out first.
        if (world.options.scenario.leaderElection) this.#isContested = true
        return { type: 'dead' }
      case 'die':
        world.kill(life)
        this.#isBroken = true
        return { type: 'dead' }
      case 'stale': {
        world.kill(life)
        const next = world.startProcess({ prefix: life.name[0] ?? 'A', back: deed.back, staleKind: deed.resource })
        const release = world.eventQueue.hold(
          ({ type, actor, resource }) =>
            type === 'event' && actor === next.name && (deed.resource === undefined || deed.resource === resource),
        )
        this.#holds.push({ resource: '', coalesces: false, release })
        this.#holdOnlySoLong()
        return { type: 'dead' }
      }
      case 'rival':
        this.#rival(life)
        return go
      case 'hold':
      case 'coalesce':
        this.#hold(deed.resource, deed.type === 'coalesce')
        return go
      case 'silence':
        world.note('world', `all watches of ${life.name} fall silent`)
        for (const stream of life.network.streams()) stream.silence()
        this.#isSilent = true
        return go
      case 'cut':
        world.note('world', `the watches of ${deed.resource} break`)
        for (const stream of life.network.streams(deed.resource)) stream.abort(connectionReset())
        return go
      case 'past':
        world.note('world', 'the service answers from the past')
        return { type: 'past' }
      case 'amend':
        await this.#amend(deed)
        return go
      case 'early':
        await world.step()
        return go
      default:
        return await this.#lasting(deed)
    }
  }

  /** What lasts for a while, or goes for good. */
  async #lasting(deed: DeviationAction): Promise<RequestDecision> {
    const world = this.#world
    switch (deed.type) {
      case 'forbid':
        world.note('world', `the permission to ${deed.verb} ${deed.resource} is gone`)
        this.activeFaults.add(forbiddenFault(deed))
        return go
      case 'evict':
        this.activeFaults.add(await terminateNamespace(world, deed.namespace))
        return go
      case 'outage':
        this.activeFaults.add(outageFault(world, deed.service))
        // Who watches may wait a while before it tries again.
        if (deed.service === undefined) this.#isSilent = true
        this.#holdOnlySoLong()
        return go
      case 'poison': {
        const fault = await poisonFault(world, deed.object)
        if (fault) this.activeFaults.add(fault)
        this.#poisoned++
        return go
      }
      case 'vanish':
        await removeExternalResource(world, deed)
        return go
      case 'deprive':
        this.#isOver = true
        await deleteDependency(world, deed.object)
        return go
      default:
        return await this.#foreign(deed)
    }
  }

  /** Whoever has finalizers goes later: then another one is made under its name. */
  async #makeAnew(place: ObjectReference): Promise<void> {
    const world = this.#world
    const direct = world.directClient('somebody')
    const going = direct.find(place)
    if (going?.metadata.deletionTimestamp === undefined) return
    const beside = direct.collectionPathOf(going)
    await world.runUntilQuiet({ forgives: true })
    if (!direct.find(place))
      await world.actAs('somebody', `makes ${place.kind} ${place.name} anew`, () => direct.create(asNew(going), beside))
  }

  async #foreign(deed: DeviationAction): Promise<RequestDecision> {
    if ('object' in deed && deed.type !== 'amend' && deed.type !== 'poison' && deed.type !== 'deprive') {
      const { kind, name } = deed.object
      await this.#world.actAs('somebody', `${deed.type} ${kind} ${name}`, () =>
        applyForeignAction(deed, this.#world.directClient('somebody')),
      )
    }
    return go
  }

  /** A wish is changed, and changed back when all is done; or deleted before anybody could look. */
  async #amend({ object: place, spec, then }: Extract<DeviationAction, { readonly type: 'amend' }>): Promise<void> {
    const world = this.#world
    const direct = world.directClient('somebody')
    const before = direct.find(place)
    if (!before) return
    const resource = world.facts.state.pluralOf(before)
    // Nobody looks in between.
    if (then === 'delete' && resource !== undefined) this.#hold(resource, true)
    await world.actAs('somebody', `sets spec ${JSON.stringify(spec)} of ${place.kind} ${place.name}`, () =>
      direct.patch(before, { spec }),
    )
    const changed = direct.find(place)
    if (!changed || changed.metadata.generation === before.metadata.generation) return
    if (then === 'delete') {
      await world.actAs('somebody', `deletes ${place.kind} ${place.name}`, () => direct.delete(changed))
      return
    }
    if (await world.runUntilQuiet({ forgives: true })) await world.judgeBetween()
    const now = direct.find(place)
    if (now && then === 'later')
      await world.actAs('somebody', `deletes ${place.kind} ${place.name}`, () => direct.delete(now))
    else if (now)
      await world.actAs('somebody', `changes ${place.kind} ${place.name} back`, () =>
        direct.update({ ...now, spec: before['spec'] } as UnstructuredObject),
      )
  }

  /** A process stands still, its lease runs out, another one works; then the first goes on. */
  #rival(life: SimulatedProcess): void {
    const world = this.#world
    world.note('world', `${life.name} stands still`)
    life.pause()
    const letGo = world.eventQueue.hold(({ actor }) => actor === life.name)
    if (!world.hasRivals) world.startProcess({ prefix: 'B' })
    this.#isContested = true
    this.#holds.push({
      resource: '',
      coalesces: false,
      release: () => {
        world.note('world', `${life.name} goes on`)
        this.deposed.set(life, 0)
        letGo()
        life.resume()
      },
    })
  }

  /** The answer to this arrives when everything else has come to rest. */
  #slow({ process: { name }, about }: Pick<Interaction, 'process' | 'about'>): RequestDecision {
    this.#world.note('world', `the answer to ${about} takes long`)
    const release = this.#world.eventQueue.hold(
      (action) =>
        action.actor === name &&
        (action.type === 'answer' || action.type === 'reply') &&
        action.about.startsWith(`${about}: `),
    )
    this.#holds.push({ resource: '', coalesces: false, release })
    this.#holdOnlySoLong()
    return go
  }

  #hold(resource: string, coalesces: boolean): void {
    this.#world.note('world', `events of ${resource} are held back`)
    const release = this.#world.eventQueue.hold((action) => action.type === 'event' && action.resource === resource)
    this.#holds.push({ resource, coalesces, release })
    this.#holdOnlySoLong()
  }

  /** Who fails because of what it has not heard yet never rests: nothing is held back for ever. */
  #holdOnlySoLong(): void {
    this.#world.clock.after(holdMs, () => {
      this.release().catch(() => undefined)
    })
  }
}

function pointKey({ type, index, when = 'before' }: SchedulePoint): string {
  return `${when} ${type} ${index}`
}
