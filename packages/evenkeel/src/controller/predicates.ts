/**
 * Predicates: does an event matter at all?
 *
 *   informer ──event──▶ predicates ──▶ handler ──keys──▶ queue
 *
 * Predicates filter updates only; additions, deletions and the start of a deletion always pass. They save reconciles, not
 * memory, and a reconcile must not rely on them: it may run for any reason.
 */
import { deepEqual } from '#api'
import type { KubeObject } from '#api'
import type { CacheEvent } from '#cache'

/** Whether an event is passed on. */
export type Predicate<T extends KubeObject = KubeObject> = (event: CacheEvent<T>) => boolean

/**
 * The spec changed. Objects that the server does not count generations for (ConfigMaps, Secrets) pass with every change.
 *
 * A resync does not pass: nothing changed.
 */
export const generationChanged: Predicate = onUpdate((old, object) => {
  const { generation = 0 } = object.metadata
  return generation > 0
    ? generation !== old.metadata.generation
    : old.metadata.resourceVersion !== object.metadata.resourceVersion
})

export const labelsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}),
)

export const annotationsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.annotations ?? {}, object.metadata.annotations ?? {}),
)

/** Anything changed: leaves out resyncs alone. */
export const resourceVersionChanged: Predicate = onUpdate(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
)

/** A custom predicate for updates; additions, deletions and the start of a deletion pass. */
export function onUpdate<T extends KubeObject>(matters: (old: T, object: T) => boolean): Predicate<T> {
  return (event) => {
    if (isAlwaysPassed(event)) return true
    const { old, object } = event
    return old === undefined || matters(old, object)
  }
}

/** Passes if all of them do. */
export function and<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event))
}

/** Passes if one of them does. */
export function or<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => isAlwaysPassed(event) || predicates.some((predicate) => predicate(event))
}

/** Passes if the predicate does not; what always passes still does. */
export function not<T extends KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => isAlwaysPassed(event) || !predicate(event)
}

/** Additions, deletions, their start, and a replaced object: no combination may drop these. */
function isAlwaysPassed(event: CacheEvent): boolean {
  if (event.type !== 'update') return true
  if (event.isResync) return false
  return (
    event.isReplaced ||
    (event.object.metadata.deletionTimestamp !== undefined && event.old?.metadata.deletionTimestamp === undefined)
  )
}
