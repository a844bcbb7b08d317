/**
 * One informer for each resource that is followed, metadata alone; more and fewer of them as kinds come and go.
 *
 * A resource must be missing twice before its informer is stopped: the last words of a watch (its objects are deleted
 * before their definition is) may come after discovery has forgotten the kind, and a server that is down for a moment is
 * no reason to forget whose objects they are.
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

/*
 * Keeps up with the kinds a server has: asks now and then, and soon after a definition has changed.
 *
 * Servers take a moment until discovery shows what was defined, so a change is followed by several questions, each later
 * than the one before; when nothing happens there is one in `periodMs`.
 */

/** After a change, or a failure, it is asked again after these times. */
const soonMs: readonly number[] = [50, 1000, 5000]

interface DiscoveryOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly periodMs: number
  /** Hears of all resources whenever they are not what they were, and once more when they stayed so for a while. */
  readonly onResources: (resources: readonly DiscoveredResource[]) => Promise<void>
}

export class Discovery {
  readonly #options: DiscoveryOptions
  #served: ReadonlySet<string> = new Set()
  #isRepeated = true
  #delays: number[] = []
  #waiting = new AbortController()
  /** Whether a question is so near that a hurry makes no difference. */
  #isSoon = false
  /** Whether the last wait was a whole period. */
  #isPeriodic = false
  #isFailing = false

  constructor(options: DiscoveryOptions) {
    this.#options = options
  }

  /** Whether the server has the kind, as far as is known. */
  has({ apiVersion, kind }: TypeMeta): boolean {
    return this.#served.has(`${apiVersion} ${kind}`)
  }

  /** Kinds may have changed: asks soon. */
  hurry(): void {
    if (this.#isSoon) return
    this.#delays = [...soonMs]
    this.#waiting.abort()
  }

  /** Asks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = onAbort(signal, () => {
      this.#waiting.abort()
    })
    while (!signal.aborted) {
      await this.#ask(signal)
      await this.#wait(signal)
    }
    stop()
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options
    try {
      const resources = await client.resources({ reload: true, signal })
      if (resources.length === 0) throw new Error('the server says that it has no kinds at all')
      this.#isFailing = false
      await this.#tell(resources)
    } catch (error) {
      if (signal.aborted) return
      log.warn('cannot find out which kinds there are; trying again', { error })
      if (!this.#isFailing) this.#delays = soonMs.slice(1)
      this.#isFailing = true
    }
  }

  async #tell(resources: readonly DiscoveredResource[]): Promise<void> {
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

/*
 * Which resources the collector follows, out of all that a server has.
 */

/** Told about others, owned by nobody, and many. */
const ignored: ReadonlySet<string> = new Set([' events', 'events.k8s.io events'])

const needed = ['list', 'watch', 'delete']

/** Each resource once, in the version that the server names first, if its objects can be listed, watched and deleted. */
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
