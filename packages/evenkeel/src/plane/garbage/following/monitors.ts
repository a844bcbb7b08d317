/**
 * One informer for each resource that is followed, metadata alone; more and fewer of them as kinds come and go.
 *
 * A resource must be missing twice before its informer is stopped: the last words of a watch (its objects are deleted
 * before their definition is) may come after discovery has forgotten the kind, and a server that is down for a moment is
 * no reason to forget whose objects they are.
 */
import type { AbortOptions } from '#base'
import type { KubeObject, TypeMeta } from '#api'
import type { CacheEvent, InformerHandle, ObjectCache, Subscription } from '#cache'
import { metadataOnly } from '#client'
import type { DiscoveredResource } from '#client'

interface Monitor {
  readonly type: TypeMeta
  readonly informer: Pick<InformerHandle<KubeObject>, 'waitForSync' | 'release'>
  readonly subscription: Subscription
  isMissing: boolean
}

interface MonitorsOptions {
  readonly cache: ObjectCache
  readonly onEvent: (event: CacheEvent) => void
  /** A resource is followed no more. */
  readonly onLost: (type: TypeMeta) => void
}

export class Monitors {
  readonly #cache: ObjectCache
  readonly #onEvent: (event: CacheEvent) => void
  readonly #onLost: (type: TypeMeta) => void
  readonly #monitors = new Map<string, Monitor>()

  constructor({ cache, onEvent, onLost }: MonitorsOptions) {
    this.#cache = cache
    this.#onEvent = onEvent
    this.#onLost = onLost
  }

  get size(): number {
    return this.#monitors.size
  }

  /** Objects of which something is known that was not told yet. */
  get backlog(): number {
    let backlog = 0
    for (const { subscription } of this.#monitors.values()) backlog += subscription.backlog
    return backlog
  }

  /** Follows these resources, and others no more. */
  async follow(resources: readonly DiscoveredResource[]): Promise<void> {
    const wanted = new Map(resources.map((resource) => [keyOf(resource), resource]))
    for (const [key, resource] of wanted) this.#add(key, resource)
    for (const [key, monitor] of this.#monitors) {
      if (wanted.has(key)) continue
      if (monitor.isMissing) await this.#drop(key, monitor)
      monitor.isMissing = true
    }
  }

  /** Resolves when everything that is there was heard of; what cannot be followed is not waited for. */
  async waitForSync(options: AbortOptions): Promise<void> {
    await Promise.allSettled(
      [...this.#monitors.values()].map(async ({ informer: holding, subscription }) => {
        await holding.waitForSync(options)
        await subscription.waitForSync(options)
      }),
    )
  }

  #add(key: string, { apiVersion, kind }: DiscoveredResource): void {
    const known = this.#monitors.get(key)
    if (known) {
      if (known.isMissing) this.#cache.wake(known.type)
      known.isMissing = false
      return
    }
    const type = { apiVersion, kind }
    const holding = this.#cache.getInformer(metadataOnly(type), { transform: keepLinks })
    const subscription = holding.addHandler((event) => {
      this.#onEvent(event)
    })
    this.#monitors.set(key, { type, informer: holding, subscription, isMissing: false })
  }

  async #drop(key: string, { type, informer: holding, subscription }: Monitor): Promise<void> {
    this.#monitors.delete(key)
    await subscription.remove()
    await holding.release()
    this.#onLost(type)
  }
}

function keyOf({ apiVersion, plural }: DiscoveredResource): string {
  return `${apiVersion} ${plural}`
}

/** What the graph is made of; labels and annotations, the bulk of it, are not kept. */
function keepLinks<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences, finalizers } =
    metadata
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(ownerReferences && { ownerReferences }),
      ...(finalizers && { finalizers }),
    },
  } as T
}
