/**
 * What a schema means to an expression: the type to check with, how to read JSON as values, and how large those can get,
 * which cost estimates need.
 *
 * A place whose type no schema tells is not visible to expressions at all: `schemaType` gives undefined, and a property, item
 * or map of it disappears with it. Objects whose unknown fields are preserved show only the fields they declare.
 */
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  escapeName,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
  type Adapt,
  type DeclType,
} from '@evenkeel/cel'
import { utf8Length } from '@evenkeel/cel/primitives'
import { jsonAdapter, withObjectMeta } from './cel-values.ts'
import { resolveSchema, type Schema, type SchemaNode } from './schema.ts'

export interface DeclTypeOptions {
  /**
   * The root of an object: `apiVersion`, `kind` and the names in `metadata` are visible even if the schema does not tell them.
   *
   * @default false
   */
  isResource?: boolean
  /**
   * What messages call the type.
   *
   * @default 'object'
   */
  name?: string
}

/** The type of values a schema describes; undefined when expressions cannot see them. */
export function schemaDeclType(
  { root, definitions }: Schema,
  { isResource = false, name = 'object' }: DeclTypeOptions = {},
): DeclType | undefined {
  return new DeclTypeBuilder((node) => resolveSchema(node, definitions).node).build(root, { isResource, name })
}

const requestSizeMax = 3 * 1024 * 1024

interface DeclTypeContext {
  readonly isResource: boolean
  readonly name: string
}

class DeclTypeBuilder {
  readonly #follow: (node: SchemaNode) => SchemaNode
  readonly #open = new Set<SchemaNode>()

  constructor(follow: (node: SchemaNode) => SchemaNode) {
    this.#follow = follow
  }

  build(written: SchemaNode, place: DeclTypeContext): DeclType | undefined {
    const node = this.#follow(written)
    // Schemas of our own kinds may contain themselves; expressions then see anything there.
    if (this.#open.has(node))
      return {
        type: dynType,
        adapt: jsonAdapter({ 'x-kubernetes-preserve-unknown-fields': true }, this.#follow),
        maxElements: 0,
        minSerializedSize: 1,
      }
    this.#open.add(node)
    const result = this.#typeOf(place.isResource ? withObjectMeta(node) : node, place)
    this.#open.delete(node)
    return result
  }

  #typeOf(node: SchemaNode, { name }: DeclTypeContext): DeclType | undefined {
    const adapt = jsonAdapter(node, this.#follow)
    if (node['x-kubernetes-int-or-string']) {
      return {
        type: dynType,
        adapt,
        maxElements: node.maxLength === undefined ? requestSizeMax - 2 : fromLength(node.maxLength),
        minSerializedSize: 1,
      }
    }
    switch (node.type) {
      case 'array':
        return this.#array(node, { name, adapt })
      case 'object':
        return this.#object(node, { name, adapt })
      case 'string':
        return { ...stringLike(node), adapt }
      case 'boolean':
        return { type: boolType, adapt, maxElements: 0, minSerializedSize: 4 }
      case 'number':
        return { type: doubleType, adapt, maxElements: 0, minSerializedSize: 1 }
      case 'integer':
        return { type: intType, adapt, maxElements: 0, minSerializedSize: 1 }
      default:
        return undefined
    }
  }

  #child(node: SchemaNode, name: string): DeclType | undefined {
    return this.build(node, { isResource: node['x-kubernetes-embedded-resource'] ?? false, name })
  }

  #array({ items, maxItems }: SchemaNode, { name, adapt }: { name: string; adapt: Adapt }): DeclType | undefined {
    const element = items && this.#child(items, `${name}.@idx`)
    if (!element) return undefined
    const maxElements =
      maxItems === undefined
        ? Math.floor((requestSizeMax - 2) / (element.minSerializedSize + 1))
        : Math.max(0, maxItems)
    return { type: listOf(element.type), adapt, maxElements, minSerializedSize: 2, element }
  }

  #object(node: SchemaNode, { name, adapt }: { name: string; adapt: Adapt }): DeclType | undefined {
    const { additionalProperties } = node
    if (typeof additionalProperties === 'object') return this.#map(additionalProperties, node, { name, adapt })
    const fields = new Map<string, DeclType>()
    let minSize = 2
    for (const [property, schema] of Object.entries(node.properties ?? {})) {
      const escaped = escapeName(property)
      const field = this.#child(schema, `${name}.${escaped ?? property}`)
      if (!field) continue
      if (escaped !== undefined) fields.set(escaped, field)
      if (node.required?.includes(property) && schema.default === undefined)
        minSize += utf8Length(property) + field.minSerializedSize + 4
    }
    const types = new Map([...fields].map(([field, { type }]) => [field, type]))
    return { type: objectType(name, types), adapt, maxElements: 0, minSerializedSize: minSize, fields }
  }

  #map(
    values: SchemaNode,
    { maxProperties }: SchemaNode,
    { name, adapt }: { name: string; adapt: Adapt },
  ): DeclType | undefined {
    const element = this.#child(values, `${name}.@elem`)
    if (!element) return undefined
    const maxElements =
      maxProperties === undefined
        ? Math.floor((requestSizeMax - 2) / (element.minSerializedSize + 6))
        : Math.max(0, maxProperties)
    const key: DeclType = { type: stringType, adapt, maxElements: 0, minSerializedSize: 2 }
    return { type: mapOf(stringType, element.type), adapt, maxElements, minSerializedSize: 2, key, element }
  }
}

/** `maxLength` counts characters, of up to four bytes each. */
function fromLength(maxLength: number): number {
  return Math.max(0, maxLength) * 4
}

function stringLike(node: SchemaNode): Pick<DeclType, 'type' | 'maxElements' | 'minSerializedSize'> {
  switch (node.format) {
    case 'byte':
      return {
        type: bytesType,
        maxElements: node.maxLength === undefined ? requestSizeMax - 2 : Math.max(0, node.maxLength),
        minSerializedSize: 2,
      }
    case 'duration':
      return { type: durationType, maxElements: 32, minSerializedSize: 3 }
    case 'date':
      return { type: timestampType, maxElements: 12, minSerializedSize: 12 }
    case 'date-time':
      return { type: timestampType, maxElements: 32, minSerializedSize: 21 }
    default:
      return { type: stringType, maxElements: stringLength(node), minSerializedSize: 2 }
  }
}

function stringLength(node: SchemaNode): number {
  if (node.maxLength !== undefined) return fromLength(node.maxLength)
  if (node.enum === undefined || node.enum.length === 0) return requestSizeMax - 2
  return node.enum.reduce<number>(
    (longest, value) => Math.max(longest, typeof value === 'string' ? utf8Length(value) : 0),
    0,
  )
}
