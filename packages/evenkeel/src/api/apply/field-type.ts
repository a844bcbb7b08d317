/**
 * The types of server-side apply: which fields of a schema are atomic, and which keys identify the items of a list.
 *
 * A type may allow several kinds at once (int-or-string, or anything); the value decides which one applies. Types are
 * derived from the compiled schema by the rules of Kubernetes' OpenAPI conversion: `x-kubernetes-list-type` and
 * `-map-type` first, then the patch strategy. Lists without either are atomic, maps are granular. Where a schema
 * declares nothing, the type is deduced: maps are granular, lists atomic.
 *
 * Types are derived at their first use, as schemas may be recursive, and cached per compiled node.
 */
import { isJsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { compile, type CompiledSchema } from '../schema/compile.ts'
import type { Schema } from '../schema/schema.ts'

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface FieldType {
  readonly scalar?: ScalarKind | undefined
  readonly list?: ListOf | undefined
  readonly map?: MapOf | undefined
}

export interface ListOf {
  /** One leaf; otherwise a set of scalars, or of maps identified by `keys`. */
  readonly atomic: boolean
  readonly keys: readonly string[]
  readonly items: TypeSlot
}

export interface MapOf {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, FieldSlot>
  /** The type of undeclared fields; absent when none are allowed. */
  readonly others: TypeSlot | undefined
  /** Nothing is declared and everything is allowed: a change of the schema cannot be detected here. */
  readonly deduced: boolean
  /**
   * The values that Go encodes for omitted fields: built-in kinds are structs there, and some of their fields are never
   * omitted.
   */
  readonly always: ReadonlyMap<string, JsonValue>
}

/** A type that is derived at its first use. */
class TypeSlot {
  readonly #make: () => FieldType
  #type: FieldType | undefined

  constructor(make: () => FieldType) {
    this.#make = make
  }

  get type(): FieldType {
    return (this.#type ??= this.#make())
  }
}

class FieldSlot extends TypeSlot {
  /** The value of a missing key of a list item. */
  readonly default: JsonValue | undefined

  constructor(make: () => FieldType, value: JsonValue | undefined) {
    super(make)
    this.default = value
  }
}

/** Any value, atomic. */
const untyped: FieldType = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeSlot(() => untyped) },
  map: { atomic: true, fields: new Map(), others: new TypeSlot(() => untyped), deduced: false, always: new Map() },
}

/** Any value: maps are granular, lists atomic. */
const deduced: FieldType = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeSlot(() => untyped) },
  map: { atomic: false, fields: new Map(), others: new TypeSlot(() => deduced), deduced: true, always: new Map() },
}

const roots = new WeakMap<Schema, FieldType>()

/** The type of the objects of a schema; without a schema it is deduced from the values. */
export function fieldTypeOf(schema: Schema | undefined): FieldType {
  if (schema === undefined) return deduced
  let type = roots.get(schema)
  if (!type) roots.set(schema, (type = typeAt(compile(schema), { preserve: false, struct: false })))
  return type
}

/** The type of a field of a map; undefined when the field is not allowed. */
export function typeOfField(map: MapOf, name: string): FieldType | undefined {
  return (map.fields.get(name) ?? map.others)?.type
}

interface Context {
  /** An enclosing schema preserves unknown fields, and so do all unnamed schemas inside it. */
  readonly preserve: boolean
  /** The schema has a name: it is a Go struct of a built-in kind. */
  readonly struct: boolean
}

/** The types of one compiled node, by the context that its parents add: see {@link typeAt}. */
const types = new WeakMap<CompiledSchema, Map<string, FieldType>>()

function typeAt(schema: CompiledSchema, context: Context): FieldType {
  const { target, typeName } = schema
  const struct = typeName !== ''
  const preserve = !struct && context.preserve
  const mapType = target === schema ? undefined : schema.mapType
  const variant = `${preserve} ${typeName} ${mapType ?? ''}`
  let variants = types.get(target)
  if (!variants) types.set(target, (variants = new Map()))
  let type = variants.get(variant)
  if (!type) variants.set(variant, (type = override(typeOfNode(target, typeName, { preserve, struct }), mapType)))
  return type
}

/** A field overrides the map type of the definition it refers to. */
function override(type: FieldType, mapType: 'atomic' | 'granular' | undefined): FieldType {
  if (mapType === undefined || !type.map) return type
  return { ...type, map: { ...type.map, atomic: mapType === 'atomic' } }
}

function typeOfNode(node: CompiledSchema, name: string, context: Context): FieldType {
  if (/(?:^|\.)Quantity$/.test(name)) return { scalar: 'untyped' }
  if (/(?:^|\.)RawExtension$/.test(name)) return untyped
  const inside = node.preservesUnknown ? { ...context, preserve: true } : context
  switch (node.type) {
    case undefined:
      return { scalar: 'untyped', list: listOf(node, inside), map: mapOf(node, inside) }
    case 'object':
      return { map: mapOf(node, inside) }
    case 'array':
      return { list: listOf(node, inside) }
    case 'integer':
    case 'number':
      return { scalar: 'numeric' }
    case 'boolean':
      return { scalar: 'boolean' }
    default:
      return {
        scalar: isPlainText(node) ? 'string' : 'untyped',
      }
  }
}

function listOf(node: CompiledSchema, context: Context): ListOf {
  const { items } = node
  return {
    ...relationOf(node),
    items: items ? new TypeSlot(() => typeAt(items, context)) : new TypeSlot(() => untyped),
  }
}

function relationOf(node: CompiledSchema): Pick<ListOf, 'atomic' | 'keys'> {
  switch (node.listType) {
    case 'atomic':
      return { atomic: true, keys: [] }
    case 'set':
      return { atomic: false, keys: [] }
    case 'map':
      return { atomic: false, keys: node.listMapKeys }
    case undefined:
      break
  }
  const { patchStrategy: strategy, patchMergeKey: key } = node
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { atomic: true, keys: [] }
  return { atomic: false, keys: key === '' ? [] : [key] }
}

function mapOf(node: CompiledSchema, context: Context): MapOf {
  const fields = new Map(
    [...(node.properties ?? [])].map(([name, field]) => [
      name,
      new FieldSlot(() => typeAt(field, context), field.default),
    ]),
  )
  const others = othersOf(node, context)
  const always = context.struct ? alwaysOf(node) : new Map<string, JsonValue>()
  return {
    atomic: node.mapType === 'atomic',
    fields,
    others: others.slot,
    deduced: fields.size === 0 && others.deduced,
    always,
  }
}

/** Structs that are not pointers have the default `{}`; required fields have no `omitempty`. */
function alwaysOf({ properties, required }: CompiledSchema): Map<string, JsonValue> {
  const always = new Map<string, JsonValue>()
  for (const [name, field] of properties ?? []) {
    const { target } = field
    if (isJsonObject(field.default) && target !== field && target.type === 'object') always.set(name, {})
    else if (required.includes(name)) always.set(name, zeroOf(field))
  }
  return always
}

function zeroOf(field: CompiledSchema): JsonValue {
  const { target } = field
  if (target !== field) return target.type === 'string' && field.default !== undefined ? '' : null
  if (field.type === 'integer' || field.type === 'number') return 0
  if (field.type === 'boolean') return false
  return field.type === 'string' && field.formatName !== 'byte' ? '' : null
}

function othersOf(node: CompiledSchema, context: Context): { slot: TypeSlot | undefined; deduced: boolean } {
  const { additional, allowsAdditional, properties } = node
  if (additional)
    return {
      slot: new TypeSlot(() => typeAt(additional, context)),
      deduced: !additional.isReference && isUntypedScalar(additional),
    }
  const free = allowsAdditional ?? (context.preserve || (properties?.size ?? 0) === 0)
  return { slot: free ? new TypeSlot(() => deduced) : undefined, deduced: free }
}

function isUntypedScalar(node: CompiledSchema): boolean {
  return node.type === undefined || (node.type === 'string' && !isPlainText(node))
}

/** Strings of other formats are compared like any value. */
function isPlainText({ formatName = '' }: CompiledSchema): boolean {
  return formatName === '' || formatName === 'byte'
}
