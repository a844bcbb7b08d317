/**
 * The garbage collector of a simulated world: one object at a time, as an action like any other.
 *
 * It sees the true world, so that what it does depends on the schedule alone. An object goes when it has owners and none
 * of them is there any more; an owner that waits for its dependents lets go when those that block it are gone.
 */
import { foregroundFinalizer, isJsonObject, orphanFinalizer, type OwnerReference, type UnstructuredObject } from '#api'
import type { DirectClient } from './foreign-writes.ts'
import type { History } from './history.ts'

/** What the collector would do next; undefined when there is nothing. */
interface ClusterAction {
  readonly about: string
  run(direct: DirectClient): Promise<unknown>
}

export function nextGarbageCollection({ objects }: Pick<History, 'objects'>): ClusterAction | undefined {
  const present = [...objects.values()]
  const uids = new Set(present.map(({ metadata }) => metadata.uid))
  for (const object of present) {
    const found = finishDeletion(object, present) ?? collectOrphan(object, { uids, present })
    if (found) return found
  }
  return undefined
}

/** An owner that is being deleted and waits for what becomes of its dependents. */
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

/** An object whose owners are all gone. */
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
    about: `strip owners of ${describe(object)}`,
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
    about: `collect ${describe(object)}`,
    run: (direct) => direct.delete(object, { preconditions: { uid }, propagationPolicy: 'Background' }),
  }
}

function removeFinalizer(object: UnstructuredObject, finalizer: string): ClusterAction {
  return {
    about: `let ${describe(object)} go`,
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

/*
 * The namespace controller of a simulated world: what is in a namespace that is being deleted goes, then the namespace.
 *
 * It sees the true world, one object at a time, as an action like any other.
 */

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
        about: `empty ${namespace.metadata.name ?? ''} of ${next.kind} ${next.metadata.name ?? ''}`,
        run: (direct) => direct.delete(next, { propagationPolicy: 'Background' }),
      }
    if (inside.length === 0)
      return {
        about: `let Namespace ${namespace.metadata.name ?? ''} go`,
        run: (direct) => direct.update({ ...namespace, spec: {} } as UnstructuredObject, 'finalize'),
      }
  }
  return undefined
}

function finalizersOf({ spec }: UnstructuredObject): readonly unknown[] {
  return isJsonObject(spec) && Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
}
