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
import { projectionId, projectedPaths } from './union.ts'
import type { ProjectionUnion } from './union.ts'

interface ProjectedInformerOptions {
  readonly informer: Informer<KubeObject>
  readonly union: ProjectionUnion
  /** What this user asked for. */
  readonly kind: CacheKind
}

export class ProjectedInformer {
  readonly #informer: Informer<KubeObject>
  readonly #union: ProjectionUnion
  readonly #projectionId: string
  readonly #paths: readonly string[] | undefined
  readonly #projected = new WeakMap<KubeObject, KubeObject>()
  readonly #indexes = new Map<
    string,
    { readonly values: IndexValues<KubeObject>; readonly seen: IndexValues<KubeObject> }
  >()

  constructor({ informer, union, kind }: ProjectedInformerOptions) {
    this.#informer = informer
    this.#union = union
    this.#projectionId = projectionId(kind)
    this.#paths = projectedPaths(kind)
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
    return object && this.#project(object)
  }

  list(query: CacheQuery = {}): KubeObject[] {
    const { index } = query
    const objects = this.#informer.list(
      index ? { ...query, index: { ...index, name: this.#indexName(index.name) } } : query,
    )
    return this.#isWhole ? objects : objects.map((object) => this.#project(object))
  }

  /** @throws {RangeError} when the name is taken by another function. */
  addIndex(name: string, values: IndexValues<KubeObject>): void {
    const known = this.#indexes.get(name)
    const index =
      known?.values === values ? known : { values, seen: (object: KubeObject) => values(this.#project(object)) }
    this.#informer.addIndex(this.#indexName(name), index.seen)
    this.#indexes.set(name, index)
  }

  addHandler(handler: Handler<KubeObject>, options: HandlerOptions = {}): Subscription {
    return this.#informer.addHandler(
      (event) => handler(this.#isWhole ? event : event.through((object) => this.#project(object))),
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
    return this.#paths === undefined || this.#union.id === this.#projectionId
  }

  #project(object: KubeObject): KubeObject {
    if (this.#isWhole) return object
    const known = this.#projected.get(object)
    if (known) return known
    const shown = deepFreeze(projectPaths(object as unknown as JsonObject, this.#paths ?? [])) as unknown as KubeObject
    this.#projected.set(object, shown)
    return shown
  }

  #indexName(name: string): string {
    return this.#projectionId === 'whole' ? name : `${name} (${this.#projectionId})`
  }
}
