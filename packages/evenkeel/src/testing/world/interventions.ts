/**
 * Carries out the deviations of a schedule, each when the world has come to its place.
 */
import type { UnstructuredObject } from '#api'
import type { Deed, Deviation, ObjectPlace, Place } from '../faults/deviation.ts'
import type { Fate, Point } from '../life/effect.ts'
import { asNew, doDeed } from './deeds.ts'
import type { Life } from '../life/life.ts'
import { connectionReset } from '../life/answers.ts'
import { evict } from './troubles/eviction.ts'
import { deprive, vanish } from './troubles/loss.ts'
import { poison } from './troubles/poison.ts'
import { absent, forbidden, outage } from './troubles/refusing.ts'
import { Troubles } from './troubles/trouble.ts'
import type { World } from './world.ts'

/** A client that looks after its watches has noticed by then. */
const silenceMs = 5 * 60_000

/** The lease of a process that stands still is over, and taken. */
const leaseMs = 60_000

/** Longer than this nothing is held back. */
const holdMs = 5 * 60_000

const go: Fate = { type: 'go' }

export class Interventions {
  readonly #world: World
  readonly #byPlace = new Map<string, Deviation[]>()
  readonly #holds: { readonly resource: string; readonly coalesces: boolean; release(): void }[] = []
  /** Processes that another one has taken over from, and how many calls they made since. */
  readonly deposed = new Map<Life, number>()
  /** What is wrong at this moment, for everybody. */
  readonly troubles = new Troubles()
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
      const key = keyOf(deviation.at)
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
  get isOver(): boolean {
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
    return this.#isSilent ? silenceMs : this.#isContested || this.#world.isContested ? leaseMs : 0
  }

  /** What holds from the very start. */
  begin(): void {
    for (const { deed } of this.#byPlace.get(keyOf({ type: 'start', index: 0 })) ?? []) {
      if (deed.type === 'skew') this.#skew = deed
      if (deed.type === 'late') this.#lateSteps = deed.steps
      if (deed.type === 'absent') this.troubles.add(absent(this.#world, deed.resource))
      if (deed.type === 'absent') this.#isSilent = true
      if (deed.type === 'serial') this.#isSerial = true
      if (deed.type === 'wait') this.#isSilent = true
    }
  }

  /** Before or after a point. */
  async at(place: Place, point: Pick<Point, 'life' | 'about' | 'asked' | 'call' | 'request' | 'type'>): Promise<Fate> {
    const { life } = point
    let fate = go
    // Once everything was made well nothing goes wrong any more.
    for (const { deed } of this.#world.isHealed ? [] : (this.#byPlace.get(keyOf(place)) ?? [])) {
      const said = deed.type === 'slow' ? this.#slow(point) : await this.#do(deed, life)
      if (said.type !== 'go') fate = said
    }
    if (place.when !== 'after') fate = this.troubles.fateOf(point) ?? fate
    return life.isDead ? { type: 'dead' } : fate
  }

  /** When nothing happens any more. @returns whether anything was done */
  async atRest(place: Place): Promise<boolean> {
    const due = this.#byPlace.get(keyOf(place)) ?? []
    for (const { deed } of due) {
      const life = this.#world.lives.findLast(({ isDead }) => !isDead)
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
      const alive = coalesces ? this.#world.lives.filter(({ isDead }) => !isDead) : []
      for (const life of alive) life.line.expire(resource)
      release()
    }
    return (await this.troubles.end()) || held.length > 0
  }

  async heal(): Promise<void> {
    this.#isBroken = false
    this.#poisoned = 0
    await this.troubles.end({ all: true })
    await this.release()
  }

  async #do(deed: Deed, life: Life): Promise<Fate> {
    const world = this.#world
    switch (deed.type) {
      case 'refuse':
        return { ...deed, type: 'refuse' }
      case 'lose':
        return { type: 'reset' }
      case 'crash':
        world.kill(life)
        world.startLife({ prefix: life.name[0] ?? 'A' })
        // The lease of the dead has to run out first.
        if (world.options.scenario.leaderElection) this.#isContested = true
        return { type: 'dead' }
      case 'die':
        world.kill(life)
        this.#isBroken = true
        return { type: 'dead' }
      case 'stale': {
        world.kill(life)
        const next = world.startLife({ prefix: life.name[0] ?? 'A', back: deed.back, staleKind: deed.resource })
        const release = world.agenda.hold(
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
        for (const stream of life.line.streams()) stream.silence()
        this.#isSilent = true
        return go
      case 'cut':
        world.note('world', `the watches of ${deed.resource} break`)
        for (const stream of life.line.streams(deed.resource)) stream.abort(connectionReset())
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
  async #lasting(deed: Deed): Promise<Fate> {
    const world = this.#world
    switch (deed.type) {
      case 'forbid':
        world.note('world', `the permission to ${deed.verb} ${deed.resource} is gone`)
        this.troubles.add(forbidden(deed))
        return go
      case 'evict':
        this.troubles.add(await evict(world, deed.namespace))
        return go
      case 'outage':
        this.troubles.add(outage(world, deed.service))
        // Who watches may wait a while before it tries again.
        if (deed.service === undefined) this.#isSilent = true
        this.#holdOnlySoLong()
        return go
      case 'poison': {
        const trouble = await poison(world, deed.object)
        if (trouble) this.troubles.add(trouble)
        this.#poisoned++
        return go
      }
      case 'vanish':
        await vanish(world, deed)
        return go
      case 'deprive':
        this.#isOver = true
        await deprive(world, deed.object)
        return go
      default:
        return await this.#foreign(deed)
    }
  }

  /** Whoever has finalizers goes later: then another one is made under its name. */
  async #makeAnew(place: ObjectPlace): Promise<void> {
    const world = this.#world
    const direct = world.direct('somebody')
    const going = direct.find(place)
    if (going?.metadata.deletionTimestamp === undefined) return
    const beside = direct.besideOf(going)
    await world.settleDown({ forgives: true })
    if (!direct.find(place))
      await world.as('somebody', `makes ${place.kind} ${place.name} anew`, () => direct.create(asNew(going), beside))
  }

  async #foreign(deed: Deed): Promise<Fate> {
    if ('object' in deed && deed.type !== 'amend' && deed.type !== 'poison' && deed.type !== 'deprive') {
      const { kind, name } = deed.object
      await this.#world.as('somebody', `${deed.type} ${kind} ${name}`, () =>
        doDeed(deed, this.#world.direct('somebody')),
      )
    }
    return go
  }

  /** A wish is changed, and changed back when all is done; or deleted before anybody could look. */
  async #amend({ object: place, spec, then }: Extract<Deed, { readonly type: 'amend' }>): Promise<void> {
    const world = this.#world
    const direct = world.direct('somebody')
    const before = direct.find(place)
    if (!before) return
    const resource = world.facts.view.pluralOf(before)
    // Nobody looks in between.
    if (then === 'delete' && resource !== undefined) this.#hold(resource, true)
    await world.as('somebody', `sets spec ${JSON.stringify(spec)} of ${place.kind} ${place.name}`, () =>
      direct.patch(before, { spec }),
    )
    const changed = direct.find(place)
    if (!changed || changed.metadata.generation === before.metadata.generation) return
    if (then === 'delete') {
      await world.as('somebody', `deletes ${place.kind} ${place.name}`, () => direct.delete(changed))
      return
    }
    if (await world.settleDown({ forgives: true })) await world.between()
    const now = direct.find(place)
    if (now && then === 'later')
      await world.as('somebody', `deletes ${place.kind} ${place.name}`, () => direct.delete(now))
    else if (now)
      await world.as('somebody', `changes ${place.kind} ${place.name} back`, () =>
        direct.update({ ...now, spec: before['spec'] } as UnstructuredObject),
      )
  }

  /** A process stands still, its lease runs out, another one works; then the first goes on. */
  #rival(life: Life): void {
    const world = this.#world
    world.note('world', `${life.name} stands still`)
    life.pause()
    const letGo = world.agenda.hold(({ actor }) => actor === life.name)
    if (!world.isContested) world.startLife({ prefix: 'B' })
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
  #slow({ life: { name }, about }: Pick<Point, 'life' | 'about'>): Fate {
    this.#world.note('world', `the answer to ${about} takes long`)
    const release = this.#world.agenda.hold(
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
    const release = this.#world.agenda.hold((action) => action.type === 'event' && action.resource === resource)
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

function keyOf({ type, index, when = 'before' }: Place): string {
  return `${when} ${type} ${index}`
}
