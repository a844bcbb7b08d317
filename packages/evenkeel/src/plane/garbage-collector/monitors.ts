/**
 * Monitors: one metadata-only informer for each watched resource, started and stopped as discovery changes.
 *
 * A resource must be missing in two discoveries before its informer is stopped: the last events of a watch (objects are
 * deleted before their CRD) may arrive after discovery has dropped the kind, and a short outage of an aggregated server
 * must not drop its part of the graph.
 *
 * Discovery runs periodically, and soon after a CRD event. A server needs a moment until a new CRD is in its discovery, so
 * such an event causes several requests with growing delays.
 */
import type { KubeObject, TypeMeta } from '#api'
import { onAbort, sleep, type AbortOptions, type Clock, type Logger } from '#base'
import type { CacheEvent, InformerHandle, ObjectCache, Subscription } from '#cache'
import { metadataOnly, type Client, type DiscoveredResource } from '#client'

interface Monitor {
  readonly type: TypeMeta
  readonly informer: Pick<InformerHandle<KubeObject>, 'waitForSync' | 'release'>
  readonly subscription: Subscription
  isMissing: boolean
}

interface MonitorsOptions {
  readonly cache: ObjectCache
  readonly onEvent: (event: CacheEvent) => void
  /** A resource is no longer watched. */
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

  /** Events that are not delivered yet. */
  get backlog(): number {
    let backlog = 0
    for (const { subscription } of this.#monitors.values()) backlog += subscription.backlog
    return backlog
  }

  /** Watches these resources, and stops the others. */
  async follow(resources: readonly DiscoveredResource[]): Promise<void> {
    const desired = new Map(resources.map((resource) => [keyOf(resource), resource]))
    for (const [key, resource] of desired) this.#add(key, resource)
    for (const [key, monitor] of this.#monitors) {
      if (desired.has(key)) continue
      if (monitor.isMissing) await this.#drop(key, monitor)
      monitor.isMissing = true
    }
  }

  /** Resolves when all informers are synced; does not wait for those that fail. */
  async waitForSync(options: AbortOptions): Promise<void> {
    await Promise.allSettled(
      [...this.#monitors.values()].map(async ({ informer, subscription }) => {
        await informer.waitForSync(options)
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
    const informer = this.#cache.getInformer(metadataOnly(type), { transform: keepLinks })
    const subscription = informer.addHandler((event) => {
      this.#onEvent(event)
    })
    this.#monitors.set(key, { type, informer, subscription, isMissing: false })
  }

  async #drop(key: string, { type, informer, subscription }: Monitor): Promise<void> {
    this.#monitors.delete(key)
    await subscription.remove()
    await informer.release()
    this.#onLost(type)
  }
}

function keyOf({ apiVersion, plural }: DiscoveredResource): string {
  return `${apiVersion} ${plural}`
}

/** Keeps the fields that the graph needs; labels and annotations, the bulk of metadata, are dropped. */
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

/** Delays of the requests after a change or a failure. */
const soonMs: readonly number[] = [50, 1000, 5000]

interface DiscoveryOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly periodMs: number
  /** Called with all resources when they have changed, and once more after an unchanged period. */
  readonly onResources: (resources: readonly DiscoveredResource[]) => Promise<void>
}

/** Follows the resources of a server. */
export class Discovery {
  readonly #options: DiscoveryOptions
  #served: ReadonlySet<string> = new Set()
  /** As CRDs are named: `leaves.garden.dev`. */
  #resources: ReadonlySet<string> = new Set()
  #isRepeated = true
  #delays: number[] = []
  #waiting = new AbortController()
  /** Whether the next request is due in at most 50 ms. */
  #isSoon = false
  /** Whether the last wait was a whole period. */
  #isPeriodic = false
  #isFailing = false

  constructor(options: DiscoveryOptions) {
    this.#options = options
  }

  /** Whether the last discovery had the kind. */
  has({ apiVersion, kind }: TypeMeta): boolean {
    return this.#served.has(`${apiVersion} ${kind}`)
  }

  /** Whether the last discovery had the resource of a CRD. */
  hasResource(name: string): boolean {
    return this.#resources.has(name)
  }

  /** Resources may have changed: runs discovery soon. */
  hurry(): void {
    if (this.#isSoon) return
    this.#delays = [...soonMs]
    this.#waiting.abort()
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = onAbort(signal, () => {
      this.#waiting.abort()
    })
    while (!signal.aborted) {
      await this.#discover(signal)
      await this.#wait(signal)
    }
    stop()
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options
    try {
      const resources = await client.resources({ reload: true, signal })
      if (resources.length === 0) throw new Error('discovery returned no resources')
      this.#isFailing = false
      await this.#report(resources)
    } catch (error) {
      if (signal.aborted) return
      log.warn('garbage collector: discovery failed; retrying', { error })
      if (!this.#isFailing) this.#delays = soonMs.slice(1)
      this.#isFailing = true
    }
  }

  async #report(resources: readonly DiscoveredResource[]): Promise<void> {
    this.#resources = new Set(resources.map(({ plural, group }) => `${plural}.${group}`))
    const served = new Set(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))
    const isSame = served.size === this.#served.size && [...served].every((kind) => this.#served.has(kind))
    if (isSame && (this.#isRepeated || !this.#isPeriodic)) return
    this.#isRepeated = isSame
    this.#served = served
    await this.#options.onResources(resources)
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { clock, periodMs } = this.#options
    for (let isHurried = true; isHurried && !signal.aborted;) {
      const delayMs = this.#delays.shift()
      this.#isSoon = delayMs === soonMs[0]
      this.#isPeriodic = delayMs === undefined
      this.#waiting = new AbortController()
      isHurried = await sleep(clock, delayMs ?? periodMs, { signal: this.#waiting.signal }).then(
        () => false,
        () => true,
      )
      this.#isSoon = false
    }
  }
}

/** Events are many, and are never owners or dependents. */
const ignored: ReadonlySet<string> = new Set([' events', 'events.k8s.io events'])

const needed = ['list', 'watch', 'delete']

/** The resources to watch: each once, in the preferred version, if it supports list, watch and delete. */
export function selectFollowed(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  const preferred = new Map<string, DiscoveredResource>()
  for (const resource of resources) {
    const name = `${resource.group} ${resource.plural}`
    if (!preferred.has(name)) preferred.set(name, resource)
  }
  return [...preferred]
    .filter(([name, { verbs }]) => !ignored.has(name) && needed.every((verb) => verbs.includes(verb)))
    .map(([, resource]) => resource)
}
