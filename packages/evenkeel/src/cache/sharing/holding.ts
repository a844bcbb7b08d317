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
import type { Member, Members } from './members.ts'

interface HoldingOptions {
  readonly members: Members
  /** Takes hold of the informer of one namespace, or of all. */
  readonly hold: (namespace: string | undefined) => Member
  /** @default all */
  readonly namespaces?: readonly string[] | undefined
}

interface Held<T extends KubeObject> {
  readonly handler: Handler<T>
  readonly options: HandlerOptions
  readonly subscriptions: Map<string, Subscription>
}

const everywhere = ''

export class Holding<T extends KubeObject> {
  readonly #options: HoldingOptions
  readonly #members = new Map<string, Member>()
  readonly #handlers = new Set<Held<T>>()
  readonly #indexes = new Map<string, IndexValues<T>>()
  #isReleased = false

  constructor(options: HoldingOptions) {
    this.#options = options
    for (const namespace of options.namespaces ?? [everywhere]) this.#add(namespace)
  }

  get hasSynced(): boolean {
    return [...this.#members.values()].every(({ view }) => view.hasSynced)
  }

  /** What each informer is doing, by namespace; the empty one stands for all. */
  get states(): Readonly<Record<string, ReflectorState>> {
    return Object.fromEntries([...this.#members].map(([namespace, { view }]) => [namespace, view.state]))
  }

  /**
   * Resolves when everything has been listed once.
   *
   * @throws {ApiError} `Forbidden` or `Unauthorized`, at once, when we may not list or watch.
   */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ view }) => view.waitForSync(options)))
  }

  /** Resolves when it is known of each informer how things stand: listed, refused, or no such kind. Then `states` says which. */
  async waitForAnswer(options: AbortOptions = {}): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ view }) => view.waitForAnswer(options)))
  }

  /** What this hold has of the kind now, listed or not; by an index of its own if one is named. */
  list(query: CacheQuery = {}): T[] {
    return [...this.#members.values()].flatMap(({ view }) => view.list(query)) as unknown as T[]
  }

  /** One object that this hold has. */
  find({ name, namespace }: { readonly name: string; readonly namespace?: string }): T | undefined {
    for (const { view } of this.#members.values()) {
      const object = view.find({ name, ...(namespace !== undefined && { namespace }) })
      if (object !== undefined) return object as unknown as T
    }
    return undefined
  }

  addIndex(name: string, values: IndexValues<T>): void {
    for (const { view } of this.#members.values()) view.addIndex(name, values as unknown as IndexValues<KubeObject>)
    this.#indexes.set(name, values)
  }

  /** Tells a handler of everything that is there, then of every change. */
  addHandler(handler: Handler<T>, options: HandlerOptions = {}): Subscription {
    const held: Held<T> = { handler, options, subscriptions: new Map() }
    this.#handlers.add(held)
    for (const [namespace, member] of this.#members) subscribe(held, namespace, member)
    return new JoinedSubscription(
      () => [...held.subscriptions.values()],
      () => {
        this.#handlers.delete(held)
      },
    )
  }

  /** Holds other namespaces from now on. Objects of those that are left are no longer told; nobody hears that they went. */
  async setNamespaces(namespaces: readonly string[]): Promise<void> {
    if (this.#members.has(everywhere))
      throw new RangeError('all namespaces are held already: name namespaces from the beginning to change them')
    if (this.#isReleased) throw new RangeError('this hold was released')
    for (const namespace of namespaces) if (!this.#members.has(namespace)) this.#add(namespace)
    const left = [...this.#members.keys()].filter((namespace) => !namespaces.includes(namespace))
    await Promise.all(left.map((namespace) => this.#drop(namespace)))
  }

  /** Lets go. Informers that nobody else holds stop. */
  async release(): Promise<void> {
    this.#isReleased = true
    await Promise.all([...this.#members.keys()].map((namespace) => this.#drop(namespace)))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  #add(namespace: string): void {
    const member = this.#options.hold(namespace === everywhere ? undefined : namespace)
    this.#members.set(namespace, member)
    for (const [name, values] of this.#indexes) member.view.addIndex(name, values as unknown as IndexValues<KubeObject>)
    for (const held of this.#handlers) subscribe(held, namespace, member)
  }

  async #drop(namespace: string): Promise<void> {
    const member = this.#members.get(namespace)
    if (!member) return
    this.#members.delete(namespace)
    const leaving = [...this.#handlers].map(({ subscriptions }) => {
      const subscription = subscriptions.get(namespace)
      subscriptions.delete(namespace)
      return subscription?.remove()
    })
    await Promise.all([...leaving, this.#options.members.release(member)])
  }
}

function subscribe<T extends KubeObject>(
  { handler, options, subscriptions }: Held<T>,
  namespace: string,
  { view }: Member,
): void {
  subscriptions.set(namespace, view.addHandler(handler as unknown as Handler<KubeObject>, options))
}
