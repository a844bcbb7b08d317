/**
 * Decodes an object of a built-in kind as Go's decoder and encoder would, in one pass over the parsed JSON.
 *
 * - A field that the schema does not declare is removed and reported.
 * - null is absent, and so are an empty list and an empty map in a field that is not required: the field is removed. In a
 *   list or a map null becomes the zero value of the type.
 * - Every scalar is checked and gets its canonical form. The first wrong one ends decoding.
 * - Names are matched exactly. Values without a schema (raw extensions, managed fields) stay as they are.
 *
 * The given object is not modified: a container is copied when something in it changes, which is rare, so a valid object
 * is usually returned as it is. Recursion is bounded by the nesting limit of the JSON parser.
 *
 * What Go's types would be is derived from the compiled schema:
 *
 *     struct  named fields, each with a slot    map   any key, one slot       raw   any value, left as it is
 *     list    one slot for all items            scalar  reads one value
 *
 * A slot derives its type when it is first read: types may contain themselves, and most of a Pod is never used. One
 * definition has one type, so that of PodSpec is shared by Pods, Deployments and all other kinds of a server.
 *
 * The messages of `fieldValidation` are here, too: one per field that a strict decoder objects to. They are warnings
 * (`Warn`) or one error (`Strict`).
 */
import {
  isJsonObject,
  quote,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import type { ApiError } from '../errors/api-error.ts'
import { badRequest } from '../errors/constructors.ts'
import { compile, type CompiledSchema } from './compile.ts'
import { DecodeError, scalars, wrongType, type Scalar } from './scalars.ts'
import type { Schema } from './schema.ts'

export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of removed fields, in the order of the text: `spec.containers[0].foo`. At most 100. */
  readonly unknown: readonly string[]
  /** The message about the first value of a wrong type; the object is then the one given. */
  readonly mistake?: string
}

type PathSteps = (string | number)[]

interface DecodeState {
  /** The path of the current value; after an error, that of the wrong value. */
  readonly steps: PathSteps
  readonly unknown: string[]
}

/** Prunes, checks and normalises an object. */
export function decodeObject(object: JsonObject, schema: Schema): DecodedObject {
  const type = goTypeOf(schema)
  const state: DecodeState = { steps: [], unknown: [] }
  try {
    return { object: visit(object, type, state) as JsonObject, unknown: state.unknown }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { object, unknown: state.unknown, mistake: describe(error, type, state.steps) }
  }
}

/** The error for a body that is no object of the kind it should be; `version` is without the group. */
export function cannotBeHandledError(kind: string, version: string, mistake: string): ApiError {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${mistake}`)
}

/** As many as kube-apiserver reports. */
const unknownMax = 100

function visit(value: JsonValue, type: GoType, state: DecodeState): JsonValue {
  switch (type.kind) {
    case 'scalar':
      return type.scalar.read(value)
    case 'struct':
      return visitStruct(value, type, state)
    case 'list':
      return visitList(value, type, state)
    case 'map':
      return visitMap(value, type, state)
    case 'raw':
      return value
  }
}

function visitStruct(value: JsonValue, type: GoType & { kind: 'struct' }, state: DecodeState): JsonValue {
  if (!isJsonObject(value)) throw wrongType(value, type.type)
  const depth = state.steps.length
  let draft: JsonObjectDraft | undefined
  for (const key of Object.keys(value)) {
    const slot = type.fields.get(key)
    const child = value[key]
    state.steps[depth] = key
    if (slot === undefined) note(state)
    const read =
      slot === undefined || child === null || child === undefined
        ? undefined
        : presentOf(visit(child, slot.type, state), slot)
    if (read !== child) draft = put(draft ?? { ...value }, key, read)
  }
  state.steps.length = depth
  return draft ?? value
}

// Go leaves empty lists and maps out, except where a field must be there.
function presentOf(
  value: JsonValue,
  { required, type: { kind } }: { required: boolean; type: GoType },
): JsonValue | undefined {
  if (required || (kind !== 'list' && kind !== 'map')) return value
  return isEmpty(value) ? undefined : value
}

function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0
  return Object.keys(value as JsonObject).length === 0
}

function visitMap(value: JsonValue, type: GoType & { kind: 'map' }, state: DecodeState): JsonValue {
  if (!isJsonObject(value)) throw wrongType(value, goTypeName(type))
  const values = type.values.type
  const depth = state.steps.length
  let draft: JsonObjectDraft | undefined
  for (const key of Object.keys(value)) {
    const child = value[key] ?? null
    state.steps[depth] = key
    const read = child === null ? zeroOf(values) : visit(child, values, state)
    if (read !== child) draft = put(draft ?? { ...value }, key, read)
  }
  state.steps.length = depth
  return draft ?? value
}

function visitList(value: JsonValue, type: GoType & { kind: 'list' }, state: DecodeState): JsonValue {
  if (!Array.isArray(value)) throw wrongType(value, goTypeName(type))
  const items = type.items.type
  const depth = state.steps.length
  let draft: JsonValue[] | undefined
  for (let index = 0; index < value.length; index++) {
    const item = (value as JsonArray)[index] ?? null
    state.steps[depth] = index
    const read = item === null ? zeroOf(items) : visit(item, items, state)
    if (read !== item) (draft ??= [...(value as JsonArray)])[index] = read
  }
  state.steps.length = depth
  return draft ?? value
}

function put(draft: JsonObjectDraft, key: string, value: JsonValue | undefined): JsonObjectDraft {
  if (value === undefined) delete draft[key]
  else setOwn(draft, key, value)
  return draft
}

function zeroOf(type: GoType): JsonValue {
  switch (type.kind) {
    case 'scalar':
      return type.scalar.zero
    case 'list':
      return []
    case 'raw':
      return null
    default:
      return {}
  }
}

function note({ steps, unknown }: DecodeState): void {
  if (unknown.length < unknownMax) unknown.push(formatSteps(steps))
}

function formatSteps(steps: Readonly<PathSteps>): string {
  let path = ''
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  return path
}

/** Go names the innermost struct and then the way to the field, without indices and without the keys of maps. */
function describe({ message, types }: DecodeError, root: GoType, steps: Readonly<PathSteps>): string {
  if (types === undefined) return message
  let struct = ''
  const fields: (string | number)[] = []
  let type: GoType | undefined = root
  for (const step of steps) {
    if (type?.kind === 'struct') {
      struct = type.name
      fields.push(step)
      type = type.fields.get(String(step))?.type
    } else if (type?.kind === 'list') type = type.items.type
    else if (type?.kind === 'map') type = type.values.type
  }
  const into = fields.length > 0 ? `Go struct field ${struct}.${fields.join('.')}` : 'Go value'
  return `json: cannot unmarshal ${types.found} into ${into} of type ${types.wanted}`
}

// Go types, derived from the compiled schema.

type GoType =
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
function goTypeOf(schema: Schema): GoType {
  let type = roots.get(schema)
  if (!type) roots.set(schema, (type = goTypeAt(compile(schema))))
  return type
}

const roots = new WeakMap<Schema, GoType>()
const types = new WeakMap<CompiledSchema, GoType>()

/** The name of a type as Go writes it: `[]v1.Container`, `map[string]string`. */
function goTypeName(type: GoType): string {
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

// Field validation: the messages about unknown and duplicate fields.

export interface StrictFindings {
  /** Paths of keys that occur twice. */
  readonly duplicates?: readonly string[]
  /** Paths of fields that the schema does not declare. */
  readonly unknown?: readonly string[]
  /** All paths in the order of the document; absent when duplicates come first. */
  readonly order?: readonly string[]
}

/** As many as kube-apiserver reports. */
const messagesMax = 100

/** The sentences: `duplicate field "metadata.labels.a"`, `unknown field "spec.foo"`. */
export function strictDecodingMessages({ duplicates = [], unknown = [], order }: StrictFindings): string[] {
  // What lies in an unknown field is not looked at, so a key twice in there, or such a field twice, is no second finding.
  const counted =
    unknown.length === 0 ? duplicates : duplicates.filter((path) => !unknown.some((field) => isWithin(path, field)))
  const findings = [
    ...counted.map((path) => ({ path, sentence: `duplicate field ${quote(path)}` })),
    ...unknown.map((path) => ({ path, sentence: `unknown field ${quote(path)}` })),
  ]
  if (order !== undefined) {
    const places = new Map(order.map((path, index) => [path, index]))
    const placeOf = ({ path }: { path: string }): number => places.get(path) ?? order.length
    findings.sort((one, other) => placeOf(one) - placeOf(other))
  }
  return [...new Set(findings.map(({ sentence }) => sentence))].slice(0, messagesMax)
}

/** The refusal of a body, when the client asked for `Strict`. `kind` and `version` as in other decoding errors. */
export function strictDecodingError(kind: string, version: string, sentences: readonly string[]): ApiError {
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${sentences.join(', ')}`,
  )
}

function isWithin(path: string, field: string): boolean {
  return (
    path.startsWith(field) && (path.length === field.length || path[field.length] === '.' || path[field.length] === '[')
  )
}
