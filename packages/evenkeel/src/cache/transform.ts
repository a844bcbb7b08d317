/**
 * What objects become before they are kept.
 */
import { isJsonObject, type JsonObject, type JsonObjectDraft, type KubeObject, type TypeMeta } from '#api'
import { Item, type ItemDecoder } from './items.ts'
import { isPickedKind, projectPaths, type CacheKind } from './projection.ts'

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

/*
 * In which form a cache keeps the objects of one kind: whole, metadata alone, or some fields; with or without managed
 * fields.
 */

export interface KindDecoderOptions {
  /** Keep `metadata.managedFields`, which take up to half of the memory. @default false */
  readonly keepManagedFields?: boolean
  /** Hears of a text that is no object. */
  readonly onBroken?: (error: Error) => void
}

export interface KindDecoder<T extends KubeObject> extends ItemDecoder<T> {
  /** Whether what the server sends is what the form keeps, but for managed fields. */
  readonly isWhole: boolean
  readonly keepManagedFields: boolean
  /** An item of an object that was just parsed and is nobody else's. */
  itemOf(object: KubeObject): Item<T>
}

export function kindDecoder<T extends KubeObject>(
  kind: CacheKind,
  { keepManagedFields = false, onBroken }: KindDecoderOptions = {},
): KindDecoder<T> {
  const type = { apiVersion: kind.apiVersion, kind: kind.kind }
  const paths = isPickedKind(kind) ? kind.paths : 'metadataOnly' in kind ? [] : undefined
  const finish = (object: JsonObject): T => {
    const named = setType(object as JsonObjectDraft, type)
    if (!keepManagedFields) dropManagedFields(named)
    return (paths ? projectPaths(named, paths) : named) as unknown as T
  }
  return {
    decode: finish,
    keepManagedFields,
    isWhole: !isPickedKind(kind),
    ...(onBroken && { onBroken }),
    itemOf: (object) => {
      const { namespace = '', name = '', resourceVersion = '' } = object.metadata
      if (name === '') throw new RangeError(`a ${kind.kind} without a name cannot be kept in a cache`)
      return Item.ofText<T>(
        { namespace, name, version: resourceVersion, text: JSON.stringify(finish(object as unknown as JsonObject)) },
        { decode: finish, ...(onBroken && { onBroken }) },
      )
    },
  }
}

/** Items of a list come without type, metadata alone comes with the type of metadata. */
function setType(object: JsonObjectDraft, { apiVersion, kind }: TypeMeta): JsonObjectDraft {
  if (object['kind'] !== undefined && object['kind'] !== 'PartialObjectMetadata') return object
  return Object.assign(object, { apiVersion, kind })
}

function dropManagedFields(object: JsonObjectDraft): void {
  const { metadata } = object
  if (!isJsonObject(metadata) || metadata['managedFields'] === undefined) return
  delete (metadata as JsonObjectDraft)['managedFields']
}
