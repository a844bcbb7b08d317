/**
 * The types that OpenAPI documents speak of: a published name, and the schema behind it.
 *
 * Built-in types are published as `io.k8s.api.core.v1.Pod`. A custom resource's name is its group spelled backwards:
 * `com.example.stable.v1.CronTab`.
 */
import type { GroupVersionKind, SchemaNode } from '#api'
import { builtinSchemas, schemaName, publishedSchemaName } from '../builtin/definitions.ts'
import type { Resource } from '../resources/resource.ts'

export interface PublishedType {
  readonly name: string
  /** Undefined when nobody knows the type: it is then published as an object about which nothing is said. */
  node(): SchemaNode | undefined
  /** Made from a definition, so that some things cannot be said about it in OpenAPI v2. */
  readonly custom: boolean
}

/** A type by the short name of its definition. */
export function builtinType(name: string): PublishedType {
  return { name: publishedSchemaName(name), node: () => builtinSchemas(name), custom: false }
}

/** The type of a kind that is not a resource of its own, such as `Scale`. */
export function kindType(kind: GroupVersionKind): PublishedType {
  return builtinType(schemaName(kind))
}

export function resourceType(resource: Resource): PublishedType {
  if (!resource.custom) return kindType(resource)
  return { name: customName(resource), node: () => customNode(resource), custom: true }
}

export function listType(resource: Resource): PublishedType {
  const { group, version, listKind } = resource
  if (!resource.custom) return kindType({ group, version, kind: listKind })
  return { name: customName({ group, version, kind: listKind }), node: () => customListNode(resource), custom: true }
}

function customName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

const typeProperties = { apiVersion: { type: 'string' }, kind: { type: 'string' } } as const

/** A custom resource's schema with what every object has. */
function customNode({ group, version, kind, schema: { root } }: Resource): SchemaNode {
  return {
    type: 'object',
    ...root,
    properties: { ...root.properties, ...typeProperties, metadata: { $ref: 'meta.v1.ObjectMeta' } },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  }
}

function customListNode({ group, version, kind, listKind }: Resource): SchemaNode {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      ...typeProperties,
      items: { type: 'array', items: { $ref: customName({ group, version, kind }) } },
      metadata: { $ref: 'meta.v1.ListMeta' },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
  }
}
