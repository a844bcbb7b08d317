/**
 * JSON as values, by its schema: objects and lists are wrapped, not copied, and their parts are read when somebody asks.
 *
 * Data that contradicts its schema becomes an error value where it is read, not before.
 */
import { getOwn, isJsonObject } from '../../json.ts'
import type { SchemaNode } from '../../schema/schema.ts'
import { withObjectMeta } from '../check/object-meta.ts'
import { ListValue, type Adapt, type ListSemantics } from './list.ts'
import { intFromBigInt } from './integer.ts'
import { JsonMap } from './map.ts'
import { readBase64, readDate, readDateTime, readSchemaDuration } from './json-text.ts'
import { Bytes, Double, EvaluationError, type Value } from './value.ts'

type ResolveNode = (node: SchemaNode) => SchemaNode

/** How to read what a schema describes. Nested readers are made when they are first needed. */
export function jsonAdapter(node: SchemaNode, follow: ResolveNode): Adapt {
  const read = readerFor(node, follow)
  return (json) => {
    if (json !== null) return read(json)
    return node.nullable ? null : new EvaluationError('invalid data, got null for schema with nullable=false')
  }
}

/** JSON without a schema: whole numbers are ints, others doubles. */
export function adaptDynamic(json: unknown): Value {
  if (json === null || json === undefined) return null
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json : new Double(json)
  if (typeof json !== 'object') return json as Value
  if (Array.isArray(json)) return ListValue.ofJson(json, adaptDynamic, { hasSchema: false })
  // Only plain objects are JSON; anything else is a value already.
  if (isJsonObject(json)) return new JsonMap(json, () => adaptDynamic, { isObject: false, hasSchema: false })
  return json as Value
}

function readerFor(node: SchemaNode, follow: ResolveNode): Adapt {
  if (node['x-kubernetes-int-or-string']) return readIntOrString
  switch (node.type) {
    case 'object':
      return objectReader(node, follow)
    case 'array':
      return listReader(node, follow)
    case 'string':
      return stringReader(node)
    case 'number':
      return (json) => (typeof json === 'number' ? new Double(json) : mismatch('float', json))
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
  if (typeof json === 'number') return Number.isInteger(json) ? 'int64' : 'float64'
  if (typeof json === 'object')
    return json === null ? '<nil>' : Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}'
  return typeof json === 'boolean' ? 'bool' : typeof json
}

function readInteger(json: unknown): Value | undefined {
  if (Number.isSafeInteger(json)) return json as number
  if (typeof json === 'bigint') return intFromBigInt(json)
  // Beyond 2^53 JSON.parse has rounded already; the nearest int is the best there is.
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

function objectReader(written: SchemaNode, follow: ResolveNode): Adapt {
  const node = written['x-kubernetes-embedded-resource'] ? withObjectMeta(written) : written
  const { properties, additionalProperties } = node
  const adapters = new Map<string, Adapt>()
  const adaptOf = (name: string): Adapt | undefined => {
    const key = properties ? name : ''
    const known = adapters.get(key)
    if (known) return known
    const schema = properties
      ? getOwn(properties, name)
      : typeof additionalProperties === 'object'
        ? additionalProperties
        : undefined
    if (!schema) return undefined
    const adapt = jsonAdapter(follow(schema), follow)
    adapters.set(key, adapt)
    return adapt
  }
  const options = { isObject: properties !== undefined }
  return (json) =>
    isJsonObject(json)
      ? new JsonMap(json, adaptOf, options)
      : new EvaluationError('invalid data, expected a map for the provided schema with type=object')
}

function listReader(
  { items, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] }: SchemaNode,
  follow: ResolveNode,
): Adapt {
  if (!items) return () => new EvaluationError('invalid array type, expected Items with a non-empty Schema')
  let adapt: Adapt | undefined
  const element: Adapt = (json) => (adapt ??= jsonAdapter(follow(items), follow))(json)
  const semantics: ListSemantics | undefined =
    listType === 'set' ? { kind: 'set' } : listType === 'map' ? { kind: 'map', keys } : undefined
  return (json) =>
    Array.isArray(json)
      ? ListValue.ofJson(json, element, { semantics })
      : new EvaluationError('invalid data, expected an array for the provided schema with type=array')
}

function stringReader({ format }: SchemaNode): Adapt {
  const read = formats.get(format ?? '')
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
