/**
 * Extracts the fields that one manager applied from an object: the starting point of its next apply configuration.
 */
import { getOwn, setOwn, type JsonObject, type JsonObjectDraft } from '@evenkeel/cel/primitives'
import type { Schema } from '../schema/schema.ts'
import { entriesOf, metadataOf } from './field-manager.ts'
import { fieldTypeOf } from './field-type.ts'
import { decodeManagedFields, identityOf } from './managed-fields.ts'
import { extractFields } from './remove.ts'
import { asMap } from './typed-value.ts'

interface ExtractOptions {
  readonly schema?: Schema | undefined
  /**
   * The subresource of the apply.
   *
   * @default ''
   */
  readonly subresource?: string
}

/**
 * An apply configuration with type, name and namespace of the object and every field that the manager owns by Apply.
 *
 * @throws {RangeError} when the managed fields of the object cannot be decoded.
 */
export function extractOwned(
  object: JsonObject,
  manager: string,
  { schema, subresource = '' }: ExtractOptions = {},
): JsonObject {
  const owned = decodeManagedFields(entriesOf(object)).managers.get(
    identityOf({ manager, operation: 'Apply', subresource }),
  )
  const found = owned && asMap(extractFields(object, owned.set.leaves(), fieldTypeOf(schema)))
  const metadata: JsonObjectDraft = { ...(found && metadataOf(found)) }
  for (const name of ['name', 'namespace']) {
    const value = getOwn(metadataOf(object), name)
    if (value !== undefined) setOwn(metadata, name, value)
  }
  return { ...found, ...pick(object, 'apiVersion'), ...pick(object, 'kind'), metadata }
}

function pick(object: JsonObject, key: string): JsonObject {
  const value = getOwn(object, key)
  return value === undefined ? {} : { [key]: value }
}
