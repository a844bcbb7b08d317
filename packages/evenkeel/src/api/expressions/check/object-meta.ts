/**
 * What every resource has, whatever its schema says: expressions may always ask for its kind and its names.
 */
import type { SchemaNode } from '../../schema/schema.ts'

const string: SchemaNode = { type: 'string' }
const names: SchemaNode = { type: 'object', properties: { name: string, generateName: string } }

/** A schema of a resource with those fields; the same schema when it has them. */
export function withObjectMeta(node: SchemaNode): SchemaNode {
  const { kind, apiVersion, metadata } = node.properties ?? {}
  const hasNames =
    metadata?.type === 'object' &&
    metadata.properties?.['name']?.type === 'string' &&
    metadata.properties['generateName']?.type === 'string'
  if (kind?.type === 'string' && apiVersion?.type === 'string' && hasNames) return node
  return { ...node, properties: { ...node.properties, kind: string, apiVersion: string, metadata: names } }
}
