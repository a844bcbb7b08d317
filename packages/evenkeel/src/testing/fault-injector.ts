/**
 * Carries out the deviations of a schedule, each when the schedule reaches its point.
 *
 * Some actions are over at once (crash, delete), some stay active until the world is quiet (hold, outage) or until all
 * faults end (die, forbid). `activeFaults` has the active ones that decide about requests.
 */
import { stringifyJson } from '#api'
import type { UnstructuredObject } from '#api'
import {
  schedulePointKey,
  type Deviation,
  type DeviationAction,
  type Interaction,
  type ObjectReference,
  type RequestDecision,
  type SchedulePoint,
} from './deviation.ts'
import {
  ActiveFaults,
  alterDependency,
  deleteDependency,
  forbiddenFault,
  judgeFailingWish,
  missingKindFault,
  outageFault,
  poisonFault,
  removeExternalResource,
  terminateNamespace,
} from './faults.ts'
import { applyForeignAction, asNew, isForeign, otherClient } from './foreign-writes.ts'
import type { SimulatedProcess } from './process.ts'
import { connectionReset } from './requests.ts'
import type { World } from './world.ts'

/** By then a client has noticed a silent watch. */
const silenceMs = 5 * 60_000

/** By then the lease of a paused process has expired and another process leads. */
const leaseMs = 60_000

/** Nothing is held longer than this. */
const holdMs = 5 * 60_000

const go: RequestDecision = { type: 'go' }

export class FaultInjector {
  readonly #world: World
  readonly #byPoint = new Map<string, Deviation[]>()
  readonly #holds: { readonly resource: string; readonly coalesces: boolean; release(): void }[] = []
  /** Processes that lost the lease to another one, with the step at which they resumed. */
  readonly deposed = new Map<SimulatedProcess, number>()
  /** The active faults that decide about requests. */
  readonly activeFaults = new ActiveFaults()
  #skew: { readonly offsetMs: number; readonly rate?: number } = { offsetMs: 0 }
  #isSerial = false
  #lateSteps = 0
  #poisoned = 0
  #isUserDone = false
  #isBroken = false
  #waitsForWatches = false
  #waitsForLease = false
  #patientFromMs = 0

  constructor(world: World, deviations: readonly Deviation[]) {
    this.#world = world
    for (const deviation of deviations) {
      const key = schedulePointKey(deviation.at)
      this.#byPoint.set(key, [...(this.#byPoint.get(key) ?? []), deviation])
    }
  }

  /** The clock skew of new processes. */
  get skew(): { readonly offsetMs: number; readonly rate?: number } {
    return this.#skew
  }

  /** How many steps the user takes before the program starts. */
  get lateSteps(): number {
    return this.#lateSteps
  }

  /** The user takes no more steps. */
  get userIsDone(): boolean {
    return this.#isUserDone
  }

  /** How many objects always fail: the world becomes quiet without them. */
  get poisoned(): number {
    return this.#poisoned
  }

  /** Whether controllers of new processes have one worker. */
  get isSerial(): boolean {
    return this.#isSerial
  }

  /** A process is down until all faults are over. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** When the last fault began whose effects show late. */
  get patientFromMs(): number {
    return this.#patientFromMs
  }

  /** How long it takes after a fault, or from one quiet state to the next, before the world counts as quiet. */
  get patienceMs(): number {
    return this.#waitsForWatches ? silenceMs : this.#waitsForLease || this.#world.hasRivals ? leaseMs : 0
  }

  /** Applies the deviations at the start. */
  begin(): void {
    for (const { action } of this.#byPoint.get(schedulePointKey({ type: 'start', index: 0 })) ?? []) {
      if (action.type === 'skew') this.#skew = action
      if (action.type === 'late') this.#lateSteps = action.steps
      if (action.type === 'absent') this.activeFaults.add(missingKindFault(this.#world, action.resource))
      if (action.type === 'absent') this.#waitFor('watches')
      if (action.type === 'serial') this.#isSerial = true
      if (action.type === 'wait') this.#waitFor('watches')
    }
  }

  /** Applies the deviations before or after an interaction. */
  async at(
    point: SchedulePoint,
    interaction: Pick<Interaction, 'process' | 'about' | 'requestInfo' | 'call' | 'request' | 'type'>,
  ): Promise<RequestDecision> {
    const { process: proc } = interaction
    let decision = go
    // No fault begins after all faults have ended.
    for (const { action } of this.#world.isHealed ? [] : (this.#byPoint.get(schedulePointKey(point)) ?? [])) {
      const next = action.type === 'slow' ? this.#slow(interaction) : await this.#do(action, proc)
      if (next.type !== 'go') decision = next
    }
    if (point.when !== 'after') decision = this.activeFaults.decisionFor(interaction) ?? decision
    return proc.isDead ? { type: 'dead' } : decision
  }

  /** Applies the deviations of a quiet state. @returns whether there were any */
  async atQuiet(point: SchedulePoint): Promise<boolean> {
    const due = this.#byPoint.get(schedulePointKey(point)) ?? []
    for (const { action } of due) {
      const proc = this.#world.processes.findLast(({ isDead }) => !isDead)
      if (proc) await this.#do(action, proc)
      if (action.type === 'recreate') await this.#createAgain(action.object)
    }
    return due.length > 0
  }

  /** Delivers what is held and ends the faults of this quiet state. @returns whether there were any */
  async release(): Promise<boolean> {
    const hadHeld = this.deliverHeld()
    return (await this.activeFaults.end()) || hadHeld
  }

  /** @returns whether events were held */
  deliverHeld(): boolean {
    const held = this.#holds.splice(0)
    for (const { resource, coalesces, release } of held) {
      if (resource !== '')
        this.#world.note(
          'world',
          coalesces
            ? `the watch of ${resource} breaks; only the newest state is left`
            : `events of ${resource} are delivered`,
        )
      const alive = coalesces ? this.#world.processes.filter(({ isDead }) => !isDead) : []
      for (const proc of alive) proc.network.expire(resource)
      release()
    }
    return held.length > 0
  }

  async heal(): Promise<void> {
    this.#isBroken = false
    this.#poisoned = 0
    await this.activeFaults.end({ all: true })
    await this.release()
  }

  async #do(action: DeviationAction, proc: SimulatedProcess): Promise<RequestDecision> {
    const world = this.#world
    switch (action.type) {
      case 'refuse':
        return { ...action, type: 'refuse' }
      case 'lose':
        return { type: 'reset' }
      case 'crash':
        world.kill(proc)
        world.startProcess({ prefix: proc.name[0] ?? 'A' })
        // The lease of the crashed process must expire first.
        if (world.options.scenario.leaderElection) this.#waitFor('lease')
        return { type: 'dead' }
      case 'die':
        world.kill(proc)
        this.#isBroken = true
        return { type: 'dead' }
      case 'stale': {
        world.kill(proc)
        const next = world.startProcess({ prefix: proc.name[0] ?? 'A', back: action.back, staleKind: action.resource })
        const release = world.eventQueue.hold(
          ({ type, actor, resource }) =>
            type === 'event' && actor === next.name && (action.resource === undefined || action.resource === resource),
        )
        this.#holds.push({ resource: '', coalesces: false, release })
        this.#limitHold()
        return { type: 'dead' }
      }
      case 'rival':
        this.#depose(proc)
        return go
      case 'hold':
      case 'coalesce':
        this.#hold(action.resource, action.type === 'coalesce')
        return go
      case 'silence':
        world.note('world', `all watches of ${proc.name} fall silent`)
        for (const stream of proc.network.streams()) stream.silence()
        this.#waitFor('watches')
        return go
      case 'cut':
        world.note('world', `the watches of ${action.resource} break`)
        for (const stream of proc.network.streams(action.resource)) stream.abort(connectionReset())
        return go
      case 'past':
        world.note('world', 'the service answers with an old state')
        return { type: 'past' }
      case 'amend':
        await this.#amend(action)
        return go
      case 'early':
        await world.step()
        return go
      default:
        return await this.#lasting(action)
    }
  }

  /** Actions that stay active, or remove something. */
  async #lasting(action: DeviationAction): Promise<RequestDecision> {
    const world = this.#world
    switch (action.type) {
      case 'forbid':
        world.note('world', `the permission to ${action.verb} ${action.resource} is missing`)
        this.activeFaults.add(forbiddenFault(action))
        return go
      case 'evict':
        this.activeFaults.add(await terminateNamespace(world, action.namespace))
        return go
      case 'outage':
        this.activeFaults.add(outageFault(world, action.service))
        // A client may wait before it opens its watch again.
        if (action.service === undefined) this.#waitFor('watches')
        this.#limitHold()
        return go
      case 'poison': {
        const fault = await poisonFault(world, action.object)
        if (fault) this.activeFaults.add(fault)
        this.#poisoned++
        return go
      }
      case 'vanish':
        await removeExternalResource(world, action)
        return go
      case 'alter':
        await alterDependency(world, action.object)
        return go
      case 'deprive':
        this.#isUserDone = true
        await deleteDependency(world, action.object)
        return go
      default:
        return await this.#foreign(action)
    }
  }

  /** The effects of a fault show late: when a watch is opened again, or when a lease has expired. */
  #waitFor(what: 'watches' | 'lease'): void {
    if (what === 'watches') this.#waitsForWatches = true
    else this.#waitsForLease = true
    this.#patientFromMs = this.#world.clock.monotonic()
  }

  /** An object with finalizers goes later; then another one is created with its name. */
  async #createAgain(reference: ObjectReference): Promise<void> {
    const world = this.#world
    const direct = world.directClient(otherClient)
    const going = direct.find(reference)
    if (going?.metadata.deletionTimestamp === undefined) return
    const collection = direct.collectionPathOf(going)
    await world.runUntilQuiet({ ignoresNonConvergence: true })
    if (!direct.find(reference))
      await world.actAs(otherClient, `creates ${reference.kind} ${reference.name} again`, () =>
        direct.create(asNew(going), collection),
      )
  }

  async #foreign(action: DeviationAction): Promise<RequestDecision> {
    if (isForeign(action)) {
      const { kind, name } = action.object
      if (action.type === 'recreate') this.#world.farTimers.waitAgain()
      await this.#world.actAs(otherClient, `${action.type} ${kind} ${name}`, () =>
        applyForeignAction(action, this.#world.directClient(otherClient)),
      )
    }
    return go
  }

  /** Changes a spec; then reverts it or deletes the object when the world is quiet, or deletes it before any event arrives. */
  async #amend({ object: reference, spec, then }: Extract<DeviationAction, { readonly type: 'amend' }>): Promise<void> {
    const world = this.#world
    const direct = world.directClient(otherClient)
    const before = direct.find(reference)
    if (!before) return
    const resource = world.facts.state.pluralOf(before)
    // The program must not see the change in between.
    if (then === 'delete' && resource !== undefined) this.#hold(resource, true)
    await world.actAs(otherClient, `sets spec ${stringifyJson(spec)} of ${reference.kind} ${reference.name}`, () =>
      direct.patch(before, { spec }),
    )
    const changed = direct.find(reference)
    if (!changed || changed.metadata.generation === before.metadata.generation) return
    if (then === 'delete') {
      await world.actAs(otherClient, `deletes ${reference.kind} ${reference.name}`, () => direct.delete(changed))
      return
    }
    if (await world.runUntilQuiet({ ignoresNonConvergence: true })) await world.judgeBetween()
    else judgeFailingWish(world, { kind: reference.kind, spec })
    const now = direct.find(reference)
    if (now && then === 'later')
      await world.actAs(otherClient, `deletes ${reference.kind} ${reference.name}`, () => direct.delete(now))
    else if (now)
      await world.actAs(otherClient, `reverts ${reference.kind} ${reference.name}`, () =>
        direct.update({ ...now, spec: before['spec'] } as UnstructuredObject),
      )
  }

  /** Pauses a process until its lease expires and another process leads; then resumes it. */
  #depose(proc: SimulatedProcess): void {
    const world = this.#world
    world.note('world', `${proc.name} is paused`)
    proc.pause()
    const resumeActions = world.eventQueue.hold(({ actor }) => actor === proc.name)
    if (!world.hasRivals) world.startProcess({ prefix: 'B' })
    this.#waitFor('lease')
    this.#holds.push({
      resource: '',
      coalesces: false,
      release: () => {
        world.note('world', `${proc.name} resumes`)
        this.deposed.set(proc, world.steps)
        resumeActions()
        proc.resume()
      },
    })
  }

  /** Delivers the response only when the world is quiet. */
  #slow({ process: { name }, about }: Pick<Interaction, 'process' | 'about'>): RequestDecision {
    this.#world.note('world', `the response to ${about} is slow`)
    const release = this.#world.eventQueue.hold(
      (action) =>
        action.actor === name &&
        (action.type === 'answer' || action.type === 'reply') &&
        action.about.startsWith(`${about}: `),
    )
    this.#holds.push({ resource: '', coalesces: false, release })
    this.#limitHold()
    return go
  }

  #hold(resource: string, coalesces: boolean): void {
    this.#world.note('world', `events of ${resource} are held back`)
    const release = this.#world.eventQueue.hold((action) => action.type === 'event' && action.resource === resource)
    this.#holds.push({ resource, coalesces, release })
    this.#limitHold()
  }

  /** A reconcile that fails for want of a held event would never end: every hold has a limit. */
  #limitHold(): void {
    this.#world.clock.after(holdMs, () => {
      this.release().catch(() => undefined)
    })
  }
}
