/**
 * Pruning: deletes the children that a run no longer declares.
 *
 * Children are found in the cache by owner, never by name. Invariants: only a child that this controller applied for
 * this parent (by UID) is deleted; UID and resourceVersion are preconditions, so only the observed state is deleted; a
 * child that was applied for a later generation than this run has is never deleted.
 */
import { compareText, isNotFound, type KubeObject, stringifyJson } from '#api'
import type { CacheKind } from '#cache'
import { ownerIndex } from '#controller'
import { ifCached, newestParent, type ChildRun } from './apply.ts'
import { childIdOf, idText, type ChildId } from './desired-child.ts'
import { inventoryOf, removeChild, removeFromInventory } from './inventory.ts'
import { belongsTo, ownerUidLabel, pruneAnnotation, readApplied, revisionsLabel } from './ownership-labels.ts'

interface DeclaredChildren {
  /** Keys of the children of this run. */
  readonly ids: ReadonlySet<string>
  /** The children of this run as stored. */
  readonly objects: readonly KubeObject[]
  /** How many old revisions of each series stay. */
  readonly keep: ReadonlyMap<string, number>
}

/** A child as the cache shows it. */
export interface OwnedChild {
  readonly object: KubeObject
  /** Only its metadata, or some of its fields, are cached. */
  readonly isPartial: boolean
}

/** Undeclared children that are being deleted (`leaving`) or stay. */
export interface PruneResult {
  readonly leaving: readonly KubeObject[]
  readonly leavingElsewhere: readonly ChildId[]
  readonly staying: readonly OwnedChild[]
}

/** @throws {ApiError} `Conflict` if a child has changed in the meantime: the next run checks again. */
export async function pruneChildren(run: ChildRun, declared: DeclaredChildren): Promise<PruneResult> {
  const [leaving, staying]: [KubeObject[], OwnedChild[]] = [[], []]
  const surplus = undeclaredChildren(run, declared.ids)
  const kept = keptRevisions(
    surplus.map(({ object }) => object),
    declared,
  )
  for (const child of surplus) {
    const { object } = child
    if (object.metadata.deletionTimestamp !== undefined) leaving.push(object)
    else if (kept.has(object) || !mayPrune(run, object)) staying.push(child)
    else leaving.push(...(await remove(run, object)))
  }
  return { leaving, staying, leavingElsewhere: await pruneInventory(run, declared.ids) }
}

/** The same without a deletion, for runs that do not say which children there should be. */
export function surveyChildren(run: ChildRun, ids: ReadonlySet<string>): PruneResult {
  const surplus = [...undeclaredChildren(run, ids), ...listedChildren(run, ids)]
  const isLeaving = ({ object }: OwnedChild): boolean => object.metadata.deletionTimestamp !== undefined
  return {
    leaving: surplus.filter(isLeaving).map(({ object }) => object),
    staying: surplus.filter((child) => !isLeaving(child)),
    leavingElsewhere: [],
  }
}

function undeclaredChildren(run: ChildRun, ids: ReadonlySet<string>): readonly OwnedChild[] {
  return cachedChildren(run).filter(({ object }) => !ids.has(idText(childIdOf(object))))
}

/** Children elsewhere, by the inventory: their kinds are in `owns`, so the cache has them. */
function listedChildren(run: ChildRun, ids: ReadonlySet<string>): readonly OwnedChild[] {
  return inventoryOf(newestParent(run), run.run.controller)
    .filter((id) => !ids.has(idText(id)))
    .flatMap((id) => {
      const object = ifCached(() =>
        run.run.cache.find(id, { name: id.name, ...(id.namespace !== '' && { namespace: id.namespace }) }),
      )?.value as KubeObject | undefined
      return object && isApplied(run, object) ? [{ object, isPartial: false }] : []
    })
}

function mayPrune({ parent }: ChildRun, object: KubeObject): boolean {
  if (object.metadata.annotations?.[pruneAnnotation] === 'false') return false
  return (readApplied(object)?.generation ?? 0) <= (parent.metadata.generation ?? 0)
}

/** Deletes what was observed. @returns the object, if it is still there */
export async function remove(
  { base: { client, signal } }: ChildRun,
  object: KubeObject,
): Promise<readonly KubeObject[]> {
  const { uid, resourceVersion } = object.metadata
  try {
    const left = await client.delete(object, {
      preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      // Without a policy, a server keeps the Pods of a Job.
      propagationPolicy: 'Background',
      signal,
    })
    return left === undefined ? [] : [left as KubeObject]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

/** The newest old revisions of each series, and every revision whose name occurs in a child of this run. */
function keptRevisions(surplus: readonly KubeObject[], { keep, objects }: DeclaredChildren): ReadonlySet<KubeObject> {
  const kept = new Set<KubeObject>()
  const texts = surplus.length > 0 && keep.size > 0 ? objects.map((object) => stringifyJson(object)) : []
  for (const [series, count] of keep) {
    const revisions = surplus.filter(({ metadata: { labels } }) => labels?.[revisionsLabel] === series)
    const newest = revisions.toSorted(
      (a, b) =>
        compareText(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? '') ||
        compareText(b.metadata.name ?? '', a.metadata.name ?? ''),
    )
    for (const revision of newest.slice(0, count)) kept.add(revision)
    for (const revision of newest.slice(count))
      if (texts.some((text) => text.includes(JSON.stringify(revision.metadata.name)))) kept.add(revision)
  }
  return kept
}

/** Deletes listed children that are not declared, and removes those that are gone from the inventory. */
async function pruneInventory(run: ChildRun, ids: ReadonlySet<string>): Promise<readonly ChildId[]> {
  const {
    base: { client, signal },
    run: { controller },
    parent,
  } = run
  const [gone, leaving]: [ChildId[], ChildId[]] = [[], []]
  for (const id of inventoryOf(newestParent(run), controller)) {
    if (ids.has(idText(id))) continue
    const isGone = await removeChild(id, {
      parent,
      client,
      signal,
      controller,
      generation: parent.metadata.generation ?? 0,
    })
    ;(isGone ? gone : leaving).push(id)
  }
  await removeFromInventory(run, gone)
  return leaving
}

/** The cached children that this controller applied, in a stable order. A kind that is not synced yet gives none. */
export function ownedChildren(run: ChildRun): readonly KubeObject[] {
  return cachedChildren(run).map(({ object }) => object)
}

function cachedChildren(run: ChildRun): readonly OwnedChild[] {
  const { uid } = run.parent.metadata
  const found = new Map<string, OwnedChild>()
  for (const kind of [...declaredKinds(run), ...run.watches.kinds]) {
    const objects =
      ifCached(() => run.run.cache.list(kind, { index: { name: ownerIndex, value: uid } }) as readonly KubeObject[])
        ?.value ?? []
    for (const object of objects) {
      const text = idText(childIdOf(object))
      const known = found.get(text)
      if (known?.isPartial !== false && isApplied(run, object))
        found.set(text, { object, isPartial: isPartialKind(kind) })
    }
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, child]) => child)
}

function isPartialKind(kind: CacheKind): boolean {
  return 'metadataOnly' in kind || 'paths' in kind
}

/** Whether this controller applied the object: by owner, label and annotation. Objects that an author creates himself do not match. */
export function isApplied({ parent, run: { controller } }: ChildRun, object: KubeObject): boolean {
  return (
    belongsTo(object, parent) &&
    object.metadata.labels?.[ownerUidLabel] === parent.metadata.uid &&
    readApplied(object)?.controller === controller
  )
}

/** The kinds in `owns` of the controller, as the cache names them. */
export function declaredKinds({
  run: {
    declaration: { owns = [] },
  },
}: Pick<ChildRun, 'run'>): readonly CacheKind[] {
  return owns.map((owned) => ('group' in owned ? owned : owned.kind))
}
