/**
 * The informers of a cache, each shared by all who asked for the same objects: last one out stops it.
 *
 *   holders ──▶ member: a kind in a form, a namespace and a selection ──▶ source: one informer, for members of any form
 *
 * Who asks before the watch begins is part of what it brings; who comes later shares it if it brings enough. Invariants:
 * an informer runs while the cache runs and somebody holds it; one that stopped is never started again, a new one is made.
 */
import { formatFieldRequirements, formatLabelRequirements, parseFieldSelector, type KubeObject } from '#api'
import { abortable, LightAbortController, nextTurn, onAbort, type AbortOptions, type Clock, type Logger } from '#base'
import type { IndexValues } from './indexes.ts'
import type { Informer } from './informer.ts'
import { JoinedSubscription, type Handler, type HandlerOptions, type Subscription } from './listeners.ts'
import { ProjectedInformer, projectionId, ProjectionUnion, type CacheKind } from './projection.ts'
import type { ReflectorState } from './reflector.ts'
import { requirementsOf, type CacheQuery, type CacheScope } from './store.ts'

/** One informer, and who reads from it. */
export interface SharedInformer {
  /** Who may share it, form aside. */
  readonly id: string
  readonly union: ProjectionUnion
  readonly scope: CacheScope
  readonly informer: Informer<KubeObject>
  readonly projections: Set<SharedProjection>
  /** Stops the informer; undefined until it starts. */
  stop: ((reason: unknown) => void) | undefined
  done: Promise<void> | undefined
}

/** What several hold in the same form. */
export interface SharedProjection {
  readonly id: string
  readonly kindId: string
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly shared: SharedInformer
  readonly informer: ProjectedInformer
  /** What was asked for beside the scope; others must ask for the same. */
  readonly transform: unknown
  handles: number
}

interface ProjectionRequest {
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly transform: unknown
  /** What else must be the same for two to share. */
  readonly variant: string
  /** Makes an informer that brings what the union says when it begins. */
  readonly makeInformer: (union: ProjectionUnion) => Informer<KubeObject>
}

interface SharedInformersOptions {
  readonly clock: Clock
  readonly log: Logger
  /** An informer came, or went. */
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

  /** Those of a kind in its form, the widest first. */
  ofKind(kind: CacheKind): readonly SharedProjection[] {
    const kindId = kindIdOf(kind)
    return this.all.filter((member) => member.kindId === kindId).sort((a, b) => breadthOf(b) - breadthOf(a))
  }

  /** The one that is there, or a new one, which begins in a moment if the cache runs. @throws {RangeError} when another transform is in use. */
  acquire(wanted: ProjectionRequest): SharedProjection {
    const { kind, scope, transform, variant: manner } = wanted
    const kindId = kindIdOf(kind)
    const id = `${kindId} ${scopeIdOf(scope)} ${manner}`
    const known = this.#projections.get(id)
    if (known) {
      if (known.transform !== transform)
        throw new RangeError(
          `somebody holds ${kind.kind} with another transform: share the function, or choose another selection`,
        )
      known.handles++
      return known
    }
    const source = this.#sharedFor(wanted)
    source.union.add(kind)
    const member: SharedProjection = {
      id,
      kindId,
      kind,
      scope,
      transform,
      shared: source,
      informer: new ProjectedInformer({ informer: source.informer, union: source.union, kind }),
      handles: 1,
    }
    source.projections.add(member)
    this.#projections.set(id, member)
    return member
  }

  /** Lets go. Resolves when the informer has stopped, if nobody else holds it. */
  async release(member: SharedProjection): Promise<void> {
    if (--member.handles > 0) return
    const { shared: source } = member
    this.#projections.delete(member.id)
    source.projections.delete(member)
    member.informer.close()
    if (source.projections.size > 0) return
    this.#shared.delete(source)
    this.#options.onChange()
    source.stop?.(new Error('the last handle of the informer was released'))
    await source.done
  }

  /** Starts all, and those that come later; resolves when all have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal && !this.#signal.aborted) throw new RangeError('the cache runs already')
    this.#signal = signal
    for (const source of this.#shared) this.#start(source)
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        resolve()
      })
    })
    for (const { stop } of this.#shared) stop?.(signal.reason)
    for (const { done } of this.shared) await done
  }

  /** One with a transform is nobody else's: nobody knows what it leaves. */
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
      stop: undefined,
      done: undefined,
    }
    this.#shared.add(source)
    this.#options.onChange()
    if (this.#signal && !this.#signal.aborted) this.#start(source)
    return source
  }

  #start(source: SharedInformer): void {
    const controller = new LightAbortController()
    source.stop = (reason) => {
      controller.abort(reason)
    }
    source.done = this.#follow(source, controller.signal).catch((error: unknown) => {
      this.#options.log.error('an informer ended by a mistake of ours', { kind: source.union.kind.kind, error })
    })
  }

  async #follow({ union, informer }: SharedInformer, signal: AbortSignal): Promise<void> {
    // Whoever asks in the same breath is still heard: programs hold one kind after the other.
    await abortable(nextTurn(this.#options.clock), { signal }).catch(() => undefined)
    union.freeze()
    await informer.run(signal)
  }
}

/** A kind in its form. */
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

/** More for those that hold more: without selectors, of all namespaces. */
function breadthOf({ scope: { namespace, labelSelector, fieldSelector } }: SharedProjection): number {
  return (labelSelector === undefined && fieldSelector === undefined ? 2 : 0) + (namespace === undefined ? 1 : 0)
}

/*
 * One user's hold on the informers of a kind: all namespaces, or any number of them, which may change.
 *
 * Handlers and indexes that are added here are there for every namespace, also for those that come later.
 */

interface InformerHandleOptions {
  readonly informers: SharedInformers
  /** Takes hold of the informer of one namespace, or of all. */
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
    return [...this.#projections.values()].every(({ informer: view }) => view.hasSynced)
  }

  /** What each informer is doing, by namespace; the empty one stands for all. */
  get states(): Readonly<Record<string, ReflectorState>> {
    return Object.fromEntries([...this.#projections].map(([namespace, { informer: view }]) => [namespace, view.state]))
  }

  /**
   * Resolves when everything has been listed once.
   *
   * @throws {ApiError} `Forbidden` or `Unauthorized`, at once, when we may not list or watch.
   */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all([...this.#projections.values()].map(({ informer: view }) => view.waitForSync(options)))
  }

  /** Resolves when it is known of each informer how things stand: listed, refused, or no such kind. Then `states` says which. */
  async waitForAnswer(options: AbortOptions = {}): Promise<void> {
    await Promise.all([...this.#projections.values()].map(({ informer: view }) => view.waitForAnswer(options)))
  }

  /** What this hold has of the kind now, listed or not; by an index of its own if one is named. */
  list(query: CacheQuery = {}): T[] {
    return [...this.#projections.values()].flatMap(({ informer: view }) => view.list(query)) as unknown as T[]
  }

  /** One object that this hold has. */
  find({ name, namespace }: { readonly name: string; readonly namespace?: string }): T | undefined {
    for (const { informer: view } of this.#projections.values()) {
      const object = view.find({ name, ...(namespace !== undefined && { namespace }) })
      if (object !== undefined) return object as unknown as T
    }
    return undefined
  }

  addIndex(name: string, values: IndexValues<T>): void {
    for (const { informer: view } of this.#projections.values())
      view.addIndex(name, values as unknown as IndexValues<KubeObject>)
    this.#indexes.set(name, values)
  }

  /** Tells a handler of everything that is there, then of every change. */
  addHandler(handler: Handler<T>, options: HandlerOptions = {}): Subscription {
    const held: RegisteredHandler<T> = { handler, options, subscriptions: new Map() }
    this.#handlers.add(held)
    for (const [namespace, member] of this.#projections) subscribe(held, namespace, member)
    return new JoinedSubscription(
      () => [...held.subscriptions.values()],
      () => {
        this.#handlers.delete(held)
      },
    )
  }

  /** Holds other namespaces from now on. Objects of those that are left are no longer told; nobody hears that they went. */
  async setNamespaces(namespaces: readonly string[]): Promise<void> {
    if (this.#projections.has(allNamespaces))
      throw new RangeError('all namespaces are held already: name namespaces from the beginning to change them')
    if (this.#isReleased) throw new RangeError('this hold was released')
    for (const namespace of namespaces) if (!this.#projections.has(namespace)) this.#add(namespace)
    const left = [...this.#projections.keys()].filter((namespace) => !namespaces.includes(namespace))
    await Promise.all(left.map((namespace) => this.#drop(namespace)))
  }

  /** Lets go. Informers that nobody else holds stop. */
  async release(): Promise<void> {
    this.#isReleased = true
    await Promise.all([...this.#projections.keys()].map((namespace) => this.#drop(namespace)))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  #add(namespace: string): void {
    const member = this.#options.acquire(namespace === allNamespaces ? undefined : namespace)
    this.#projections.set(namespace, member)
    for (const [name, values] of this.#indexes)
      member.informer.addIndex(name, values as unknown as IndexValues<KubeObject>)
    for (const held of this.#handlers) subscribe(held, namespace, member)
  }

  async #drop(namespace: string): Promise<void> {
    const member = this.#projections.get(namespace)
    if (!member) return
    this.#projections.delete(namespace)
    const leaving = [...this.#handlers].map(({ subscriptions }) => {
      const subscription = subscriptions.get(namespace)
      subscriptions.delete(namespace)
      return subscription?.remove()
    })
    await Promise.all([...leaving, this.#options.informers.release(member)])
  }
}

function subscribe<T extends KubeObject>(
  { handler, options, subscriptions }: RegisteredHandler<T>,
  namespace: string,
  { informer: view }: SharedProjection,
): void {
  subscriptions.set(namespace, view.addHandler(handler as unknown as Handler<KubeObject>, options))
}
