/**
 * The Go types of a built-in kind, derived from its compiled schema: what decoding needs to know about each value.
 *
 *     struct  named fields, each with a slot    map   any key, one slot       raw   any value, left as it is
 *     list    one slot for all items            scalar  reads one value
 *
 * A slot derives its type when it is first read: types may contain themselves, and most of a Pod is never used. One
 * definition has one type, so that of PodSpec is shared by Pods, Deployments and all other kinds of a server.
 */
import { compile, type CompiledSchema } from './compile.ts'
import { scalars, type Scalar } from './scalars.ts'
import type { Schema } from './schema.ts'

export type GoType =
  | {
      readonly kind: 'struct'
      readonly name: string
      readonly type: string
      readonly fields: ReadonlyMap<string, Slot>
    }
  | { readonly kind: 'map'; readonly values: Slot }
  | { readonly kind: 'list'; readonly items: Slot }
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'raw' }

/** Where values of one type stand. */
interface Slot {
  readonly required: boolean
  readonly type: GoType
}

/** A field, the items of a list or the values of a map: where values of one type stand. */
class GoTypeSlot implements Slot {
  /** Shown also when it is empty; an empty list or map of any other field is left out. */
  readonly required: boolean
  readonly #schema: CompiledSchema
  #type: GoType | undefined

  constructor(schema: CompiledSchema, { required = false }: { required?: boolean } = {}) {
    this.required = required
    this.#schema = schema
  }

  get type(): GoType {
    return (this.#type ??= goTypeAt(this.#schema))
  }
}

/** The type of the objects a schema describes. */
export function goTypeOf(schema: Schema): GoType {
  let type = roots.get(schema)
  if (!type) roots.set(schema, (type = goTypeAt(compile(schema))))
  return type
}

const roots = new WeakMap<Schema, GoType>()
const types = new WeakMap<CompiledSchema, GoType>()

/** The name of a type as Go writes it: `[]v1.Container`, `map[string]string`. */
export function goTypeName(type: GoType): string {
  switch (type.kind) {
    case 'struct':
      return type.type
    case 'map':
      return `map[string]${goTypeName(type.values.type)}`
    case 'list':
      return `[]${goTypeName(type.items.type)}`
    case 'scalar':
      return type.scalar.type
    case 'raw':
      return 'interface {}'
  }
}

function goTypeAt(schema: CompiledSchema): GoType {
  const { target, typeName } = schema
  let type = types.get(target)
  if (!type) types.set(target, (type = deriveType(target, typeName)))
  return type
}

function deriveType(schema: CompiledSchema, name: string): GoType {
  if (schema.isIntOrString || schema.formatName === 'int-or-string')
    return { kind: 'scalar', scalar: scalars.intOrString }
  if (schema.alternatives?.one.some(({ type }) => type === 'number') === true)
    return { kind: 'scalar', scalar: scalars.quantity }
  switch (schema.type) {
    case 'array':
      return schema.items ? { kind: 'list', items: new GoTypeSlot(schema.items) } : listOfAnything
    case 'object':
      return objectType(schema, name)
    case undefined:
      return schema.properties === undefined ? { kind: 'raw' } : objectType(schema, name)
    default:
      return { kind: 'scalar', scalar: scalarOf(schema, name) }
  }
}

const listOfAnything: GoType = { kind: 'list', items: { required: false, type: { kind: 'raw' } } }

function objectType(schema: CompiledSchema, name: string): GoType {
  const { properties, additional, allowsAdditional } = schema
  if (properties === undefined && allowsAdditional === undefined && isRaw(name)) return { kind: 'raw' }
  if (properties === undefined && additional) return { kind: 'map', values: new GoTypeSlot(additional) }
  if ((allowsAdditional === true && !additional) || schema.preservesUnknown) return { kind: 'raw' }
  const fields = new Map(
    [...(properties ?? [])].map(([key, field]) => [
      key,
      new GoTypeSlot(field, { required: schema.required.includes(key) }),
    ]),
  )
  const [type = ''] = /[^.]*\.?[^.]*$/.exec(name) ?? []
  return { kind: 'struct', name: type.slice(type.indexOf('.') + 1), type, fields }
}

/** An object that declares nothing about its fields is left as it is, except for the few empty structs, which have names. */
function isRaw(name: string): boolean {
  return name === '' || /\.(?:RawExtension|FieldsV1|Patch)$/.test(name)
}

function scalarOf({ type, formatName }: CompiledSchema, name: string): Scalar {
  switch (type) {
    case 'boolean':
      return scalars.boolean
    case 'number':
      return scalars.float
    case 'integer':
      return formatName === 'int32' ? scalars.int32 : scalars.int64
    default:
      break
  }
  if (formatName === 'byte') return scalars.bytes
  if (formatName !== 'date-time') return scalars.string
  return name.endsWith('.MicroTime') ? scalars.microTime : scalars.time
}
