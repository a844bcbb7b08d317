/**
 * What objects become before they are kept.
 */
import type { KubeObject } from '#api'
import { Item } from './item.ts'

/** A transform threw: which object it was, and why. */
export class TransformError extends Error {
  override readonly name = 'TransformError'
}

/** Items as they are. */
export function unshaped<T extends KubeObject>(item: Item<T>): Item<T> {
  return item
}

/** Items with a transform applied; without one, items as they are. */
export function shapeWith<T extends KubeObject>(
  transform: ((object: T) => T) | undefined,
  kind: string,
): (item: Item<T>) => Item<T> {
  if (!transform) return unshaped
  return (item) => {
    let object: T
    try {
      object = transform(item.object)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new TransformError(
        `the transform failed for ${kind} ${item.namespace === '' ? '' : `${item.namespace}/`}${item.name}: ${why}`,
        { cause },
      )
    }
    const { namespace = '', name, resourceVersion } = object.metadata
    if (namespace !== item.namespace || name !== item.name || resourceVersion !== item.version) {
      throw new TransformError(
        `the transform changed namespace, name or resourceVersion of ${kind} ${item.name}: the cache needs them as they were`,
      )
    }
    return Item.ofObject(object)
  }
}
