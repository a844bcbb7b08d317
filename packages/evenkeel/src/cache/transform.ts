/**
 * What objects become before they are kept: the user's transform, and the decoder of a kind.
 *
 * A `KindDecoder` keeps the objects of one kind whole, as metadata alone or with some fields, and with or without managed
 * fields.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonObjectDraft,
  type KubeObject,
  type TypeMeta,
  asJson,
  asKubeObject,
  stringifyJson,
} from '#api'
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

/** Applies a transform to items; without one, returns them unchanged. */
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
        `the transform changed namespace, name or resourceVersion of ${kind} ${item.name}: return them unchanged`,
      )
    }
    return Item.ofObject(object)
  }
}

interface KindDecoderOptions {
  /** Keep `metadata.managedFields`, which take up to half of the memory. @default false */
  readonly keepManagedFields?: boolean
  /** Called for a text that is no object. */
  readonly onBroken?: (error: Error) => void
}

export interface KindDecoder<T extends KubeObject> extends ItemDecoder<T> {
  /** Whether the server sends exactly what is kept, managed fields aside. */
  readonly isWhole: boolean
  readonly keepManagedFields: boolean
  /** An item of an object that was just parsed and has no other owner. */
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
    return asKubeObject(paths ? projectPaths(named, paths) : named) as T
  }
  return {
    decode: finish,
    keepManagedFields,
    isWhole: !isPickedKind(kind),
    ...(onBroken && { onBroken }),
    itemOf: (object) => {
      const { namespace = '', name = '', resourceVersion = '' } = object.metadata
      if (name === '') throw new RangeError(`cannot cache a ${kind.kind} without metadata.name`)
      return Item.ofText<T>(
        { namespace, name, version: resourceVersion, text: stringifyJson(finish(asJson(object))) },
        { decode: finish, ...(onBroken && { onBroken }) },
      )
    },
  }
}

/** Items of a list come without kind; metadata alone comes with the kind of the metadata. */
function setType(object: JsonObjectDraft, { apiVersion, kind }: TypeMeta): JsonObjectDraft {
  if (object['kind'] !== undefined && object['kind'] !== 'PartialObjectMetadata') return object
  return Object.assign(object, { apiVersion, kind })
}

function dropManagedFields(object: JsonObjectDraft): void {
  const { metadata } = object
  if (!isJsonObject(metadata) || metadata['managedFields'] === undefined) return
  delete (metadata as JsonObjectDraft)['managedFields']
}
