/**
 * Lets things happen until nothing is left to happen: the oldest action first, and time moves only when there is none.
 *
 * Rest is when nothing was written for a while and nobody is about to try again. A world that does not come to it within
 * so many steps, so much time or so many turns has none.
 */
import { flushPromises, flushTasks } from '#base'
import { nextGarbageCollection, nextNamespaceDeletion } from './cluster-controllers.ts'
import type { FaultInjector } from './fault-injector.ts'
import { noteAction } from './hang-watchdog.ts'
import type { World } from './world.ts'

/** How a world never came to rest. */
export interface NonConvergence {
  readonly why: 'steps' | 'time' | 'turns'
  readonly steps: number
  readonly virtualMs: number
}

interface LoopAction {
  readonly actor: string
  readonly type: string
  readonly about: string
  run(): void | Promise<void>
}

const stepsMax = 4000
const convergenceMaxMs = 30 * 60_000
/** How often time may move while nothing is written, and how much may happen at one moment before it moves. */
const [turnsMax, instantMax] = [3000, 300]

export class EventLoop {
  readonly #world: World
  readonly #interventions: FaultInjector
  #activeAtMs = 0
  #nonConvergence: NonConvergence | undefined
  #collectedAt = -1

  constructor(world: World, interventions: FaultInjector) {
    this.#world = world
    this.#interventions = interventions
  }

  /** How there was no rest, if there was none. */
  get nonConvergence(): NonConvergence | undefined {
    return this.#nonConvergence
  }

  /** Something goes on: there is no rest for a while. */
  noteActivity(): void {
    this.#activeAtMs = this.#world.clock.monotonic()
  }

  /** That there is no rest is nobody's fault. */
  clearNonConvergence(): void {
    this.#nonConvergence = undefined
  }

  /** @returns false when it never stops */
  async runUntilQuiet(): Promise<boolean> {
    const {
      clock,
      trace,
      options: {
        scenario: { quietMs = 30_000 },
      },
    } = this.#world
    const [beganAtStep, beganAtMs] = [trace.steps, clock.monotonic()]
    this.noteActivity()
    await flushTasks()
    for (let turns = 0; ; turns++) {
      const isDone = await this.#runActions()
      if (this.#isTooLong({ steps: trace.steps - beganAtStep, virtualMs: clock.monotonic() - beganAtMs, turns }))
        return false
      const { nextInMs } = clock
      const isSoon =
        nextInMs !== undefined &&
        clock.monotonic() + nextInMs - this.#activeAtMs <= Math.max(quietMs, this.#interventions.patienceMs)
      // Who failed last is tried again, however long that takes.
      const isWaiting = nextInMs !== undefined && (isSoon || this.#isFailing())
      if (isWaiting) await clock.advance(nextInMs)
      // Two that do not know of each other never end: they hear of it now.
      if (!isDone) await this.#interventions.release()
      if (isWaiting || !isDone) continue
      if (!(await this.#interventions.release())) return true
      // Those who were kept waiting go on before time does.
      await flushTasks()
      this.noteActivity()
    }
  }

  #isTooLong({ steps, virtualMs, turns }: { steps: number; virtualMs: number; turns: number }): boolean {
    if (steps <= stepsMax && virtualMs <= convergenceMaxMs && turns <= turnsMax) return false
    this.#nonConvergence = { why: steps > stepsMax ? 'steps' : turns > turnsMax ? 'turns' : 'time', steps, virtualMs }
    return true
  }

  #isFailing(): boolean {
    return this.#world.processes.some(
      ({ isDead, manager }) =>
        !isDead && (manager?.controllers ?? []).some(({ failing }) => failing > this.#interventions.poisoned),
    )
  }

  /** @returns whether nothing is left to do now */
  async #runActions(): Promise<boolean> {
    const world = this.#world
    const { eventQueue, history, clock, trace, options } = world
    for (let taken = 0; taken < instantMax; taken++) {
      if (clock.nextInMs === 0) await clock.advance(0)
      const action = eventQueue.take() ?? this.#collection()
      if (!action) return true
      world.actor = action.actor
      noteAction(action.actor, action.about)
      const entry = trace.add(action.actor, `${action.type} ${action.about}`, { atMs: clock.monotonic() })
      if (options.onAction) await options.onAction(entry)
      const before = history.events.length
      const running = action.run()
      if (running) await running
      await flushPromises()
      if (history.events.slice(before).some(({ resource }) => resource !== 'leases' && resource !== 'events'))
        this.noteActivity()
      world.actor = 'world'
    }
    return false
  }

  #collection(): LoopAction | undefined {
    const world = this.#world
    const { length } = world.history.events
    if (length === this.#collectedAt) return undefined
    const { plays = ['garbage', 'namespaces'] } = world.options.scenario
    const next =
      (plays.includes('garbage') ? nextGarbageCollection(world.history) : undefined) ??
      (plays.includes('namespaces') ? nextNamespaceDeletion(world.history) : undefined)
    if (next === undefined) this.#collectedAt = length
    return (
      next && {
        actor: 'gc',
        type: 'collect',
        about: next.about,
        run: async () => {
          await next.run(world.directClient('gc'))
        },
      }
    )
  }
}

/*
 * Everything that can happen next in a simulated world, and which of it does.
 *
 * Nothing in a world happens by itself: a request that waits to be carried out, an answer or an event on its way, a call
 * to the outside are actions on this list. The default policy takes the oldest one; a test case is that policy and a
 * few deviations from it.
 *
 * Invariant: the same actions added in the same order, with the same holds, come out in the same order.
 */

/** What an action is, for those who hold some back and for the trace. */
type QueuedEventType = 'request' | 'answer' | 'event' | 'call' | 'reply' | 'collect'

interface QueuedEvent {
  /** Whose it is: `A`, `B`, `gc`. */
  readonly actor: string
  readonly type: QueuedEventType
  /** `create configmaps default/a` */
  readonly about: string
  /** For events: the plural of the kind that is watched. */
  readonly resource?: string
  run(): void | Promise<void>
}

type IsHeld = (action: QueuedEvent) => boolean

export class EventQueue {
  readonly #actions: QueuedEvent[] = []
  readonly #holds = new Set<IsHeld>()

  /** @returns what takes it away again, if it has not happened */
  add(action: QueuedEvent): () => void {
    this.#actions.push(action)
    return () => {
      this.#remove(action)
    }
  }

  /** The next thing to happen; it is off the list. */
  take(): QueuedEvent | undefined {
    const index = this.#holds.size === 0 ? 0 : this.#actions.findIndex((action) => !this.#isHeld(action))
    return index < 0 ? undefined : this.#actions.splice(index, 1)[0]
  }

  /** Keeps actions from happening until the hold is released; in their order they stay. */
  hold(isHeld: IsHeld): () => void {
    this.#holds.add(isHeld)
    return () => {
      this.#holds.delete(isHeld)
    }
  }

  /** Takes away everything that fits: what belonged to a process that died. */
  drop(fits: (action: QueuedEvent) => boolean): void {
    for (const action of this.#actions.filter((one) => fits(one))) this.#remove(action)
  }

  /** What is there to happen, in its order. */
  get waiting(): readonly Pick<QueuedEvent, 'actor' | 'type' | 'about'>[] {
    return this.#actions
  }

  /** How many are held back at present. */
  get held(): number {
    return this.#holds.size === 0 ? 0 : this.#actions.filter((action) => this.#isHeld(action)).length
  }

  #isHeld(action: QueuedEvent): boolean {
    for (const hold of this.#holds) if (hold(action)) return true
    return false
  }

  #remove(action: QueuedEvent): void {
    const index = this.#actions.indexOf(action)
    if (index >= 0) this.#actions.splice(index, 1)
  }
}
