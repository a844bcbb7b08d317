/**
 * A schema, prepared for walking objects with it: what Go's types would be.
 *
 *     struct  named fields, each with a slot    map   any key, one slot       raw   anything, untouched
 *     list    one slot for all items            scalar  reads one value
 *
 * A slot finds its shape when it is first needed: schemas may contain themselves, and most of a Pod is never used.
 * Shapes are kept per set of definitions, so PodSpec is prepared once for Pods, Deployments and the rest.
 */
import { scalars, type Scalar } from './scalars.ts'
import { resolveSchema, type Definitions, type ResolvedSchema, type Schema, type SchemaNode } from './schema.ts'

export type GoType =
  | {
      readonly kind: 'struct'
      readonly name: string
      readonly type: string
      readonly fields: ReadonlyMap<string, GoTypeSlot>
    }
  | { readonly kind: 'map'; readonly values: GoTypeSlot }
  | { readonly kind: 'list'; readonly items: GoTypeSlot }
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'raw' }

/** A place where values of one shape stand. */
class GoTypeSlot {
  /** Shown also when it is empty; an empty list or map of any other field is as good as none. */
  readonly required: boolean
  readonly #place: SchemaNode
  readonly #definitions: Definitions
  #shape: GoType | undefined

  constructor(place: SchemaNode, definitions: Definitions, { required = false }: { required?: boolean } = {}) {
    this.required = required
    this.#place = place
    this.#definitions = definitions
  }

  get type(): GoType {
    return (this.#shape ??= goTypeAt(this.#place, this.#definitions))
  }
}

/** The shape of the objects a schema describes. */
export function goTypeOf(schema: Schema): GoType {
  let shape = roots.get(schema)
  if (!shape)
    roots.set(
      schema,
      (shape = goTypeAt(schema.name === undefined ? schema.root : { $ref: schema.name }, schema.definitions)),
    )
  return shape
}

const roots = new WeakMap<Schema, GoType>()

/** The type of a shape as Go writes it: `[]v1.Container`, `map[string]string`. */
export function goTypeName(shape: GoType): string {
  switch (shape.kind) {
    case 'struct':
      return shape.type
    case 'map':
      return `map[string]${goTypeName(shape.values.type)}`
    case 'list':
      return `[]${goTypeName(shape.items.type)}`
    case 'scalar':
      return shape.scalar.type
    case 'raw':
      return 'interface {}'
  }
}

const cache = new WeakMap<Definitions, WeakMap<SchemaNode, GoType>>()

function goTypeAt(place: SchemaNode, definitions: Definitions): GoType {
  const resolved = resolveSchema(place, definitions)
  let known = cache.get(definitions)
  if (!known) cache.set(definitions, (known = new WeakMap()))
  let shape = known.get(resolved.node)
  if (!shape) known.set(resolved.node, (shape = prepare(resolved, definitions)))
  return shape
}

function prepare({ node, name = '' }: ResolvedSchema, definitions: Definitions): GoType {
  if (node['x-kubernetes-int-or-string'] === true || node.format === 'int-or-string')
    return { kind: 'scalar', scalar: scalars.intOrString }
  if (node.oneOf?.some(({ type }) => type === 'number') === true) return { kind: 'scalar', scalar: scalars.quantity }
  switch (node.type) {
    case 'array':
      return { kind: 'list', items: new GoTypeSlot(node.items ?? {}, definitions) }
    case 'object':
      return objectGoType(node, name, definitions)
    case undefined:
      return node.properties === undefined ? { kind: 'raw' } : objectGoType(node, name, definitions)
    default:
      return { kind: 'scalar', scalar: scalarOf(node, name) }
  }
}

function objectGoType(node: SchemaNode, name: string, definitions: Definitions): GoType {
  if (node.properties === undefined && node.additionalProperties === undefined && isRaw(name)) return { kind: 'raw' }
  if (node.properties === undefined && typeof node.additionalProperties === 'object') {
    return { kind: 'map', values: new GoTypeSlot(node.additionalProperties, definitions) }
  }
  if (node.additionalProperties === true || node['x-kubernetes-preserve-unknown-fields'] === true)
    return { kind: 'raw' }
  const fields = new Map(
    Object.entries(node.properties ?? {}).map(([key, place]) => [
      key,
      new GoTypeSlot(place, definitions, { required: node.required?.includes(key) ?? false }),
    ]),
  )
  const [type = ''] = /[^.]*\.?[^.]*$/.exec(name) ?? []
  return { kind: 'struct', name: type.slice(type.indexOf('.') + 1), type, fields }
}

/** An object without any word about its fields is a value passed through, except for the few empty structs, which have names. */
function isRaw(name: string): boolean {
  return name === '' || /\.(?:RawExtension|FieldsV1|Patch)$/.test(name)
}

function scalarOf(node: SchemaNode, name: string): Scalar {
  switch (node.type) {
    case 'boolean':
      return scalars.boolean
    case 'number':
      return scalars.float
    case 'integer':
      return node.format === 'int32' ? scalars.int32 : scalars.int64
    default:
      break
  }
  if (node.format === 'byte') return scalars.bytes
  if (node.format !== 'date-time') return scalars.string
  return name.endsWith('.MicroTime') ? scalars.microTime : scalars.time
}
