/**
 * The garbage collector and the namespace controller of a simulated cluster, one object at a time.
 *
 * They read the true state, so that their work depends only on the schedule. The garbage collector deletes an object when
 * none of its owners exists, and ends the deletion of an owner when no blocking dependent is left. The namespace
 * controller deletes the objects of a namespace in deletion, then removes its finalizer.
 */
import { foregroundFinalizer, isJsonObject, orphanFinalizer, type OwnerReference, type UnstructuredObject } from '#api'
import type { DirectClient } from './foreign-writes.ts'
import type { History } from './history.ts'

/** The next write of a cluster controller. */
interface ClusterAction {
  readonly about: string
  run(direct: DirectClient): Promise<unknown>
}

/** The next write of the garbage collector; undefined when there is none. */
export function nextGarbageCollection({ objects }: Pick<History, 'objects'>): ClusterAction | undefined {
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
export function nextNamespaceDeletion({ objects }: Pick<History, 'objects'>): ClusterAction | undefined {
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
