/**
 * The schema of a custom kind as field management sees it: what a definition says about metadata is not how metadata is
 * merged, and what it need not say about the type is there all the same.
 */
import type { Definitions, Schema, SchemaNode } from '../../schema/schema.ts'

const text: SchemaNode = { type: 'string' }
const texts: SchemaNode = { type: 'object', additionalProperties: text }

/** As far as merging goes. */
const nodes: ReadonlyMap<string, SchemaNode> = new Map<string, SchemaNode>([
  [
    'ObjectMeta',
    {
      type: 'object',
      properties: {
        annotations: texts,
        creationTimestamp: { $ref: 'Time' },
        deletionGracePeriodSeconds: { type: 'integer' },
        deletionTimestamp: { $ref: 'Time' },
        finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        generateName: text,
        generation: { type: 'integer' },
        labels: texts,
        managedFields: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
        name: text,
        namespace: text,
        ownerReferences: {
          type: 'array',
          items: { $ref: 'OwnerReference' },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['uid'],
        },
        resourceVersion: text,
        selfLink: text,
        uid: text,
      },
    },
  ],
  [
    'OwnerReference',
    {
      type: 'object',
      properties: {
        apiVersion: text,
        blockOwnerDeletion: { type: 'boolean' },
        controller: { type: 'boolean' },
        kind: text,
        name: text,
        uid: text,
      },
      'x-kubernetes-map-type': 'atomic',
    },
  ],
  ['Time', { type: 'string', format: 'date-time' }],
])

const definitions: Definitions = (name) => nodes.get(name)

const known = new WeakMap<SchemaNode, Schema>()

export function fieldManagementSchema(root: SchemaNode): Schema {
  let schema = known.get(root)
  if (!schema)
    known.set(
      root,
      (schema = {
        definitions,
        root: {
          ...root,
          properties: { apiVersion: text, kind: text, ...root.properties, metadata: { $ref: 'ObjectMeta' } },
        },
      }),
    )
  return schema
}
