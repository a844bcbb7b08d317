/**
 * Makes a decoded object of a built-in kind what Go's decoder and encoder would have made of it, in one walk.
 *
 * - A field that the schema does not know is removed and reported.
 * - null means absent, and so do an empty list and an empty map in a field that need not be there: such a field is removed; in a list or a map it becomes the zero value of its type.
 * - Every scalar is checked and brought into its canonical form. The first wrong one ends the walk.
 * - Names are matched exactly; values without a schema (raw extensions, managed fields) are left alone.
 *
 * Nothing given is written to: a container is copied when something in it changes, which is rare, so an object that is
 * fine comes back as it is. Recursion is bounded by the depth that the reader of the text allowed.
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
import { goTypeName, goTypeOf, type GoType } from './decode-types.ts'
import { DecodeError, wrongType } from './scalars.ts'
import type { Schema } from './schema.ts'

export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of removed fields, in the order of the text: `spec.containers[0].foo`. At most 100. */
  readonly unknown: readonly string[]
  /** The sentence about the first value of a wrong type; the object is then the one given. */
  readonly mistake?: string
}

type PathSteps = (string | number)[]

interface DecodeState {
  /** Where we are. After a mistake: where it is. */
  readonly steps: PathSteps
  readonly unknown: string[]
}

/** Prunes, checks and normalises an object. */
export function decodeObject(object: JsonObject, schema: Schema): DecodedObject {
  const shape = goTypeOf(schema)
  const walk: DecodeState = { steps: [], unknown: [] }
  try {
    return { object: visit(object, shape, walk) as JsonObject, unknown: walk.unknown }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { object, unknown: walk.unknown, mistake: describe(error, shape, walk.steps) }
  }
}

/** The error for a body that is no object of the kind it should be; `version` is without the group. */
export function cannotBeHandledError(kind: string, version: string, mistake: string): ApiError {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${mistake}`)
}

/** As many as upstream reports. */
const unknownMax = 100

function visit(value: JsonValue, shape: GoType, walk: DecodeState): JsonValue {
  switch (shape.kind) {
    case 'scalar':
      return shape.scalar.read(value)
    case 'struct':
      return visitStruct(value, shape, walk)
    case 'list':
      return visitList(value, shape, walk)
    case 'map':
      return visitMap(value, shape, walk)
    case 'raw':
      return value
  }
}

function visitStruct(value: JsonValue, shape: GoType & { kind: 'struct' }, walk: DecodeState): JsonValue {
  if (!isJsonObject(value)) throw wrongType(value, shape.type)
  const depth = walk.steps.length
  let draft: JsonObjectDraft | undefined
  for (const key of Object.keys(value)) {
    const slot = shape.fields.get(key)
    const child = value[key]
    walk.steps[depth] = key
    if (slot === undefined) note(walk)
    const read =
      slot === undefined || child === null || child === undefined
        ? undefined
        : presentOf(visit(child, slot.type, walk), slot)
    if (read !== child) draft = put(draft ?? { ...value }, key, read)
  }
  walk.steps.length = depth
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

function visitMap(value: JsonValue, shape: GoType & { kind: 'map' }, walk: DecodeState): JsonValue {
  if (!isJsonObject(value)) throw wrongType(value, goTypeName(shape))
  const values = shape.values.type
  const depth = walk.steps.length
  let draft: JsonObjectDraft | undefined
  for (const key of Object.keys(value)) {
    const child = value[key] ?? null
    walk.steps[depth] = key
    const read = child === null ? zeroOf(values) : visit(child, values, walk)
    if (read !== child) draft = put(draft ?? { ...value }, key, read)
  }
  walk.steps.length = depth
  return draft ?? value
}

function visitList(value: JsonValue, shape: GoType & { kind: 'list' }, walk: DecodeState): JsonValue {
  if (!Array.isArray(value)) throw wrongType(value, goTypeName(shape))
  const items = shape.items.type
  const depth = walk.steps.length
  let draft: JsonValue[] | undefined
  for (let index = 0; index < value.length; index++) {
    const item = (value as JsonArray)[index] ?? null
    walk.steps[depth] = index
    const read = item === null ? zeroOf(items) : visit(item, items, walk)
    if (read !== item) (draft ??= [...(value as JsonArray)])[index] = read
  }
  walk.steps.length = depth
  return draft ?? value
}

function put(draft: JsonObjectDraft, key: string, value: JsonValue | undefined): JsonObjectDraft {
  if (value === undefined) delete draft[key]
  else setOwn(draft, key, value)
  return draft
}

function zeroOf(shape: GoType): JsonValue {
  switch (shape.kind) {
    case 'scalar':
      return shape.scalar.zero
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
  let shape: GoType | undefined = root
  for (const step of steps) {
    if (shape?.kind === 'struct') {
      struct = shape.name
      fields.push(step)
      shape = shape.fields.get(String(step))?.type
    } else if (shape?.kind === 'list') shape = shape.items.type
    else if (shape?.kind === 'map') shape = shape.values.type
  }
  const into = fields.length > 0 ? `Go struct field ${struct}.${fields.join('.')}` : 'Go value'
  return `json: cannot unmarshal ${types.found} into ${into} of type ${types.wanted}`
}

/*
 * What fieldValidation reports: one sentence per field that a strict reader objects to, in upstream's words.
 *
 * The same sentences are warnings (`Warn`) or one refusal (`Strict`).
 */

interface StrictFindings {
  /** Paths of keys that were there twice. */
  readonly duplicates?: readonly string[]
  /** Paths of fields nobody knows. */
  readonly unknown?: readonly string[]
}

/** As many as upstream reports. */
const messagesMax = 100

/** The sentences: `duplicate field "metadata.labels.a"`, `unknown field "spec.foo"`. */
export function strictDecodingMessages({ duplicates = [], unknown = [] }: StrictFindings): string[] {
  // What lies in an unknown field is not looked at, so a key twice in there, or such a field twice, is no second finding.
  const counted =
    unknown.length === 0 ? duplicates : duplicates.filter((path) => !unknown.some((field) => isWithin(path, field)))
  const sentences = [
    ...counted.map((path) => `duplicate field ${quote(path)}`),
    ...unknown.map((path) => `unknown field ${quote(path)}`),
  ]
  return [...new Set(sentences)].slice(0, messagesMax)
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
