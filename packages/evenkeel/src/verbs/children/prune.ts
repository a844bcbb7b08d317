/**
 * Takes away what is no longer declared.
 *
 * Invariants: only what this controller applied for this very parent; only the object that was looked at, in the state
 * in which it was (UID and version are preconditions); never what was applied for a later generation than we know.
 */
import { compareText, isNotFound, type KubeObject } from '#api'
import type { CacheKind } from '#cache'
import { ownerIndex } from '#controller'
import { ifCached, newestParent, type ChildRun } from './apply.ts'
import { childIdOf, idText, type ChildId } from './desired-child.ts'
import { inventoryOf, removeChild, removeFromInventory } from './inventory.ts'
import { belongsTo, ownerUidLabel, pruneAnnotation, readApplied, revisionsLabel } from './ownership-labels.ts'

interface DeclaredChildren {
  /** Texts of the children of this run. */
  readonly ids: ReadonlySet<string>
  /** Children of this run, as they are. */
  readonly objects: readonly KubeObject[]
  /** How many old ones of a series stay. */
  readonly keep: ReadonlyMap<string, number>
}

/** Children that are on their way out, or stay although they are not declared. */
export interface PruneResult {
  readonly leaving: readonly KubeObject[]
  readonly leavingElsewhere: readonly ChildId[]
  readonly staying: readonly KubeObject[]
}

/** @throws {ApiError} `Conflict`, when one was changed in the meantime: the next run looks again. */
export async function pruneChildren(run: ChildRun, declared: DeclaredChildren): Promise<PruneResult> {
  const [leaving, staying]: [KubeObject[], KubeObject[]] = [[], []]
  const surplus = ownedChildren(run).filter((object) => !declared.ids.has(idText(childIdOf(object))))
  const kept = keptRevisions(surplus, declared)
  for (const object of surplus) {
    if (object.metadata.deletionTimestamp !== undefined) leaving.push(object)
    else if (kept.has(object) || !mayPrune(run, object)) staying.push(object)
    else leaving.push(...(await remove(run, object)))
  }
  return { leaving, staying, leavingElsewhere: await pruneListed(run, declared.ids) }
}

function mayPrune({ parent }: ChildRun, object: KubeObject): boolean {
  if (object.metadata.annotations?.[pruneAnnotation] === 'false') return false
  return (readApplied(object)?.generation ?? 0) <= (parent.metadata.generation ?? 0)
}

async function remove({ base: { client, signal } }: ChildRun, object: KubeObject): Promise<readonly KubeObject[]> {
  const { uid, resourceVersion } = object.metadata
  try {
    const left = await client.delete(object, {
      preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      signal,
    })
    return left === undefined ? [] : [left as KubeObject]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

/** The newest old revisions of each series, and those that a child of this run names. */
function keptRevisions(surplus: readonly KubeObject[], { keep, objects }: DeclaredChildren): ReadonlySet<KubeObject> {
  const kept = new Set<KubeObject>()
  const texts = surplus.length > 0 && keep.size > 0 ? objects.map((object) => JSON.stringify(object)) : []
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

/** Listed children that are not declared go; those that are gone are struck from the list. */
async function pruneListed(run: ChildRun, ids: ReadonlySet<string>): Promise<readonly ChildId[]> {
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

/*
 * Which children of a parent there are: found by owner in memory, never by name.
 */

/** Those that this controller applied, in a stable order. Kinds that have not been listed yet give none. */
export function ownedChildren(run: ChildRun): readonly KubeObject[] {
  const { uid } = run.parent.metadata
  const found = new Map<string, KubeObject>()
  for (const kind of [...declaredKinds(run), ...run.watches.kinds]) {
    const objects =
      ifCached(() => run.run.cache.list(kind, { index: { name: ownerIndex, value: uid } }) as readonly KubeObject[])
        ?.value ?? []
    for (const object of objects) {
      const text = idText(childIdOf(object))
      if (!found.has(text) && isApplied(run, object)) found.set(text, object)
    }
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, object]) => object)
}

/** Ours by its owner, by its label and by who applied it: what an author makes by hand is not taken away. */
export function isApplied({ parent, run: { controller } }: ChildRun, object: KubeObject): boolean {
  return (
    belongsTo(object, parent) &&
    object.metadata.labels?.[ownerUidLabel] === parent.metadata.uid &&
    readApplied(object)?.controller === controller
  )
}

/** The kinds that the controller declares, as they are in the cache. */
export function declaredKinds({
  run: {
    declaration: { owns = [] },
  },
}: Pick<ChildRun, 'run'>): readonly CacheKind[] {
  return owns.map((owned) => ('group' in owned ? owned : owned.kind))
}
