/**
 * The inventory: children that no owner reference can cover (in another namespace, or cluster-scoped), listed on the parent.
 *
 * It is an annotation of the parent, one for each controller. It is written together with a finalizer in one patch,
 * before the first such child is created, so it is complete after any crash. An entry is removed when its child is
 * confirmed gone; the finalizer is removed with the last entry.
 *
 *   children.evenkeel.dev/tenants: '[["v1","ConfigMap","team-a","settings"],["v1","Namespace","","team-a"]]'
 */
import { addFinalizer, hasFinalizer, removeFinalizer, type KubeObject, type Owner } from '#api'
import { isUnknownKind } from '#client'
import type { CleanupStep, ControllerDeclaration, ReconcileContext, Reconciled } from '#controller'
import { newestParent, type ChildRun } from './apply.ts'
import { childIdOf, idText, type ChildId } from './desired-child.ts'
import { belongsTo, readApplied } from './ownership-labels.ts'

/** Longer lists would approach the size limit of all annotations of an object (256 KiB). */
const entriesMax = 1000

/** How long the cleanup waits before it checks again without an event. */
const recheckMs = 30_000

const annotationOf = (controller: string): string => `children.evenkeel.dev/${controller}`
const finalizerOf = (controller: string): string => `children.evenkeel.dev/${controller}`

/** The listed children, in order. Malformed entries are ignored. */
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

/** Adds children before they are created. @throws {RangeError} for too many entries. @throws {ApiError} `Conflict`. */
export async function addToInventory(run: ChildRun, ids: readonly ChildId[]): Promise<void> {
  const parent = newestParent(run)
  const listed = inventoryOf(parent, run.run.controller)
  const known = new Set(listed.map(idText))
  const added = ids.filter((id) => !known.has(idText(id)))
  // An inventory without the finalizer was copied from a backup or from another object.
  if (added.length === 0 && hasFinalizer(parent, finalizerOf(run.run.controller))) return
  if (listed.length + added.length > entriesMax)
    throw new RangeError(
      `${parent.kind} ${parent.metadata.name} has more than ${entriesMax} children outside of its namespace: create one object in each namespace that owns the children there`,
    )
  await write(run, parent, [...listed, ...added])
}

/** Removes children that are confirmed gone. */
export async function removeFromInventory(run: ChildRun, gone: readonly ChildId[]): Promise<void> {
  if (gone.length === 0) return
  const parent = newestParent(run)
  const removed = new Set(gone.map(idText))
  await write(
    run,
    parent,
    inventoryOf(parent, run.run.controller).filter((id) => !removed.has(idText(id))),
  )
}

async function write({ base, run: { controller } }: ChildRun, parent: Owner, ids: readonly ChildId[]): Promise<void> {
  const { [annotationOf(controller)]: _, ...annotations } = parent.metadata.annotations ?? {}
  const text = JSON.stringify(
    ids
      .toSorted((a, b) => (idText(a) < idText(b) ? -1 : 1))
      .map(({ apiVersion, kind, namespace, name }) => [apiVersion, kind, namespace, name]),
  )
  const annotated = {
    ...parent,
    metadata: {
      ...parent.metadata,
      annotations: ids.length > 0 ? { ...annotations, [annotationOf(controller)]: text } : annotations,
    },
  }
  const desired =
    ids.length > 0
      ? addFinalizer(annotated, finalizerOf(controller))
      : removeFinalizer(annotated, finalizerOf(controller))
  await base.client.patchFrom(parent, desired, { signal: base.signal })
}

/** The cleanup step of controllers that declare children elsewhere. */
export function inventoryStep(declaration: ControllerDeclaration, controller: string): readonly CleanupStep[] {
  const hasElsewhere = (declaration.owns ?? []).some((owned) => 'elsewhere' in owned && owned.elsewhere === true)
  return hasElsewhere
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
  let isAllGone = true
  for (const id of inventoryOf(parent, controller))
    if (!(await removeChild(id, { parent, client, signal, controller }))) isAllGone = false
  return isAllGone ? undefined : { afterMs: recheckMs }
}

interface RemoveOptions extends Pick<ReconcileContext, 'client' | 'signal'> {
  readonly parent: KubeObject
  readonly controller: string
  /** A child that was applied for a later generation stays. @default any */
  readonly generation?: number
}

/** Deletes a listed child. @returns whether it is gone, or is not our child */
export async function removeChild(
  id: ChildId,
  { parent, client, signal, controller, generation = Infinity }: RemoveOptions,
): Promise<boolean> {
  const key = { name: id.name, ...(id.namespace !== '' && { namespace: id.namespace }) }
  try {
    const live = await client.find({ apiVersion: id.apiVersion, kind: id.kind }, key, { live: true, signal })
    const applied = live && readApplied(live)
    if (!applied || !belongsTo(live, parent) || applied.controller !== controller) return true
    if (live.metadata.deletionTimestamp !== undefined || applied.generation > generation) return false
    const { uid, resourceVersion } = live.metadata
    await client.delete(live, { preconditions: { uid, resourceVersion }, ignoreNotFound: true, signal })
    // Not every kind shows in the answer that it is still terminating: a Namespace does not.
    return (
      (await client.find({ apiVersion: id.apiVersion, kind: id.kind }, key, { live: true, signal }))?.metadata.uid !==
      uid
    )
  } catch (error) {
    // A kind that is no longer served has no objects.
    if (isUnknownKind(error)) return true
    throw error
  }
}
