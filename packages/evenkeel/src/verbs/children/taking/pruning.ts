/**
 * Takes away what is no longer declared.
 *
 * Invariants: only what this controller applied for this very parent; only the object that was looked at, in the state
 * in which it was (UID and version are preconditions); never what was applied for a later generation than we know.
 */
import { compareText, isNotFound } from '#api'
import type { KubeObject } from '#api'
import { newestParent } from '../child-run.ts'
import type { ChildRun } from '../child-run.ts'
import { inventoryOf, removeChild, removeFromInventory } from './inventory.ts'
import { pruneAnnotation, readApplied, revisionsLabel } from '../making/marks.ts'
import { ownedChildren } from './owned.ts'
import { childIdOf, idText } from '../making/wanted.ts'
import type { ChildId } from '../making/wanted.ts'

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
