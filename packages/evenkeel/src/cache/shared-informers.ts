/**
 * The informers of a cache. Each is shared by all users that asked for the same objects; the last one to release it
 * stops it.
 *
 *   handles ──▶ shared projection: kind, fields, namespace, selectors ──▶ shared informer: one watch for its projections
 *
 * Worked example: controllers A and B get an informer for pods of all namespaces, A with `status.phase` only. Both share
 * one watch and each has its projection. A releases its handle: the projection of A goes, the watch stays. B releases
 * its handle: the watch stops.
 *
 * Users that ask before the watch starts decide which fields it keeps; later users share it if it keeps enough.
 *
 * An `InformerHandle` is one user's access to the informers of a kind: all namespaces, or a set of namespaces that may
 * change. Handlers and indexes added to a handle apply to every namespace, also to those that are added later.
 *
 * Invariants: an informer runs while the cache runs and a handle exists; a stopped informer is never started again, a new
 * one is made.
 */
import { formatFieldRequirements, formatLabelRequirements, parseFieldSelector, type KubeObject } from '#api'
import { abortable, LightAbortController, nextTurn, onAbort, type AbortOptions, type Clock, type Logger } from '#base'
import type { IndexValues } from './indexes.ts'
import type { Informer } from './informer.ts'
import { JoinedSubscription, type Handler, type HandlerOptions, type Subscription } from './listeners.ts'
import { ProjectedInformer, projectionId, ProjectionUnion, type CacheKind } from './projection.ts'
import type { ReflectorState } from './reflector.ts'
import { requirementsOf, type CacheQuery, type CacheScope } from './store.ts'

/** One informer and its users. */
export interface SharedInformer {
  /** What users must have in common to share it, projection aside. */
  readonly id: string
  readonly union: ProjectionUnion
  readonly scope: CacheScope
  readonly informer: Informer<KubeObject>
  readonly projections: Set<SharedProjection>
  /**
   * Undefined until the informer starts. A controller, not a closure over one: with a closure V8 kept the server of each
   * explored schedule alive until the next major collection, which cost a third of the speed.
   */
  stopper: Pick<AbortController, 'abort'> | undefined
  done: Promise<void> | undefined
}

/** Users of the same projection. */
export interface SharedProjection {
  readonly id: string
  readonly kindId: string
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly shared: SharedInformer
  readonly informer: ProjectedInformer
  /** The transform that was asked for; users with another one cannot share. */
  readonly transform: unknown
  handles: number
}

interface ProjectionRequest {
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly transform: unknown
  /** What else must be equal to share. */
  readonly variant: string
  /** Makes an informer that keeps what the union contains when it starts. */
  readonly makeInformer: (union: ProjectionUnion) => Informer<KubeObject>
}

interface SharedInformersOptions {
  readonly clock: Clock
  readonly log: Logger
  /** An informer was added or removed. */
  readonly onChange: () => void
}

export class SharedInformers {
  readonly #projections = new Map<string, SharedProjection>()
  readonly #shared = new Set<SharedInformer>()
  readonly #options: SharedInformersOptions
  #signal: AbortSignal | undefined

  constructor(options: SharedInformersOptions) {
    this.#options = options
  }

  get all(): readonly SharedProjection[] {
    return [...this.#projections.values()]
  }

  get shared(): readonly SharedInformer[] {
    return [...this.#shared]
  }

  /** The projections of a kind, the widest first. */
  ofKind(kind: CacheKind): readonly SharedProjection[] {
    const kindId = kindIdOf(kind)
    return this.all.filter((projection) => projection.kindId === kindId).sort((a, b) => breadthOf(b) - breadthOf(a))
  }

  /** The existing one or a new one, which starts soon if the cache runs. @throws {RangeError} when another transform is in use. */
  acquire(wanted: ProjectionRequest): SharedProjection {
    const { kind, scope, transform, variant: manner } = wanted
    const kindId = kindIdOf(kind)
    const id = `${kindId} ${scopeIdOf(scope)} ${manner}`
    const known = this.#projections.get(id)
    if (known) {
      if (known.transform !== transform)
        throw new RangeError(
          `${kind.kind} is already cached with a different transform: reuse that function or use another selector`,
        )
      known.handles++
      return known
    }
    const source = this.#sharedFor(wanted)
    source.union.add(kind)
    const projection: SharedProjection = {
      id,
      kindId,
      kind,
      scope,
      transform,
      shared: source,
      informer: new ProjectedInformer({ informer: source.informer, union: source.union, kind }),
      handles: 1,
    }
    source.projections.add(projection)
    this.#projections.set(id, projection)
    return projection
  }

  /** Releases a handle. Resolves when the informer has stopped, if this was the last handle. */
  async release(projection: SharedProjection): Promise<void> {
    if (--projection.handles > 0) return
    const { shared: source } = projection
    this.#projections.delete(projection.id)
    source.projections.delete(projection)
    projection.informer.close()
    if (source.projections.size > 0) return
    this.#shared.delete(source)
    this.#options.onChange()
    source.stopper?.abort(new Error('the last handle of the informer was released'))
    await source.done
  }

  /** Starts all informers, and later ones; resolves when all have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal && !this.#signal.aborted) throw new RangeError('the cache is already running')
    this.#signal = signal
    for (const source of this.#shared) this.#start(source)
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        resolve()
      })
    })
    for (const { stopper } of this.#shared) stopper?.abort(signal.reason)
    for (const { done } of this.shared) await done
  }

  /** An informer with a transform is not shared with others: its result is unknown. */
  #sharedFor({ kind, scope, transform, variant: manner, makeInformer: make }: ProjectionRequest): SharedInformer {
    const id = `${kind.apiVersion} ${kind.kind} ${scopeIdOf(scope)} ${manner}`
    const known =
      transform === undefined ? this.shared.find((source) => source.id === id && source.union.accepts(kind)) : undefined
    if (known) return known
    const union = new ProjectionUnion(kind)
    if (transform !== undefined) union.freeze()
    const source: SharedInformer = {
      id: transform === undefined ? id : `${id} transformed`,
      union,
      scope,
      informer: make(union),
      projections: new Set(),
      stopper: undefined,
      done: undefined,
    }
    this.#shared.add(source)
    this.#options.onChange()
    if (this.#signal && !this.#signal.aborted) this.#start(source)
    return source
  }

  #start(source: SharedInformer): void {
    const controller = (source.stopper = new LightAbortController())
    source.done = this.#follow(source, controller.signal).catch((error: unknown) => {
      this.#options.log.error('internal error: informer exited unexpectedly', { kind: source.union.kind.kind, error })
    })
  }

  async #follow({ union, informer }: SharedInformer, signal: AbortSignal): Promise<void> {
    // Includes requests made in the same turn: programs get one informer after the other.
    await abortable(nextTurn(this.#options.clock), { signal }).catch(() => undefined)
    union.freeze()
    await informer.run(signal)
  }
}

/** A kind with its projection. */
function kindIdOf(kind: CacheKind): string {
  return `${kind.apiVersion} ${kind.kind} ${projectionId(kind)}`
}

function scopeIdOf({ namespace, labelSelector, fieldSelector }: CacheScope): string {
  const labels = formatLabelRequirements(requirementsOf(labelSelector))
  const fields =
    typeof fieldSelector === 'object'
      ? Object.entries(fieldSelector).map(([field, value]) => ({ field, operator: '=' as const, value }))
      : parseFieldSelector(fieldSelector ?? '')
  return JSON.stringify([namespace ?? null, labels, formatFieldRequirements(fields)])
}

/** Higher for wider scopes: without selectors, of all namespaces. */
function breadthOf({ scope: { namespace, labelSelector, fieldSelector } }: SharedProjection): number {
  return (labelSelector === undefined && fieldSelector === undefined ? 2 : 0) + (namespace === undefined ? 1 : 0)
}

interface InformerHandleOptions {
  readonly informers: SharedInformers
  /** Acquires the informer of one namespace, or of all. */
  readonly acquire: (namespace: string | undefined) => SharedProjection
  /** @default all */
  readonly namespaces?: readonly string[] | undefined
}

interface RegisteredHandler<T extends KubeObject> {
  readonly handler: Handler<T>
  readonly options: HandlerOptions
  readonly subscriptions: Map<string, Subscription>
}

const allNamespaces = ''

export class InformerHandle<T extends KubeObject> {
  readonly #options: InformerHandleOptions
  readonly #projections = new Map<string, SharedProjection>()
  readonly #handlers = new Set<RegisteredHandler<T>>()
  readonly #indexes = new Map<string, IndexValues<T>>()
  #isReleased = false

  constructor(options: InformerHandleOptions) {
    this.#options = options
    for (const namespace of options.namespaces ?? [allNamespaces]) this.#add(namespace)
  }

  get hasSynced(): boolean {
    return [...this.#projections.values()].every(({ informer }) => informer.hasSynced)
  }

  /** The state of each informer by namespace; the empty namespace stands for all. */
  get states(): Readonly<Record<string, ReflectorState>> {
    return Object.fromEntries([...this.#projections].map(([namespace, { informer }]) => [namespace, informer.state]))
  }

  /**
   * Resolves when everything has been listed once.
   *
   * @throws {ApiError} `Forbidden` or `Unauthorized`, at once, when we may not list or watch.
   */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all([...this.#projections.values()].map(({ informer }) => informer.waitForSync(options)))
  }

  /** Resolves when the state of each informer is known: listed, refused, or no such kind. Then `states` says which. */
  async waitForAnswer(options: AbortOptions = {}): Promise<void> {
    await Promise.all([...this.#projections.values()].map(({ informer }) => informer.waitForAnswer(options)))
  }

  /** The objects of this handle, listed or not; by an index of its own if one is named. */
  list(query: CacheQuery = {}): T[] {
    return [...this.#projections.values()].flatMap(({ informer }) => informer.list(query)) as T[]
  }

  /** One object of this handle. */
  find({ name, namespace }: { readonly name: string; readonly namespace?: string }): T | undefined {
    for (const { informer } of this.#projections.values()) {
      const object = informer.find({ name, ...(namespace !== undefined && { namespace }) })
      if (object !== undefined) return object as T
    }
    return undefined
  }

  addIndex(name: string, values: IndexValues<T>): void {
    for (const { informer } of this.#projections.values()) informer.addIndex(name, values as IndexValues<KubeObject>)
    this.#indexes.set(name, values)
  }

  /** Adds a handler: it gets all present objects, then every change. */
  addHandler(handler: Handler<T>, options: HandlerOptions = {}): Subscription {
    const held: RegisteredHandler<T> = { handler, options, subscriptions: new Map() }
    this.#handlers.add(held)
    for (const [namespace, projection] of this.#projections) subscribe(held, namespace, projection)
    return new JoinedSubscription(
      () => [...held.subscriptions.values()],
      () => {
        this.#handlers.delete(held)
      },
    )
  }

  /** Changes the namespaces. Objects of removed namespaces cause no further event, not even a delete. */
  async setNamespaces(namespaces: readonly string[]): Promise<void> {
    if (this.#projections.has(allNamespaces))
      throw new RangeError('this handle covers all namespaces: name namespaces in getInformer to change them later')
    if (this.#isReleased) throw new RangeError('this informer handle was released')
    for (const namespace of namespaces) if (!this.#projections.has(namespace)) this.#add(namespace)
    const left = [...this.#projections.keys()].filter((namespace) => !namespaces.includes(namespace))
    await Promise.all(left.map((namespace) => this.#drop(namespace)))
  }

  /** Releases the handle. Informers without another handle stop. */
  async release(): Promise<void> {
    this.#isReleased = true
    await Promise.all([...this.#projections.keys()].map((namespace) => this.#drop(namespace)))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  #add(namespace: string): void {
    const projection = this.#options.acquire(namespace === allNamespaces ? undefined : namespace)
    this.#projections.set(namespace, projection)
    for (const [name, values] of this.#indexes) projection.informer.addIndex(name, values as IndexValues<KubeObject>)
    for (const held of this.#handlers) subscribe(held, namespace, projection)
  }

  async #drop(namespace: string): Promise<void> {
    const projection = this.#projections.get(namespace)
    if (!projection) return
    this.#projections.delete(namespace)
    const leaving = [...this.#handlers].map(({ subscriptions }) => {
      const subscription = subscriptions.get(namespace)
      subscriptions.delete(namespace)
      return subscription?.remove()
    })
    await Promise.all([...leaving, this.#options.informers.release(projection)])
  }
}

function subscribe<T extends KubeObject>(
  { handler, options, subscriptions }: RegisteredHandler<T>,
  namespace: string,
  { informer }: SharedProjection,
): void {
  subscriptions.set(namespace, informer.addHandler(handler as Handler<KubeObject>, options))
}
