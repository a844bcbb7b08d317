/**
 * In which form a cache keeps the objects of one kind: whole, metadata alone, or some fields; with or without managed
 * fields.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonObjectDraft, KubeObject, TypeMeta } from '#api'
import { Item } from './item.ts'
import type { ItemDecoder } from './item.ts'
import { isPickedKind, projectPaths } from './pick.ts'
import type { CacheKind } from './pick.ts'

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
