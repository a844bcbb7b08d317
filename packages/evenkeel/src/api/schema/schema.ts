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

/*
 * From a place in a schema to what stands there: references and their wrappers are followed.
 *
 *     { allOf: [{ $ref: 'a.v1.Spec' }], default: {} }  ──▶  the node of `a.v1.Spec`, and that name
 *
 * What was found is kept per set of definitions, which all kinds of one server share. Extensions and defaults of the
 * place itself stay with the place: whoever wants them reads them there first.
 */

export interface ResolvedSchema {
  readonly node: SchemaNode
  /** The last definition on the way, `io.k8s.api.core.v1.Pod`; absent when the node stands for itself. */
  readonly name?: string
}

/**
 * The node that stands at a place.
 *
 * @throws {RangeError} when a reference leads nowhere or in a circle: schemas are ours, so that is a mistake of ours.
 */
export function resolveSchema(place: SchemaNode, definitions: Definitions): ResolvedSchema {
  if (place.$ref === undefined && place.allOf === undefined) return { node: place }
  let known = cache.get(definitions)
  if (!known) cache.set(definitions, (known = new WeakMap()))
  let resolved = known.get(place)
  if (!resolved) known.set(place, (resolved = follow(place, definitions)))
  return resolved
}

const cache = new WeakMap<Definitions, WeakMap<SchemaNode, ResolvedSchema>>()

/** More steps than any schema needs; a circle has no end. */
const stepsMax = 32

function follow(place: SchemaNode, definitions: Definitions): ResolvedSchema {
  let resolved: ResolvedSchema = { node: place }
  for (let step = 0; step < stepsMax; step++) {
    const next = nextStep(resolved.node, definitions)
    if (next === undefined) return resolved
    resolved = next.name === undefined && resolved.name !== undefined ? { ...next, name: resolved.name } : next
  }
  throw new RangeError(`the reference ${place.$ref ?? '(in allOf)'} leads in a circle`)
}

function nextStep(node: SchemaNode, definitions: Definitions): ResolvedSchema | undefined {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1)
    const target = definitions(name)
    if (target === undefined) throw new RangeError(`there is no schema ${name}`)
    return { node: target, name }
  }
  // Custom resources use allOf for more conditions on the same value; they have no references.
  const [only] = node.allOf ?? []
  return only?.$ref !== undefined && node.allOf?.length === 1 ? { node: only } : undefined
}
