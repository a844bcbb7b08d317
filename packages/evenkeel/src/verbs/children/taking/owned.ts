/**
 * Which children of a parent there are: found by owner in memory, never by name.
 */
import { compareText } from '#api'
import type { KubeObject } from '#api'
import type { CacheKind } from '#cache'
import { ownerIndex } from '#controller'
import { ifCached } from '../child-run.ts'
import type { ChildRun } from '../child-run.ts'
import { belongsTo, ownerUidLabel, readApplied } from '../making/marks.ts'
import { childIdOf, idText } from '../making/wanted.ts'

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
