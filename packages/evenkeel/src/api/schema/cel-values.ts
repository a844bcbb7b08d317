/**
 * Reads JSON as CEL values by its compiled schema. Objects and lists are wrapped, not copied; their parts are read when an
 * expression uses them.
 *
 * Data that contradicts its schema becomes an error value where it is read, not before. Texts with the formats date,
 * date-time, duration and byte become CEL timestamps, durations and bytes. A resource always has apiVersion, kind and the
 * names in its metadata, even where its schema does not declare them.
 */
import {
  adaptDynamic,
  Bytes,
  Double,
  Duration,
  EvaluationError,
  intFromBigInt,
  intMax,
  JsonMap,
  ListValue,
  readDuration,
  readTimestamp,
  Timestamp,
  type Adapt,
  type ListSemantics,
  type Value,
} from '@evenkeel/cel'
import { isJsonObject, isJsonNumber } from '@evenkeel/cel/primitives'
import type { CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema.ts'

/** How to read what a schema describes. Nested readers are made when they are first needed. */
export function jsonAdapter(schema: CompiledSchema): Adapt {
  const node = schema.target
  const read = readerFor(node)
  return (json) => {
    if (json !== null) return read(json)
    return node.nullable ? null : new EvaluationError('invalid data, got null for schema with nullable=false')
  }
}

function readerFor(node: CompiledSchema): Adapt {
  if (node.isIntOrString) return readIntOrString
  switch (node.type) {
    case 'object':
      return objectReader(node)
    case 'array':
      return listReader(node)
    case 'string':
      return stringReader(node)
    case 'number':
      return (json) => (isJsonNumber(json) ? new Double(Number(json)) : mismatch('float', json))
    case 'integer':
      return (json) => readInteger(json) ?? mismatch('int', json)
    case 'boolean':
      return (json) => (typeof json === 'boolean' ? json : mismatch('bool', json))
    default:
      return adaptDynamic
  }
}

function mismatch(wanted: string, json: unknown): EvaluationError {
  return new EvaluationError(`invalid data, expected ${wanted}, got ${goName(json)}`)
}

/** What Go calls a piece of JSON. */
function goName(json: unknown): string {
  if (isJsonNumber(json)) return Number.isInteger(Number(json)) ? 'int64' : 'float64'
  if (typeof json === 'object')
    return json === null ? '<nil>' : Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}'
  return typeof json === 'boolean' ? 'bool' : typeof json
}

function readInteger(json: unknown): Value | undefined {
  if (Number.isSafeInteger(json)) return json as number
  if (typeof json === 'bigint') return intFromBigInt(json)
  // A float64 in the text, such as 1e16, is a whole number too.
  return typeof json === 'number' && Number.isInteger(json) && Math.abs(json) < 2 ** 63
    ? intFromBigInt(BigInt(json))
    : undefined
}

function readIntOrString(json: unknown): Value {
  return typeof json === 'string'
    ? json
    : (readInteger(json) ??
        new EvaluationError('invalid data, expected XIntOrString value to be either a string or integer'))
}

function objectReader(node: CompiledSchema): Adapt {
  const { properties, additional } = node.isEmbedded ? withObjectMeta(node) : node
  const adapters = new Map<string, Adapt>()
  const adaptOf = (name: string): Adapt | undefined => {
    const key = properties ? name : ''
    const known = adapters.get(key)
    if (known) return known
    const schema = properties ? properties.get(name) : additional
    if (!schema) return undefined
    const adapt = jsonAdapter(schema)
    adapters.set(key, adapt)
    return adapt
  }
  const options = { isObject: properties !== undefined }
  return (json) =>
    isJsonObject(json)
      ? new JsonMap(json, adaptOf, options)
      : new EvaluationError('invalid data, expected a map for the provided schema with type=object')
}

function listReader({ items, listType, listMapKeys: keys }: CompiledSchema): Adapt {
  if (!items) return () => new EvaluationError('invalid array type, expected Items with a non-empty Schema')
  let adapt: Adapt | undefined
  const element: Adapt = (json) => (adapt ??= jsonAdapter(items))(json)
  const semantics: ListSemantics | undefined =
    listType === 'set' ? { kind: 'set' } : listType === 'map' ? { kind: 'map', keys } : undefined
  return (json) =>
    Array.isArray(json)
      ? ListValue.ofJson(json, element, { semantics })
      : new EvaluationError('invalid data, expected an array for the provided schema with type=array')
}

function stringReader({ formatName }: CompiledSchema): Adapt {
  const read = formats.get(formatName ?? '')
  return (json) => {
    if (typeof json !== 'string') return mismatch('string', json)
    return read ? read(json) : json
  }
}

const formats = new Map<string, (text: string) => Value>([
  [
    'duration',
    (text) =>
      readSchemaDuration(text) ?? new EvaluationError(`Invalid duration ${text}: unable to parse ${text} as duration`),
  ],
  ['date', (text) => readDate(text) ?? new EvaluationError(`Invalid date formatted string ${text}: cannot parse`)],
  [
    'date-time',
    (text) => readDateTime(text) ?? new EvaluationError(`Invalid date-time formatted string ${text}: cannot parse`),
  ],
  [
    'byte',
    (text) => {
      const bytes = readBase64(text)
      return bytes
        ? new Bytes(bytes)
        : new EvaluationError(`Invalid byte formatted string ${text}: illegal base64 data`)
    },
  ],
])

// Texts with a format.

/** RFC 3339, also without a zone; the empty text is 1970. */
function readDateTime(text: string): Timestamp | undefined {
  if (text === '') return new Timestamp(0)
  const found = readTimestamp(text) ?? readTimestamp(`${text}Z`)
  return found instanceof EvaluationError ? undefined : found
}

function readDate(text: string): Timestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? readDateTime(`${text}T00:00:00Z`) : undefined
}

/** Go durations, and words such as `3 days`. */
function readSchemaDuration(text: string): Duration | undefined {
  const plain = readDuration(text)
  if (plain) return plain
  let total: bigint | undefined
  for (const [, amount = '', written = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = written.toLowerCase()
    const found = units.find(({ names, prefix }) => names.includes(unit) || unit.startsWith(prefix))
    if (found && amount.length < 20) total = (total ?? 0n) + BigInt(amount) * found.nanos
  }
  return total === undefined || total > intMax ? undefined : new Duration(total)
}

/** Base64 with the alphabet for URLs and padding, which is what upstream reads here. */
function readBase64(text: string): Uint8Array | undefined {
  const clean = text.replace(/[\r\n]/g, '')
  if (!/^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?$/.test(clean)) return undefined
  const binary = atob(clean.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

const second = 1_000_000_000n

const units: readonly { readonly names: readonly string[]; readonly prefix: string; readonly nanos: bigint }[] = [
  { names: ['ns'], prefix: 'nano', nanos: 1n },
  { names: ['us', 'µs'], prefix: 'micro', nanos: 1000n },
  { names: ['ms'], prefix: 'milli', nanos: 1_000_000n },
  { names: ['s'], prefix: 'sec', nanos: second },
  { names: ['m'], prefix: 'min', nanos: 60n * second },
  { names: ['h', 'hr'], prefix: 'hour', nanos: 3600n * second },
  { names: ['d'], prefix: 'day', nanos: 86_400n * second },
  { names: ['w', 'wk'], prefix: 'week', nanos: 604_800n * second },
]

// Resources: the fields that expressions may always read.

const string: SchemaNode = { type: 'string' }
const names: SchemaNode = { type: 'object', properties: { name: string, generateName: string } }

/** A schema of a resource with those fields; the same schema when it has them. */
export function withObjectMeta(schema: CompiledSchema): CompiledSchema {
  let resource = resources.get(schema)
  if (!resource) resources.set(schema, (resource = hasObjectMeta(schema) ? schema : schema.withProperties(metaFields)))
  return resource
}

const resources = new WeakMap<CompiledSchema, CompiledSchema>()
const metaFields = { kind: string, apiVersion: string, metadata: names }

function hasObjectMeta({ properties }: CompiledSchema): boolean {
  const metadata = properties?.get('metadata')
  return (
    properties?.get('kind')?.type === 'string' &&
    properties.get('apiVersion')?.type === 'string' &&
    metadata?.type === 'object' &&
    metadata.properties?.get('name')?.type === 'string' &&
    metadata.properties.get('generateName')?.type === 'string'
  )
}
