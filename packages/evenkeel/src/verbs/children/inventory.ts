/**
 * Children that no owner reference reaches, listed on their parent: in other namespaces, or in none.
 *
 * The list is an annotation of the parent, one for each controller, and is written together with a finalizer in one
 * patch, before the first of those children is made: whatever dies when, there is a list of all that may be there.
 * Entries go when their child is seen to be gone; the finalizer goes with the last.
 */
import { addFinalizer, hasFinalizer, removeFinalizer, type KubeObject, type Owner } from '#api'
import { isUnknownKind } from '#client'
import type { CleanupStep, ControllerDeclaration, ReconcileContext, Reconciled } from '#controller'
import { newestParent, type ChildRun } from './apply.ts'
import { childIdOf, idText, type ChildId } from './desired-child.ts'
import { belongsTo, readApplied } from './ownership-labels.ts'

/** Longer lists would come near to what all annotations of an object may take. */
const entriesMax = 1000

/** How long the cleanup waits before it looks again by itself; what goes is told by a watch. */
const recheckMs = 30_000

const annotationOf = (controller: string): string => `children.evenkeel.dev/${controller}`
const finalizerOf = (controller: string): string => `children.evenkeel.dev/${controller}`

/** What is listed, in order. */
export function inventoryOf(parent: KubeObject, controller: string): readonly ChildId[] {
  let entries: unknown
  try {
    entries = JSON.parse(parent.metadata.annotations?.[annotationOf(controller)] ?? '[]')
  } catch {
    return []
  }
  if (!Array.isArray(entries)) return []
  return entries
    .filter(
      (entry): entry is string[] =>
        Array.isArray(entry) && entry.length === 4 && entry.every((part) => typeof part === 'string'),
    )
    .map(([apiVersion = '', kind = '', namespace = '', name = '']) =>
      childIdOf({ apiVersion, kind, metadata: { namespace, name } }),
    )
}

/** Lists children that are about to be made. @throws {RangeError} when there are too many. @throws {ApiError} `Conflict`. */
export async function addToInventory(run: ChildRun, ids: readonly ChildId[]): Promise<void> {
  const parent = newestParent(run)
  const listed = inventoryOf(parent, run.run.controller)
  const known = new Set(listed.map(idText))
  const added = ids.filter((id) => !known.has(idText(id)))
  // A list without the finalizer came from a copy: of a backup, or of another object.
  if (added.length === 0 && hasFinalizer(parent, finalizerOf(run.run.controller))) return
  if (listed.length + added.length > entriesMax)
    throw new RangeError(
      `${parent.kind} ${parent.metadata.name} has more than ${entriesMax} children where no owner reference reaches: make one object in each namespace that owns them there`,
    )
  await write(run, parent, [...listed, ...added])
}

/** Strikes children that are seen to be gone. */
export async function removeFromInventory(run: ChildRun, gone: readonly ChildId[]): Promise<void> {
  if (gone.length === 0) return
  const parent = newestParent(run)
  const struck = new Set(gone.map(idText))
  await write(
    run,
    parent,
    inventoryOf(parent, run.run.controller).filter((id) => !struck.has(idText(id))),
  )
}

async function write({ base, run: { controller } }: ChildRun, parent: Owner, ids: readonly ChildId[]): Promise<void> {
  const { [annotationOf(controller)]: _, ...annotations } = parent.metadata.annotations ?? {}
  const text = JSON.stringify(
    ids
      .toSorted((a, b) => (idText(a) < idText(b) ? -1 : 1))
      .map(({ apiVersion, kind, namespace, name }) => [apiVersion, kind, namespace, name]),
  )
  const noted = {
    ...parent,
    metadata: {
      ...parent.metadata,
      annotations: ids.length > 0 ? { ...annotations, [annotationOf(controller)]: text } : annotations,
    },
  }
  const wanted =
    ids.length > 0 ? addFinalizer(noted, finalizerOf(controller)) : removeFinalizer(noted, finalizerOf(controller))
  await base.client.patchFrom(parent, wanted, { signal: base.signal })
}

/** The cleanup of what is listed, for controllers that may list something. */
export function inventoryStep(declaration: ControllerDeclaration, controller: string): readonly CleanupStep[] {
  const isListing = (declaration.owns ?? []).some((owned) => 'elsewhere' in owned && owned.elsewhere === true)
  return isListing
    ? [
        {
          finalizer: finalizerOf(controller),
          onDemand: true,
          cleanup: (parent, context) => removeInventory(parent, context, controller),
        },
      ]
    : []
}

async function removeInventory(
  parent: KubeObject,
  { client, signal }: ReconcileContext,
  controller: string,
): Promise<Reconciled> {
  const left: string[] = []
  for (const id of inventoryOf(parent, controller)) {
    if (!(await removeChild(id, { parent, client, signal, controller })))
      left.push(`${id.kind} ${id.namespace}/${id.name}`)
  }
  return left.length > 0 ? { afterMs: recheckMs } : undefined
}

interface RemoveOptions extends Pick<ReconcileContext, 'client' | 'signal'> {
  readonly parent: KubeObject
  readonly controller: string
  /** What was applied for a later one stays. @default any */
  readonly generation?: number
}

/** Deletes a listed child; whether it is gone, or was never ours. */
export async function removeChild(
  id: ChildId,
  { parent, client, signal, controller, generation = Infinity }: RemoveOptions,
): Promise<boolean> {
  const key = { name: id.name, ...(id.namespace !== '' && { namespace: id.namespace }) }
  try {
    const live = await client.find({ apiVersion: id.apiVersion, kind: id.kind }, key, { live: true, signal })
    const mark = live && readApplied(live)
    if (!mark || !belongsTo(live, parent) || mark.controller !== controller) return true
    if (live.metadata.deletionTimestamp !== undefined || mark.generation > generation) return false
    const { uid, resourceVersion } = live.metadata
    await client.delete(live, { preconditions: { uid, resourceVersion }, ignoreNotFound: true, signal })
    // Not every kind says in its answer that it stays for a while: a Namespace does not.
    return (
      (await client.find({ apiVersion: id.apiVersion, kind: id.kind }, key, { live: true, signal }))?.metadata.uid !==
      uid
    )
  } catch (error) {
    // A kind that is gone has no objects left.
    if (isUnknownKind(error)) return true
    throw error
  }
}
