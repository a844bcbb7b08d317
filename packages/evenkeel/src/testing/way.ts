/**
 * The way of a schedule: how many objects there were at once, how often each was created and deleted, and how many
 * members of a set were left when another one was deleted.
 *
 * A program that repairs what it broke ends in the right state. Only its way shows the mistake: it is compared with the
 * ways of the undisturbed schedules, which have the same wishes.
 *
 * Example: a program keeps three replicas, and replaces them one by one.
 *
 *     undisturbed          at once: 3      created: web-0 2, web-1 2, web-2 2      left of the set: 2
 *     after a crash        at once: 3      created: web-0 2, web-1 2, web-2 2      left of the set: 1    two were down
 */
import { isJsonObject, type UnstructuredObject } from '#api'
import type { History } from './history.ts'
import { describeObject, isRelevant } from './snapshot.ts'

/** Most or least of something, by its name. */
type Counts = ReadonlyMap<string, number>

export interface Way {
  /** The most objects of a kind at once, by owner: `ConfigMap of App default/a`. */
  readonly atOnce: Counts
  /** How often the program created an object of this name. */
  readonly created: Counts
  /** How often the program deleted an object of this name. */
  readonly deleted: Counts
  /** The fewest available members of a set just after the program deleted one, by phase: `1 Pod of App default/a`. */
  readonly left: Counts
}

interface WayOptions {
  readonly history: Pick<History, 'events' | 'nameOf'>
  /** The phase of the schedule at a step. */
  phaseAt(step: number): number
  isProcess(actor: string): boolean
  /** The name of an object without what differs by nature. */
  nameOf(about: string): string
  isDue(object: UnstructuredObject): boolean
}

export function wayOf({ history, phaseAt, isProcess, nameOf, isDue }: WayOptions): Way {
  const counts = { atOnce: new Map(), created: new Map(), deleted: new Map(), left: new Map() } as Record<
    keyof Way,
    Map<string, number>
  >
  const present = new Map<string, UnstructuredObject>()
  for (const { actor, before, after, step } of history.events) {
    const object = after ?? before
    const { uid = '' } = object?.metadata ?? {}
    if (!object || !isRelevant(object) || isDue(object)) continue
    const isGoing = after?.metadata.deletionTimestamp !== undefined || !after
    if (after && !isGoing) present.set(uid, after)
    else present.delete(uid)
    if (!isProcess(actor)) continue
    const about = nameOf(describeObject(object))
    const set = setOf(object, { present, history })
    if (!before) {
      add(counts.created, about)
      if (set) raise(counts.atOnce, set.name, set.members.length)
    } else if (isGoing && before.metadata.deletionTimestamp === undefined) {
      add(counts.deleted, about)
      if (set?.isOwned === true)
        lower(counts.left, `${phaseAt(step)} ${set.name}`, set.members.filter(isAvailable).length)
    }
  }
  return counts
}

/** What is possible in any of the schedules. */
export function widest(ways: readonly Way[]): Way {
  const merged = (part: keyof Way, choose: (one: number, other: number) => number): Counts => {
    const found = new Map<string, number>()
    for (const way of ways)
      for (const [name, count] of way[part]) found.set(name, choose(count, found.get(name) ?? count))
    return found
  }
  return {
    atOnce: merged('atOnce', Math.max),
    created: merged('created', Math.max),
    deleted: merged('deleted', Math.max),
    left: merged('left', Math.min),
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function raise(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, Math.max(count, counts.get(name) ?? 0))
}

function lower(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, Math.min(count, counts.get(name) ?? Infinity))
}

interface ObjectSet {
  /** `Pod of <App default/a>` */
  readonly name: string
  /** The members that are not in deletion. */
  readonly members: readonly UnstructuredObject[]
  /** The owner is not in deletion. */
  readonly isOwned: boolean
}

/** The objects of the same kind and controlling owner; undefined for an object without one. */
function setOf(
  { kind, metadata }: UnstructuredObject,
  { present, history }: { present: ReadonlyMap<string, UnstructuredObject>; history: Pick<History, 'nameOf'> },
): ObjectSet | undefined {
  const uid = controllerOf(metadata)
  if (uid === undefined) return undefined
  const members = [...present.values()].filter((one) => one.kind === kind && controllerOf(one.metadata) === uid)
  return { name: `${kind} of ${history.nameOf(uid) ?? uid}`, members, isOwned: present.has(uid) }
}

function controllerOf({ ownerReferences = [] }: UnstructuredObject['metadata']): string | undefined {
  return ownerReferences.find(({ controller }) => controller === true)?.uid
}

/** Nothing in its status says that it is not ready. */
function isAvailable({ status }: UnstructuredObject): boolean {
  if (!isJsonObject(status)) return true
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isJsonObject) : []
  return (
    !conditions.some(({ type, status: value }) => (type === 'Ready' || type === 'Available') && value !== 'True') &&
    !(typeof status['phase'] === 'string' && /^(?:Pending|Failed|Terminating|Unknown)$/.test(status['phase'])) &&
    status['ready'] !== false
  )
}
