/**
 * The CEL type of a schema: the type to check expressions with, how to read JSON as CEL values, and how large values can
 * get, which cost estimates need.
 *
 * A value whose type the schema does not declare is not visible to expressions: `schemaDeclType` returns undefined, and the
 * property, list or map that contains it is invisible, too. Objects that preserve unknown fields show only declared fields.
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
import { compile, CompiledSchema, compileSchema, type SchemaLimits } from './compile.ts'
import type { Schema } from './schema.ts'

interface DeclTypeOptions {
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
  schema: Schema | CompiledSchema,
  { isResource = false, name = 'object' }: DeclTypeOptions = {},
): DeclType | undefined {
  const compiled = schema instanceof CompiledSchema ? schema : compile(schema)
  return new DeclTypeBuilder().build(compiled, { isResource, name })
}

const anything = compileSchema({ 'x-kubernetes-preserve-unknown-fields': true })
const requestSizeMax = 3 * 1024 * 1024

interface DeclTypeContext {
  readonly isResource: boolean
  readonly name: string
}

class DeclTypeBuilder {
  readonly #open = new Set<CompiledSchema>()

  build(schema: CompiledSchema, place: DeclTypeContext): DeclType | undefined {
    const node = schema.target
    // Schemas of built-in kinds may contain themselves; expressions then see anything there.
    if (this.#open.has(node))
      return { type: dynType, adapt: jsonAdapter(anything), maxElements: 0, minSerializedSize: 1 }
    this.#open.add(node)
    const result = this.#typeOf(place.isResource ? withObjectMeta(node) : node, place)
    this.#open.delete(node)
    return result
  }

  #typeOf(node: CompiledSchema, { name }: DeclTypeContext): DeclType | undefined {
    const adapt = jsonAdapter(node)
    const { maxLength } = node.limits
    if (node.isIntOrString) {
      return {
        type: dynType,
        adapt,
        maxElements: maxLength === undefined ? requestSizeMax - 2 : fromLength(maxLength),
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

  #child(node: CompiledSchema, name: string): DeclType | undefined {
    return this.build(node, { isResource: node.isEmbedded, name })
  }

  #array(
    { items, limits: { maxItems } }: CompiledSchema,
    { name, adapt }: { name: string; adapt: Adapt },
  ): DeclType | undefined {
    const element = items && this.#child(items, `${name}.@idx`)
    if (!element) return undefined
    const maxElements =
      maxItems === undefined
        ? Math.floor((requestSizeMax - 2) / (element.minSerializedSize + 1))
        : Math.max(0, maxItems)
    return { type: listOf(element.type), adapt, maxElements, minSerializedSize: 2, element }
  }

  #object(node: CompiledSchema, { name, adapt }: { name: string; adapt: Adapt }): DeclType | undefined {
    if (node.additional) return this.#map(node.additional, node.limits, { name, adapt })
    const fields = new Map<string, DeclType>()
    let minSize = 2
    for (const [property, schema] of node.properties ?? []) {
      const escaped = escapeName(property)
      const field = this.#child(schema, `${name}.${escaped ?? property}`)
      if (!field) continue
      if (escaped !== undefined) fields.set(escaped, field)
      if (node.required.includes(property) && schema.default === undefined)
        minSize += utf8Length(property) + field.minSerializedSize + 4
    }
    const types = new Map([...fields].map(([field, { type }]) => [field, type]))
    return { type: objectType(name, types), adapt, maxElements: 0, minSerializedSize: minSize, fields }
  }

  #map(
    values: CompiledSchema,
    { maxProperties }: SchemaLimits,
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

function stringLike({
  formatName,
  limits,
}: CompiledSchema): Pick<DeclType, 'type' | 'maxElements' | 'minSerializedSize'> {
  switch (formatName) {
    case 'byte':
      return {
        type: bytesType,
        maxElements: limits.maxLength === undefined ? requestSizeMax - 2 : Math.max(0, limits.maxLength),
        minSerializedSize: 2,
      }
    case 'duration':
      return { type: durationType, maxElements: 32, minSerializedSize: 3 }
    case 'date':
      return { type: timestampType, maxElements: 12, minSerializedSize: 12 }
    case 'date-time':
      return { type: timestampType, maxElements: 32, minSerializedSize: 21 }
    default:
      return { type: stringType, maxElements: stringLength(limits), minSerializedSize: 2 }
  }
}

function stringLength({ maxLength, enum: listed = [] }: SchemaLimits): number {
  if (maxLength !== undefined) return fromLength(maxLength)
  if (listed.length === 0) return requestSizeMax - 2
  return listed.reduce<number>(
    (longest, value) => Math.max(longest, typeof value === 'string' ? utf8Length(value) : 0),
    0,
  )
}
