/**
 * Watches that follow from children and not from a declaration: of kinds that nobody declared, of children that no owner
 * reference reaches, and of foreign objects that are in the way.
 *
 * There is one for each kind of a controller, however many parents and names need it, of metadata alone; it goes with
 * the last parent that needs it. All of it can be lost: the runs after a start ask for it again.
 */
import type { KubeObject, TypeMeta } from '#api'
import type { CacheEvent, CacheKey, CacheKind } from '#cache'
import { metadataOnly } from '#client'
import {
  enqueueOwner,
  kindSource,
  ownerIndex,
  ownerUids,
  type AddedSource,
  type HandlerContext,
  type PluginRun,
} from '#controller'
import { readOwner } from './ownership-labels.ts'

interface ChildWatch {
  readonly kind: CacheKind
  readonly source: AddedSource
  /** Parents that need it, by key. */
  readonly parents: Set<string>
  /** Who waits for a foreign object to go, by its namespace and name. */
  readonly waiting: Map<string, Map<string, CacheKey>>
}

export class ChildWatches {
  readonly #watches = new Map<string, ChildWatch>()

  /** The kinds that are watched, as they are in the cache. */
  get kinds(): readonly CacheKind[] {
    return [...this.#watches.values()].map(({ kind }) => kind)
  }

  /** From now on events of this kind reach their parents. */
  need(run: PluginRun, kind: TypeMeta, parent: CacheKey): void {
    this.#watch(run, kind).parents.add(keyText(parent))
  }

  /** The parent is told when this object of somebody else changes or goes. */
  await(run: PluginRun, object: KubeObject, parent: CacheKey): void {
    const watch = this.#watch(run, object)
    const place = keyText({
      name: object.metadata.name ?? '',
      ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
    })
    watch.parents.add(keyText(parent))
    const waiting = watch.waiting.get(place) ?? new Map<string, CacheKey>()
    watch.waiting.set(place, waiting.set(keyText(parent), parent))
  }

  /** The parent needs these kinds and no others, and waits for nothing. */
  async setKinds(parent: CacheKey, kinds: readonly TypeMeta[]): Promise<void> {
    const needed = new Set(kinds.map(kindText))
    const text = keyText(parent)
    for (const [id, watch] of this.#watches) {
      if (!watch.parents.has(text)) continue
      for (const [place, waiting] of watch.waiting)
        if (waiting.delete(text) && waiting.size === 0) watch.waiting.delete(place)
      if (needed.has(id)) continue
      watch.parents.delete(text)
      if (watch.parents.size > 0) continue
      this.#watches.delete(id)
      await watch.source.remove()
    }
  }

  #watch(run: PluginRun, { apiVersion, kind: word }: TypeMeta): ChildWatch {
    const id = kindText({ apiVersion, kind: word })
    const known = this.#watches.get(id)
    if (known) return known
    const kind = metadataOnly({ apiVersion, kind: word })
    const waiting: ChildWatch['waiting'] = new Map()
    const owner = enqueueOwner(run.kind)
    const handler = (event: CacheEvent, context: HandlerContext): Iterable<CacheKey> => [
      ...(owner(event, context) as Iterable<CacheKey>),
      ...statesOf(event).flatMap((object) => readOwner(object, run.kind) ?? []),
      ...(waiting.get(keyText(event.key))?.values() ?? []),
    ]
    const source = run.addSource(
      kindSource<CacheKind>(kind, { name: `children ${word}`, handler, indexes: { [ownerIndex]: ownerUids } }),
    )
    const watch: ChildWatch = { kind, source, parents: new Set(), waiting }
    this.#watches.set(id, watch)
    return watch
  }
}

function statesOf({ old, object }: CacheEvent): readonly KubeObject[] {
  return old === undefined || old === object ? [object] : [old, object]
}

function kindText({ apiVersion, kind }: TypeMeta): string {
  return `${apiVersion} ${kind}`
}

function keyText({ name, namespace = '' }: CacheKey): string {
  return `${namespace}/${name}`
}
