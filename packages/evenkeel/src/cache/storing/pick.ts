/**
 * Kinds of which a cache keeps only some fields, and the types that go with them.
 *
 * The paths are said once, where the kind is picked; what was not picked is neither in memory nor in the type, so code
 * that reads it does not compile. Type and metadata (but for managed fields) are always kept. A path ends at a list or
 * goes past it not at all: lists are kept whole.
 */
import type { Kind, TypeMeta } from '#api'
import { getOwn, isJsonObject, setOwn } from '#api'
import type { JsonObject, JsonObjectDraft } from '#api'
import type { KindLike, ReadOf } from '#client'

/** Dotted paths into an object, up to four steps deep. */
export type PathOf<T, Steps extends readonly 0[] = [0, 0, 0, 0]> = Steps extends readonly [
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
export type Picked<T, P extends string> = Pick<T, Always & keyof T> & PickedFields<T, P>

type PickedFields<T, P extends string> = {
  [K in keyof T as K extends Exclude<HeadOf<P>, Always> ? K : never]: K extends P
    ? T[K]
    : PickedFields<NonNullable<T[K]>, TailOf<P, K>> | Extract<T[K], undefined>
}

type HeadOf<P extends string> = P extends `${infer Head}.${string}` ? Head : P
type TailOf<P extends string, K> = P extends `${infer Head}.${infer Tail}` ? (Head extends K ? Tail : never) : never

/** A kind of which only some fields are kept: see {@link pick}. */
export interface PickedKind<K extends Kind = Kind, P extends string = string> extends TypeMeta {
  readonly of: K
  readonly paths: readonly P[]
}

/** A kind as a cache can hold it. */
export type CacheKind = KindLike | PickedKind

/** The type in which a cache hands out objects of a kind. */
export type CachedOf<K> = K extends PickedKind<infer Base, infer P> ? Picked<ReadOf<Base>, P> & ReadOfMeta : ReadOf<K>

type ReadOfMeta = TypeMeta

/**
 * The same kind, of which a cache keeps these fields only.
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
    throw new RangeError(`a path is names joined by dots, got ${JSON.stringify(paths)}`)
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

/** The kind that the server knows. */
export function servedKind(kind: CacheKind): KindLike {
  return isPickedKind(kind) ? kind.of : kind
}

/** A new object with type, metadata and what is at the paths; values are shared with the original. */
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
  // A shorter path may have put the whole value there already.
  if (known === value) return
  const next: JsonObjectDraft = isJsonObject(known) ? known : {}
  setOwn(into, step, next)
  copyPath(value, next, rest)
}
