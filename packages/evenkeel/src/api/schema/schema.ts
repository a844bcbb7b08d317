/**
 * The vocabulary of schemas: OpenAPI v3 with the extensions of Kubernetes.
 *
 * Built-in kinds (from generated definitions) and custom resources (from their CRDs) both use it. `compile.ts` reads the
 * keywords; everything else reads the compiled form. Nodes are shared between kinds and never modified.
 */
import type { JsonValue } from '@evenkeel/cel/primitives'

export type ListType = 'atomic' | 'set' | 'map'

export interface SchemaNode {
  /** The name of the definition that this node refers to. Siblings are the field's own: its default and extensions. */
  readonly $ref?: string
  /** In built-in kinds: one member, a reference that has siblings. In custom resources: more conditions. */
  readonly allOf?: readonly SchemaNode[]
  readonly anyOf?: readonly SchemaNode[]
  readonly oneOf?: readonly SchemaNode[]
  readonly not?: SchemaNode
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: string
  readonly description?: string
  readonly nullable?: boolean
  readonly default?: JsonValue
  readonly enum?: readonly JsonValue[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | boolean
  readonly required?: readonly string[]
  readonly items?: SchemaNode
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly 'x-kubernetes-list-type'?: ListType
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-unions'?: readonly JsonValue[]
  readonly 'x-kubernetes-validations'?: readonly JsonValue[]
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

/** Finds a definition by the name in a reference; undefined when there is none. */
export type Definitions = (name: string) => SchemaNode | undefined

/** A schema with the definitions that it refers to. */
export interface Schema {
  /** The name of the root among the definitions, if it has one. */
  readonly name?: string
  readonly root: SchemaNode
  readonly definitions: Definitions
}
