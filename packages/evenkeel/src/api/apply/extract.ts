/**
 * What one manager applied, read out of an object: the configuration to start from for the next apply.
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
   * What was applied through this subresource.
   *
   * @default ''
   */
  readonly subresource?: string
}

/**
 * A configuration with type, name and namespace of the object and every field the manager owns by applying.
 *
 * @throws {RangeError} when the managed fields of the object cannot be read.
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
