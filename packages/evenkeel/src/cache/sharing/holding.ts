/**
 * One user's hold on the informers of a kind: all namespaces, or any number of them, which may change.
 *
 * Handlers and indexes that are added here are there for every namespace, also for those that come later.
 */
import type { AbortOptions } from '#base'
import type { KubeObject } from '#api'
import type { ReflectorState } from '../reflecting/state.ts'
import type { IndexValues } from '../storing/indexes.ts'
import type { CacheQuery } from '../storing/query.ts'
import type { Handler } from '../telling/listener.ts'
import { JoinedSubscription } from '../telling/subscription.ts'
import type { HandlerOptions, Subscription } from '../telling/subscription.ts'
import type { SharedProjection, SharedInformers } from './members.ts'

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
