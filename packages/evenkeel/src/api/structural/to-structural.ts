/**
 * From the schema of a definition's version to the node that pruning, defaulting, validation and apply walk.
 */
import { FieldPath } from '../error/field-path.ts'
import { deepFreeze } from '../json.ts'
import type { JsonObject } from '../json.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { readJsonSchemaProps } from './schema/properties.ts'
import { findForeignKeyword } from './schema/structural.ts'

/**
 * The schema of a version as a frozen node, without keywords that say nothing or that custom resources do not have.
 *
 * @param schema what `versions[].schema.openAPIV3Schema` holds. {@link validateDefinition} has found it right.
 * @throws {RangeError} when it cannot be a structural schema: nobody validated it.
 */
export function toStructuralSchema(schema: JsonObject): SchemaNode {
  const {
    schema: read,
    errors: [error],
  } = readJsonSchemaProps(schema, FieldPath.of('openAPIV3Schema'))
  if (error !== undefined)
    throw new RangeError(`the schema of a definition cannot be read: ${error.field}: ${error.body}`)
  const foreign = findForeignKeyword(read)
  if (foreign !== undefined) throw new RangeError(`the schema of a definition is not structural: ${foreign}`)
  const { id: _id, $schema: _schema, ...node } = read
  return deepFreeze(node) as SchemaNode
}
