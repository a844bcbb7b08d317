/**
 * Projections: kinds of which a cache keeps only some fields, the types that go with them, and informers that serve
 * several projections at once.
 *
 * The paths are named once, where the kind is picked. Other fields are neither in memory nor in the type, so code that
 * reads them does not compile. apiVersion, kind and metadata (without managed fields) are always kept. A path may end at
 * a list, but not go into it: lists are kept whole.
 *
 * `ProjectionUnion` is one watch for several users of the same objects: it keeps the fields that any of them wants.
 *
 *   whole                     ⊇ any
 *   picked spec.a, status     ⊇ picked status.phase ⊇ metadata
 *
 * Worked example: before the watch starts, one controller asks for `status.phase` and another for `spec.nodeName`: the
 * watch keeps both fields, and each controller sees only its own. A third one that asks for the whole pod after the watch
 * has started gets a watch of its own.
 *
 * `ProjectedInformer` is an informer as one of its users sees it.
 *
 * Invariants: what is handed out is frozen, and the same object each time as long as its original is in use; the indexes
 * of one projection are not those of another.
 */
import {
  deepFreeze,
  getOwn,
  isJsonObject,
  setOwn,
  type JsonObject,
  type JsonObjectDraft,
  type Kind,
  type KubeObject,
  type TypeMeta,
  asJson,
  asKubeObject,
} from '#api'
import type { AbortOptions } from '#base'
import type { KindLike, ReadOf } from '#client'
import type { IndexValues } from './indexes.ts'
import type { Informer } from './informer.ts'
import type { Handler, HandlerOptions, Subscription } from './listeners.ts'
import type { ReflectorState } from './reflector.ts'
import type { CacheQuery } from './store.ts'

/** Dotted paths into an object, up to four steps deep. */
type PathOf<T, Steps extends readonly 0[] = [0, 0, 0, 0]> = Steps extends readonly [
  0,
  ...infer Rest extends readonly 0[],
]
  ? T extends readonly unknown[]
    ? never
    : T extends object
      ? { [K in keyof T & string]: K | `${K}.${PathOf<NonNullable<T[K]>, Rest>}` }[keyof T & string]
      : never
  : never

type Always = 'apiVersion' | 'kind' | 'metadata'

/** What is left of a type when only these paths are kept. */
type Picked<T, P extends string> = Pick<T, Always & keyof T> & PickedFields<T, P>

type PickedFields<T, P extends string> = {
  [K in keyof T as K extends Exclude<HeadOf<P>, Always> ? K : never]: K extends P
    ? T[K]
    : PickedFields<NonNullable<T[K]>, TailOf<P, K>> | Extract<T[K], undefined>
}

type HeadOf<P extends string> = P extends `${infer Head}.${string}` ? Head : P
type TailOf<P extends string, K> = P extends `${infer Head}.${infer Tail}` ? (Head extends K ? Tail : never) : never

/** A kind of which only some fields are kept: see {@link pick}. */
interface PickedKind<K extends Kind = Kind, P extends string = string> extends TypeMeta {
  readonly of: K
  readonly paths: readonly P[]
}

/** A kind as a cache can keep it. */
export type CacheKind = KindLike | PickedKind

/** The type of the objects that a cache returns for a kind. */
export type CachedOf<K> = K extends PickedKind<infer Base, infer P> ? Picked<ReadOf<Base>, P> & ReadOfMeta : ReadOf<K>

type ReadOfMeta = TypeMeta

/**
 * The same kind, of which a cache keeps only these fields.
 *
 * @example
 * const SlimPod = pick(Pod, ['spec.nodeName', 'status.phase'])
 * cache.list(SlimPod).map((pod) => pod.spec.nodeName)   // pod.spec.containers does not compile
 */
export function pick<K extends Kind, const P extends Exclude<PathOf<ReadOf<K>>, Always>>(
  kind: K,
  paths: readonly P[],
): PickedKind<K, P> {
  if (paths.some((path) => path.split('.').some((step) => step === '')))
    throw new RangeError(`a path is field names joined by dots, got ${JSON.stringify(paths)}`)
  return Object.freeze({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    of: kind,
    paths: Object.freeze([...new Set(paths)].sort()),
  })
}

export function isPickedKind(kind: CacheKind): kind is PickedKind {
  return 'paths' in kind
}

/** The kind without its projection. */
export function servedKind(kind: CacheKind): KindLike {
  return isPickedKind(kind) ? kind.of : kind
}

/** A new object with apiVersion, kind, metadata and the values at the paths; values are shared with the original. */
export function projectPaths(object: JsonObject, paths: readonly string[]): JsonObjectDraft {
  const kept: JsonObjectDraft = {}
  for (const key of ['apiVersion', 'kind', 'metadata']) if (object[key] !== undefined) kept[key] = object[key]
  for (const path of paths) copyPath(object, kept, path.split('.'))
  return kept
}

function copyPath(from: JsonObject, into: JsonObjectDraft, path: readonly string[]): void {
  const [step = '', ...rest] = path
  const value = getOwn(from, step)
  if (value === undefined) return
  if (rest.length === 0) {
    setOwn(into, step, value)
    return
  }
  if (!isJsonObject(value)) return
  const known = getOwn(into, step)
  // A shorter path may have copied the whole value already.
  if (known === value) return
  const next: JsonObjectDraft = isJsonObject(known) ? known : {}
  setOwn(into, step, next)
  copyPath(value, next, rest)
}

export class ProjectionUnion {
  #kind: CacheKind
  #id: string
  #isFrozen = false

  constructor(kind: CacheKind) {
    this.#kind = kind
    this.#id = projectionId(kind)
  }

  /** The kind with the fields that all users need so far. */
  get kind(): CacheKind {
    return this.#kind
  }

  /** The projection as text. */
  get id(): string {
    return this.#id
  }

  /** Whether a user with this projection can share the watch. */
  accepts(kind: CacheKind): boolean {
    return !this.#isFrozen || coversProjection(this.#kind, kind)
  }

  /** Adds a user that can share it. */
  add(kind: CacheKind): void {
    if (coversProjection(this.#kind, kind)) return
    this.#kind = joinProjections(this.#kind, kind)
    this.#id = projectionId(this.#kind)
  }

  /** The watch starts: the fields are fixed. */
  freeze(): void {
    this.#isFrozen = true
  }
}

/** A projection as text: the same kind picked with other paths is another projection. */
export function projectionId(kind: CacheKind): string {
  return isPickedKind(kind) ? `pick ${kind.paths.join(',')}` : isMetadata(kind) ? 'metadata' : 'whole'
}

/** The fields that are kept beside apiVersion, kind and metadata; undefined: all. */
export function projectedPaths(kind: CacheKind): readonly string[] | undefined {
  return isPickedKind(kind) ? kind.paths : isMetadata(kind) ? [] : undefined
}

function coversProjection(wide: CacheKind, narrow: CacheKind): boolean {
  const [has, wants] = [projectedPaths(wide), projectedPaths(narrow)]
  if (has === undefined || wants === undefined) return has === undefined
  return (
    (!isMetadata(wide) || isMetadata(narrow)) &&
    wants.every((path) => has.some((each) => path === each || path.startsWith(`${each}.`)))
  )
}

function joinProjections(a: CacheKind, b: CacheKind): CacheKind {
  const whole = [a, b].find((kind) => projectedPaths(kind) === undefined)
  if (whole) return whole
  const picked = [a, b].find(isPickedKind)
  if (!picked) return a
  return { ...picked, paths: [...new Set([...(projectedPaths(a) ?? []), ...(projectedPaths(b) ?? [])])].sort() }
}

function isMetadata(kind: CacheKind): boolean {
  return 'metadataOnly' in kind
}

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

  /** No user is left. */
  close(): void {
    for (const name of this.#indexes.keys()) this.#informer.removeIndex(this.#indexName(name))
    this.#indexes.clear()
  }

  /** Whether the informer keeps exactly what was asked for. */
  get #isWhole(): boolean {
    return this.#paths === undefined || this.#union.id === this.#projectionId
  }

  #project(object: KubeObject): KubeObject {
    if (this.#isWhole) return object
    const known = this.#projected.get(object)
    if (known) return known
    const shown = asKubeObject(deepFreeze(projectPaths(asJson(object), this.#paths ?? [])))
    this.#projected.set(object, shown)
    return shown
  }

  #indexName(name: string): string {
    return this.#projectionId === 'whole' ? name : `${name} (${this.#projectionId})`
  }
}
