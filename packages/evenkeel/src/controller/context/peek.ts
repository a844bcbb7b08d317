/**
 * What the cache has of an object, if it follows that kind there; never an error.
 */
import type { KubeObject, TypeMeta } from '#api'
import { isApiError } from '#api'
import type { CacheKey, CacheKind, ObjectCache } from '#cache'

/** What a read from the cache gave; undefined when the cache cannot answer: it does not hold the kind, or not yet. */
export function fromCache<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof RangeError || isApiError(error)) return undefined
    throw error
  }
}

/** The object as the cache shows it, our own writes included. */
export function peek(
  cache: ObjectCache | undefined,
  kind: TypeMeta & CacheKind,
  key: CacheKey,
): KubeObject | undefined {
  if (!cache) return undefined
  return fromCache(() => cache.find({ apiVersion: kind.apiVersion, kind: kind.kind }, key))?.value as
    | KubeObject
    | undefined
}
