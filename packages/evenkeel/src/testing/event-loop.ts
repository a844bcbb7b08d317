/**
 * The event queue of a simulated world, and the loop that runs it until the world is quiet.
 *
 * Nothing in a world happens by itself: a request, a response, a watch event or an external call is an event in the
 * queue. The default policy runs the oldest event; a test case is that policy plus a few deviations. A request, a call and
 * a reconcile take a millisecond each; otherwise simulated time moves only when the queue is empty.
 *
 * Example: process A creates a ConfigMap, and its watch of configmaps is open.
 *
 *     queue before                                  the loop runs            added to the queue
 *     request create configmaps default/a           the request              answer create configmaps default/a: 201
 *                                                                            event configmaps: ADDED a 42
 *     answer create …: 201, event configmaps: …     the answer               (the reconcile continues and ends)
 *     event configmaps: ADDED a 42                  the watch event          (the cache has the ConfigMap)
 *     empty                                         time moves to the next timer, or the world is quiet
 *
 * Executing a request and delivering its response are two events. A crash between them is a crash after the commit; a
 * hold on `event configmaps` is a stale cache.
 *
 * The world is quiet when nothing was written for a while and no reconcile waits for a retry. A world that does not
 * become quiet within the limits below has not converged.
 *
 * The garbage collector and the namespace controller of the cluster read the true state and write one object at a time,
 * so that their work depends only on the schedule.
 *
 * Invariant: the same events added in the same order, with the same holds, run in the same order.
 */
import { foregroundFinalizer, isJsonObject, orphanFinalizer, type OwnerReference, type UnstructuredObject } from '#api'
import { flushPromises, flushTasks } from '#base'
import type { FaultInjector } from './fault-injector.ts'
import type { DirectClient } from './foreign-writes.ts'
import { noteEvent } from './hang-watchdog.ts'
import type { History } from './history.ts'
import type { World } from './world.ts'

/** Which limit a world exceeded before it became quiet. */
export interface NonConvergence {
  readonly why: 'steps' | 'time' | 'turns'
  readonly steps: number
  readonly virtualMs: number
}

interface LoopEvent {
  readonly actor: string
  readonly type: string
  readonly about: string
  run(): void | Promise<void>
}

const stepsMax = 4000
/** Events are held for so many quiet periods at most, even if the world is not quiet. */
const busyPeriods = 2
const convergenceMaxMs = 30 * 60_000
/** How often time may move before the world is quiet, and how many events may run before time moves. */
const [turnsMax, instantMax] = [3000, 300]

export class EventLoop {
  readonly #world: World
  readonly #faultInjector: FaultInjector
  #activeAtMs = 0
  #nonConvergence: NonConvergence | undefined
  #collectedAt = -1
  #lastQuietStep = 0

  constructor(world: World, faultInjector: FaultInjector) {
    this.#world = world
    this.#faultInjector = faultInjector
  }

  /** Why the world did not become quiet, if it did not. */
  get nonConvergence(): NonConvergence | undefined {
    return this.#nonConvergence
  }

  /** The step at which the world was last quiet with a process alive. */
  get lastQuietStep(): number {
    return this.#lastQuietStep
  }

  /** Restarts the time after which the world counts as quiet. */
  noteActivity(): void {
    this.#activeAtMs = this.#world.clock.monotonic()
  }

  /** The world is not expected to become quiet here. */
  clearNonConvergence(): void {
    this.#nonConvergence = undefined
  }

  /** @returns false when the world does not become quiet within the limits */
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
      const isDone = await this.#runEvents()
      if (this.#isTooLong({ steps: trace.steps - beganAtStep, virtualMs: clock.monotonic() - beganAtMs, turns }))
        return false
      const { nextInMs } = clock
      const { patienceMs, patientFromMs } = this.#faultInjector
      const dueMs = clock.monotonic() + (nextInMs ?? Infinity)
      // Work that is due again and again must not prolong the patience.
      const isSoon = dueMs - this.#activeAtMs <= quietMs || dueMs - Math.max(beganAtMs, patientFromMs) <= patienceMs
      // A failed reconcile is retried, however long its back-off is.
      const isWaiting = nextInMs !== undefined && (isSoon || this.#isFailing())
      if (isWaiting) await clock.advance(nextInMs)
      // Two writers that do not see each other never stop, nor does a retry on an old state: deliver what is held.
      if (!isDone) await this.#faultInjector.release()
      else if (clock.monotonic() - beganAtMs > busyPeriods * quietMs && this.#faultInjector.deliverHeld())
        this.noteActivity()
      if (isWaiting || !isDone) continue
      if (!(await this.#faultInjector.release())) {
        if (this.#world.processes.some(({ isDead }) => !isDead)) this.#lastQuietStep = trace.steps
        return true
      }
      // What waited for a held event continues before time moves.
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
        !isDead && (manager?.controllers ?? []).some(({ failing }) => failing > this.#faultInjector.poisoned),
    )
  }

  /** @returns whether the queue is empty */
  async #runEvents(): Promise<boolean> {
    const world = this.#world
    const { eventQueue, history, clock, trace, options } = world
    for (let taken = 0; taken < instantMax; taken++) {
      if (clock.nextInMs === 0) await clock.advance(0)
      const event = eventQueue.take() ?? this.#clusterEvent()
      if (!event) return true
      world.actor = event.actor
      noteEvent(event.actor, event.about)
      const entry = trace.add(event.actor, `${event.type} ${event.about}`, { atMs: clock.monotonic() })
      if (options.onAction) await options.onAction(entry)
      const before = history.events.length
      const running = event.run()
      if (running) await running
      await flushPromises()
      if (event.type === 'request' || event.type === 'call') world.passMoment()
      if (history.events.slice(before).some(({ resource }) => resource !== 'leases' && resource !== 'events'))
        this.noteActivity()
      if (history.events.length > before || event.type === 'call') world.noteCommit(event.actor)
      world.actor = 'world'
    }
    return false
  }

  #clusterEvent(): LoopEvent | undefined {
    const world = this.#world
    const { length } = world.history.events
    if (length === this.#collectedAt) return undefined
    const { clusterControllers = ['garbage', 'namespaces'] } = world.options.scenario
    const next =
      (clusterControllers.includes('garbage') ? nextGarbageCollection(world.history) : undefined) ??
      (clusterControllers.includes('namespaces') ? nextNamespaceDeletion(world.history) : undefined)
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

/** The type of an event, for holds and for the trace. */
type QueuedEventType = 'request' | 'answer' | 'event' | 'call' | 'reply' | 'collect'

interface QueuedEvent {
  /** `A`, `B`, `gc` */
  readonly actor: string
  readonly type: QueuedEventType
  /** `create configmaps default/a` */
  readonly about: string
  /** For watch events: the watched resource. */
  readonly resource?: string
  run(): void | Promise<void>
}

type IsHeld = (event: QueuedEvent) => boolean

export class EventQueue {
  readonly #events: QueuedEvent[] = []
  readonly #holds = new Set<IsHeld>()

  /** @returns a function that removes the event if it has not run */
  add(event: QueuedEvent): () => void {
    this.#events.push(event)
    return () => {
      this.#remove(event)
    }
  }

  /** Removes the oldest event that is not held, and returns it. */
  take(): QueuedEvent | undefined {
    const index = this.#holds.size === 0 ? 0 : this.#events.findIndex((event) => !this.#isHeld(event))
    return index < 0 ? undefined : this.#events.splice(index, 1)[0]
  }

  /** Holds events back until the returned function is called; they keep their order. */
  hold(isHeld: IsHeld): () => void {
    this.#holds.add(isHeld)
    return () => {
      this.#holds.delete(isHeld)
    }
  }

  /** Removes all events that match: those of a crashed process. */
  drop(matches: (event: QueuedEvent) => boolean): void {
    for (const event of this.#events.filter((one) => matches(one))) this.#remove(event)
  }

  /** The events in the queue, in order. */
  get waiting(): readonly Pick<QueuedEvent, 'actor' | 'type' | 'about'>[] {
    return this.#events
  }

  /** How many events are held. */
  get held(): number {
    return this.#holds.size === 0 ? 0 : this.#events.filter((event) => this.#isHeld(event)).length
  }

  #isHeld(event: QueuedEvent): boolean {
    for (const hold of this.#holds) if (hold(event)) return true
    return false
  }

  #remove(event: QueuedEvent): void {
    const index = this.#events.indexOf(event)
    if (index >= 0) this.#events.splice(index, 1)
  }
}

// The cluster controllers. The garbage collector deletes an object when none of its owners exists, and ends the
// deletion of an owner when no blocking dependent is left. The namespace controller deletes the objects of a namespace
// in deletion, then removes its finalizer.

/** The next write of a cluster controller. */
interface ClusterAction {
  readonly about: string
  run(direct: DirectClient): Promise<unknown>
}

/** The next write of the garbage collector; undefined when there is none. */
function nextGarbageCollection({ objects }: Pick<History, 'objects'>): ClusterAction | undefined {
  const present = [...objects.values()]
  const uids = new Set(present.map(({ metadata }) => metadata.uid))
  for (const object of present) {
    const found = finishDeletion(object, present) ?? collectOrphan(object, { uids, present })
    if (found) return found
  }
  return undefined
}

/** An owner in deletion that waits for its dependents. */
function finishDeletion(object: UnstructuredObject, present: readonly UnstructuredObject[]): ClusterAction | undefined {
  const {
    metadata: { deletionTimestamp, finalizers = [], uid },
  } = object
  if (deletionTimestamp === undefined) return undefined
  const dependents = present.filter((one) => ownersOf(one).some((owner) => owner.uid === uid))
  if (finalizers.includes(orphanFinalizer)) {
    const [first] = dependents
    return first
      ? {
          about: `orphan ${describe(first)}`,
          run: (direct) =>
            updateMetadata(direct, first, (metadata) => {
              metadata['ownerReferences'] = ownersOf(first).filter((owner) => owner.uid !== uid)
            }),
        }
      : removeFinalizer(object, orphanFinalizer)
  }
  if (!finalizers.includes(foregroundFinalizer)) return undefined
  const waiting = dependents.find(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (waiting) return deleteDependent(waiting)
  const isBlocked = dependents.some((one) =>
    ownersOf(one).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
  )
  return isBlocked ? undefined : removeFinalizer(object, foregroundFinalizer)
}

/** An object of which no owner, or not every owner, exists. */
function collectOrphan(
  object: UnstructuredObject,
  { uids }: { uids: ReadonlySet<string | undefined>; present: readonly UnstructuredObject[] },
): ClusterAction | undefined {
  const owners = ownersOf(object)
  if (owners.length === 0 || object.metadata.deletionTimestamp !== undefined) return undefined
  const gone = owners.filter(({ uid }) => !uids.has(uid))
  if (gone.length === owners.length) return deleteDependent(object)
  if (gone.length === 0) return undefined
  return {
    about: `remove missing owners of ${describe(object)}`,
    run: (direct) =>
      updateMetadata(direct, object, (metadata) => {
        metadata['ownerReferences'] = owners.filter(({ uid }) => uids.has(uid))
      }),
  }
}

function deleteDependent(object: UnstructuredObject): ClusterAction {
  const {
    metadata: { uid = '' },
  } = object
  return {
    about: `delete ${describe(object)}`,
    run: (direct) => direct.delete(object, { preconditions: { uid }, propagationPolicy: 'Background' }),
  }
}

function removeFinalizer(object: UnstructuredObject, finalizer: string): ClusterAction {
  return {
    about: `remove finalizer ${finalizer} of ${describe(object)}`,
    run: (direct) =>
      updateMetadata(direct, object, (metadata) => {
        metadata['finalizers'] = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
      }),
  }
}

function updateMetadata(
  direct: DirectClient,
  object: UnstructuredObject,
  edit: (metadata: Record<string, unknown>) => void,
): Promise<boolean> {
  const copy = structuredClone(object) as UnstructuredObject & { metadata: Record<string, unknown> }
  edit(copy.metadata)
  return direct.update(copy)
}

function ownersOf({ metadata: { ownerReferences = [] } }: UnstructuredObject): readonly OwnerReference[] {
  return ownerReferences
}

function describe({ kind, metadata: { name = '' } }: UnstructuredObject): string {
  return `${kind} ${name}`
}

/** The next write of the namespace controller; undefined when there is none. */
function nextNamespaceDeletion({ objects }: Pick<History, 'objects'>): ClusterAction | undefined {
  for (const namespace of objects.values()) {
    if (
      namespace.kind !== 'Namespace' ||
      namespace.metadata.deletionTimestamp === undefined ||
      finalizersOf(namespace).length === 0
    )
      continue
    const inside = [...objects.values()].filter(({ metadata }) => metadata.namespace === namespace.metadata.name)
    const next = inside.find(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (next)
      return {
        about: `delete ${next.kind} ${next.metadata.name ?? ''} of Namespace ${namespace.metadata.name ?? ''}`,
        run: (direct) => direct.delete(next, { propagationPolicy: 'Background' }),
      }
    if (inside.length === 0)
      return {
        about: `finalize Namespace ${namespace.metadata.name ?? ''}`,
        run: (direct) => direct.update({ ...namespace, spec: {} } as UnstructuredObject, 'finalize'),
      }
  }
  return undefined
}

function finalizersOf({ spec }: UnstructuredObject): readonly unknown[] {
  return isJsonObject(spec) && Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
}
