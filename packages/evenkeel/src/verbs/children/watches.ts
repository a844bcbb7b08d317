/**
 * Watches that are not declared in `owns`: for undeclared kinds, for children elsewhere, and for objects of other owners
 * that block the name of a child.
 *
 * A controller has one metadata-only watch for each kind, shared by all parents that need it; it stops with the last of
 * them. Nothing here is durable: the runs after a restart ask for the watches again.
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
  /** Parents that wait for an object of another owner, by the key of that object. */
  readonly waiting: Map<string, Map<string, CacheKey>>
}

export class ChildWatches {
  readonly #watches = new Map<string, ChildWatch>()

  /** The watched kinds, as the cache names them. */
  get kinds(): readonly CacheKind[] {
    return [...this.#watches.values()].map(({ kind }) => kind)
  }

  /** Starts the watch of a kind for a parent. */
  need(run: PluginRun, kind: TypeMeta, parent: CacheKey): void {
    this.#watch(run, kind).parents.add(keyText(parent))
  }

  /** Enqueues the parent when this object of another owner changes or is deleted. */
  await(run: PluginRun, object: KubeObject, parent: CacheKey): void {
    const watch = this.#watch(run, object)
    const blocked = keyText({
      name: object.metadata.name ?? '',
      ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
    })
    watch.parents.add(keyText(parent))
    const waiting = watch.waiting.get(blocked) ?? new Map<string, CacheKey>()
    watch.waiting.set(blocked, waiting.set(keyText(parent), parent))
  }

  /** Sets the kinds that a parent needs, and ends its waits. Watches without a parent stop. */
  async setKinds(parent: CacheKey, kinds: readonly TypeMeta[]): Promise<void> {
    const needed = new Set(kinds.map(kindText))
    const text = keyText(parent)
    for (const [id, watch] of this.#watches) {
      if (!watch.parents.has(text)) continue
      for (const [blocked, waiting] of watch.waiting)
        if (waiting.delete(text) && waiting.size === 0) watch.waiting.delete(blocked)
      if (needed.has(id)) continue
      watch.parents.delete(text)
      if (watch.parents.size > 0) continue
      this.#watches.delete(id)
      await watch.source.remove()
    }
  }

  #watch(run: PluginRun, { apiVersion, kind: kindName }: TypeMeta): ChildWatch {
    const id = kindText({ apiVersion, kind: kindName })
    const known = this.#watches.get(id)
    if (known) return known
    const kind = metadataOnly({ apiVersion, kind: kindName })
    const waiting: ChildWatch['waiting'] = new Map()
    const owner = enqueueOwner(run.kind)
    const handler = (event: CacheEvent, context: HandlerContext): Iterable<CacheKey> => [
      ...(owner(event, context) as Iterable<CacheKey>),
      ...statesOf(event).flatMap((object) => readOwner(object, run.kind) ?? []),
      ...(waiting.get(keyText(event.key))?.values() ?? []),
    ]
    const source = run.addSource(
      kindSource<CacheKind>(kind, { name: `children ${kindName}`, handler, indexes: { [ownerIndex]: ownerUids } }),
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
