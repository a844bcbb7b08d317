/**
 * How values of a schema are owned and merged: which of them are leaves, and what tells items of a list apart.
 *
 * A type may allow several kinds at once (int-or-string, or anything at all); which one counts is decided by the value.
 * Types are made from schemas by the rules of Kubernetes' own OpenAPI conversion: `x-kubernetes-list-type` and
 * `-map-type` first, then the patch strategy; lists without either are atomic, maps without are not. What a schema
 * says nothing about gets the deduced type: maps by key, lists as one leaf.
 *
 * Types are made when first needed, as schemas may contain themselves, and kept per set of definitions.
 */
import { isJsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { resolveSchema, type Definitions, type Schema, type SchemaNode } from '../schema/schema.ts'

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface FieldType {
  readonly scalar?: ScalarKind | undefined
  readonly list?: ListOf | undefined
  readonly map?: MapOf | undefined
}

export interface ListOf {
  /** One leaf; otherwise a set of scalars, or of maps told apart by `keys`. */
  readonly atomic: boolean
  readonly keys: readonly string[]
  readonly items: TypeSlot
}

export interface MapOf {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, FieldSlot>
  /** The type of undeclared fields; absent when there may be none. */
  readonly others: TypeSlot | undefined
  /** Nothing is declared and anything goes: a change of schema cannot be seen here. */
  readonly deduced: boolean
  /** What Go writes for fields that are not said: built-in kinds are structs there, and some of their fields are never left out. */
  readonly always: ReadonlyMap<string, JsonValue>
}

/** A place where values of one type stand. */
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
  /** Stands in for a missing key of a list item. */
  readonly default: JsonValue | undefined

  constructor(make: () => FieldType, value: JsonValue | undefined) {
    super(make)
    this.default = value
  }
}

/** Anything, as one leaf. */
const untyped: FieldType = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeSlot(() => untyped) },
  map: { atomic: true, fields: new Map(), others: new TypeSlot(() => untyped), deduced: false, always: new Map() },
}

/** Anything: maps by key, lists as one leaf. */
const deduced: FieldType = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], items: new TypeSlot(() => untyped) },
  map: { atomic: false, fields: new Map(), others: new TypeSlot(() => deduced), deduced: true, always: new Map() },
}

const roots = new WeakMap<Schema, FieldType>()

/** The type of the objects a schema describes; without a schema it is deduced from the values. */
export function fieldTypeOf(schema: Schema | undefined): FieldType {
  if (schema === undefined) return deduced
  let type = roots.get(schema)
  if (!type)
    roots.set(
      schema,
      (type = typeAt(schema.name === undefined ? schema.root : { $ref: schema.name }, {
        definitions: schema.definitions,
        preserve: false,
        struct: false,
      })),
    )
  return type
}

/** The type of a field of a map; undefined when there may be no such field. */
export function typeOfField(map: MapOf, name: string): FieldType | undefined {
  return (map.fields.get(name) ?? map.others)?.type
}

interface Context {
  readonly definitions: Definitions
  /** Some schema around this one keeps unknown fields, and so do all that stand inside it without a name. */
  readonly preserve: boolean
  /** The schema has a name: a Go type, not one that somebody declared. */
  readonly struct: boolean
}

type Cache = Map<string, WeakMap<SchemaNode, FieldType>>
const caches = new WeakMap<Definitions, Cache>()

function typeAt(place: SchemaNode, context: Context): FieldType {
  const { node, name } = resolveSchema(place, context.definitions)
  const preserve = name === undefined && context.preserve
  const mapType = node === place ? undefined : place['x-kubernetes-map-type']
  const kept = cacheFor(context.definitions, `${preserve} ${name ?? ''} ${mapType ?? ''}`)
  let type = kept.get(node)
  if (!type)
    kept.set(
      node,
      (type = override(
        typeOfNode(node, name ?? '', { definitions: context.definitions, preserve, struct: name !== undefined }),
        mapType,
      )),
    )
  return type
}

function cacheFor(definitions: Definitions, variant: string): WeakMap<SchemaNode, FieldType> {
  let cache = caches.get(definitions)
  if (!cache) caches.set(definitions, (cache = new Map()))
  let kept = cache.get(variant)
  if (!kept) cache.set(variant, (kept = new WeakMap()))
  return kept
}

/** A field may say otherwise than the type it refers to. */
function override(type: FieldType, mapType: 'atomic' | 'granular' | undefined): FieldType {
  if (mapType === undefined || !type.map) return type
  return { ...type, map: { ...type.map, atomic: mapType === 'atomic' } }
}

function typeOfNode(node: SchemaNode, name: string, context: Context): FieldType {
  if (/(?:^|\.)Quantity$/.test(name)) return { scalar: 'untyped' }
  if (/(?:^|\.)RawExtension$/.test(name)) return untyped
  const inside = node['x-kubernetes-preserve-unknown-fields'] === true ? { ...context, preserve: true } : context
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
        scalar: node.format === undefined || node.format === '' || node.format === 'byte' ? 'string' : 'untyped',
      }
  }
}

function listOf(node: SchemaNode, context: Context): ListOf {
  const { items } = node
  return {
    ...relationOf(node),
    items: items ? new TypeSlot(() => typeAt(items, context)) : new TypeSlot(() => untyped),
  }
}

function relationOf(node: SchemaNode): Pick<ListOf, 'atomic' | 'keys'> {
  const strategy = node['x-kubernetes-patch-strategy']
  switch (node['x-kubernetes-list-type']) {
    case 'atomic':
      return { atomic: true, keys: [] }
    case 'set':
      return { atomic: false, keys: [] }
    case 'map':
      return { atomic: false, keys: node['x-kubernetes-list-map-keys'] ?? [] }
    case undefined:
      break
  }
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { atomic: true, keys: [] }
  const key = node['x-kubernetes-patch-merge-key']
  return { atomic: false, keys: key === undefined ? [] : [key] }
}

function mapOf(node: SchemaNode, context: Context): MapOf {
  const fields = new Map(
    Object.entries(node.properties ?? {}).map(([name, place]) => [
      name,
      new FieldSlot(() => typeAt(place, context), place.default),
    ]),
  )
  const others = othersOf(node, context)
  const always = context.struct ? alwaysOf(node, context.definitions) : new Map<string, JsonValue>()
  return {
    atomic: node['x-kubernetes-map-type'] === 'atomic',
    fields,
    others: others.slot,
    deduced: fields.size === 0 && others.deduced,
    always,
  }
}

/** Structs that are no pointers have the default `{}`; what is required has no `omitempty`. */
function alwaysOf({ properties = {}, required = [] }: SchemaNode, definitions: Definitions): Map<string, JsonValue> {
  const always = new Map<string, JsonValue>()
  for (const [name, place] of Object.entries(properties)) {
    const { node } = resolveSchema(place, definitions)
    if (isJsonObject(place.default) && node !== place && node.type === 'object') always.set(name, {})
    else if (required.includes(name)) always.set(name, zeroOf(place, node))
  }
  return always
}

function zeroOf(place: SchemaNode, node: SchemaNode): JsonValue {
  if (node !== place) return node.type === 'string' && place.default !== undefined ? '' : null
  if (node.type === 'integer' || node.type === 'number') return 0
  if (node.type === 'boolean') return false
  return node.type === 'string' && node.format !== 'byte' ? '' : null
}

function othersOf(node: SchemaNode, context: Context): { slot: TypeSlot | undefined; deduced: boolean } {
  const { additionalProperties: additional, properties = {} } = node
  if (typeof additional === 'object') {
    const named = additional.$ref !== undefined || additional.allOf?.[0]?.$ref !== undefined
    return { slot: new TypeSlot(() => typeAt(additional, context)), deduced: !named && isUntypedScalar(additional) }
  }
  const free = additional ?? (context.preserve || Object.keys(properties).length === 0)
  return { slot: free ? new TypeSlot(() => deduced) : undefined, deduced: free }
}

function isUntypedScalar({ type, format }: SchemaNode): boolean {
  return type === undefined || (type === 'string' && format !== undefined && format !== '' && format !== 'byte')
}
