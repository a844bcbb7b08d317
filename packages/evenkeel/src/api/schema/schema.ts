/**
 * The one vocabulary for describing objects: OpenAPI v3 schemas with the Kubernetes extensions.
 *
 * Built-in kinds (from generated records) and custom resources (from their definitions) both speak it, so that
 * pruning, defaulting, validation, strategic merge and apply are each written once. Nodes are shared and frozen in
 * spirit: nobody changes one.
 */
import type { JsonValue } from '@evenkeel/cel/primitives'

export type ListType = 'atomic' | 'set' | 'map'

export interface SchemaNode {
  /** The name of a definition that stands here; {@link Definitions} knows it. Siblings other than `default` are extensions of this place. */
  readonly $ref?: string
  /** Upstream wraps a reference that has siblings: always one element, a reference. */
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

/** Finds a definition by the name a reference gives; undefined when there is none. */
export type Definitions = (name: string) => SchemaNode | undefined

/** A schema together with what its references mean. */
export interface Schema {
  /** What its definitions call the root, if they do. */
  readonly name?: string
  readonly root: SchemaNode
  readonly definitions: Definitions
}
