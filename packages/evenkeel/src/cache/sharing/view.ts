/**
 * An informer as one of its users sees it: the parts of its objects that were asked for, whatever else it keeps for others.
 *
 * Invariants: what is handed out is frozen, and the same object each time for as long as its original is in use; indexes
 * of one view are not those of another.
 */
import type { AbortOptions } from '#base'
import { deepFreeze } from '#api'
import type { JsonObject, KubeObject } from '#api'
import type { Informer } from '../informer.ts'
import type { ReflectorState } from '../reflecting/state.ts'
import type { IndexValues } from '../storing/indexes.ts'
import { projectPaths } from '../storing/pick.ts'
import type { CacheKind } from '../storing/pick.ts'
import type { CacheQuery } from '../storing/query.ts'
import type { Handler } from '../telling/listener.ts'
import type { HandlerOptions, Subscription } from '../telling/subscription.ts'
import { formId, pathsOf } from './union.ts'
import type { Union } from './union.ts'

interface ViewOptions {
  readonly informer: Informer<KubeObject>
  readonly union: Union
  /** What this user asked for. */
  readonly kind: CacheKind
}

export class View {
  readonly #informer: Informer<KubeObject>
  readonly #union: Union
  readonly #form: string
  readonly #paths: readonly string[] | undefined
  readonly #shown = new WeakMap<KubeObject, KubeObject>()
  readonly #indexes = new Map<
    string,
    { readonly values: IndexValues<KubeObject>; readonly seen: IndexValues<KubeObject> }
  >()

  constructor({ informer, union, kind }: ViewOptions) {
    this.#informer = informer
    this.#union = union
    this.#form = formId(kind)
    this.#paths = pathsOf(kind)
  }

  get hasSynced(): boolean {
    return this.#informer.hasSynced
  }

  get state(): ReflectorState {
    return this.#informer.state
  }

  waitForSync(options: AbortOptions = {}): Promise<void> {
    return this.#informer.waitForSync(options)
  }

  waitForAnswer(options: AbortOptions = {}): Promise<void> {
    return this.#informer.waitForAnswer(options)
  }

  find(key: { readonly namespace?: string; readonly name: string }): KubeObject | undefined {
    const object = this.#informer.find(key)
    return object && this.#show(object)
  }

  list(query: CacheQuery = {}): KubeObject[] {
    const { index } = query
    const objects = this.#informer.list(
      index ? { ...query, index: { ...index, name: this.#indexName(index.name) } } : query,
    )
    return this.#isWhole ? objects : objects.map((object) => this.#show(object))
  }

  /** @throws {RangeError} when the name is taken by another function. */
  addIndex(name: string, values: IndexValues<KubeObject>): void {
    const known = this.#indexes.get(name)
    const index =
      known?.values === values ? known : { values, seen: (object: KubeObject) => values(this.#show(object)) }
    this.#informer.addIndex(this.#indexName(name), index.seen)
    this.#indexes.set(name, index)
  }

  addHandler(handler: Handler<KubeObject>, options: HandlerOptions = {}): Subscription {
    return this.#informer.addHandler(
      (event) => handler(this.#isWhole ? event : event.through((object) => this.#show(object))),
      options,
    )
  }

  /** Nobody uses it any more. */
  close(): void {
    for (const name of this.#indexes.keys()) this.#informer.removeIndex(this.#indexName(name))
    this.#indexes.clear()
  }

  /** Whether the informer keeps what was asked for and nothing else. */
  get #isWhole(): boolean {
    return this.#paths === undefined || this.#union.form === this.#form
  }

  #show(object: KubeObject): KubeObject {
    if (this.#isWhole) return object
    const known = this.#shown.get(object)
    if (known) return known
    const shown = deepFreeze(projectPaths(object as unknown as JsonObject, this.#paths ?? [])) as unknown as KubeObject
    this.#shown.set(object, shown)
    return shown
  }

  #indexName(name: string): string {
    return this.#form === 'whole' ? name : `${name} (${this.#form})`
  }
}
