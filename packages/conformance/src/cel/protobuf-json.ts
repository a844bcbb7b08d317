/**
 * Types and values of CEL as the conformance data writes them, protobuf in JSON, and values as texts to compare.
 *
 * The texts tell types apart (`1`, `1u`, `double 1`), so a double in place of an int is a failure.
 */
import {
  boolType,
  Bytes,
  bytesType,
  Double,
  doubleType,
  Duration,
  durationType,
  dynType,
  EntryMap,
  EvaluationError,
  intFromBigInt,
  intType,
  listOf,
  ListValue,
  mapOf,
  MapValue,
  nullType,
  objectType,
  opaqueType,
  Optional,
  parameterType,
  printDuration,
  printTimestamp,
  readDuration,
  readTimestamp,
  stringType,
  Timestamp,
  timestampType,
  typeOf,
  TypeValue,
  Uint,
  uintType,
} from '@evenkeel/cel'
import type { Type, Value } from '@evenkeel/cel'

export type Json = Readonly<Record<string, unknown>>

const primitives: Readonly<Record<string, Type>> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
  TIMESTAMP: timestampType,
  DURATION: durationType,
}

const wellKnownTypes: Readonly<Record<string, Type>> = {
  'google.protobuf.Duration': durationType,
  'google.protobuf.Timestamp': timestampType,
}

export function typeFrom(json: Json): Type {
  const { primitive, wellKnown, listType, mapType, type, abstractType, typeParam, messageType } = json as Record<
    string,
    Json & string
  >
  if ('null' in json) return nullType
  if (typeof primitive === 'string' || typeof wellKnown === 'string')
    return primitives[primitive ?? wellKnown ?? ''] ?? dynType
  if (listType) return listOf(typeFrom((listType['elemType'] ?? { dyn: {} }) as Json))
  if (mapType) return mapOf(typeFrom(mapType['keyType'] as Json), typeFrom(mapType['valueType'] as Json))
  if (type) return typeOf(typeFrom(type))
  if (abstractType)
    return opaqueType(
      String(abstractType['name']),
      ...(abstractType['parameterTypes'] as readonly Json[]).map(typeFrom),
    )
  if (typeParam !== undefined) return parameterType(typeParam)
  return messageType === undefined ? dynType : (wellKnownTypes[messageType] ?? objectType(messageType))
}

export function valueFrom(json: Json): Value {
  const [[kind, content] = ['nullValue', null]] = Object.entries(json)
  switch (kind) {
    case 'int64Value':
      return intFromBigInt(BigInt(String(content)))
    case 'uint64Value':
      return new Uint(BigInt(String(content)))
    case 'doubleValue':
      return new Double(Number(content))
    case 'bytesValue':
      return bytesFrom(content)
    case 'typeValue':
      return new TypeValue(String(content))
    case 'listValue':
      return ListValue.of((((content as Json)['values'] ?? []) as Json[]).map(valueFrom))
    case 'mapValue':
      return EntryMap.from(
        (((content as Json)['entries'] ?? []) as { key: Json; value: Json }[]).map(({ key, value }) => [
          valueFrom(key),
          valueFrom(value),
        ]),
      )
    case 'objectValue':
      return messageFrom(content as Json)
    default:
      return content as Value
  }
}

const wellKnown = 'type.googleapis.com/google.protobuf.'

/** Well-known messages are plain values; there are no others. */
function messageFrom({ '@type': type, value }: Json): Value {
  const name = String(type).startsWith(wellKnown) ? String(type).slice(wellKnown.length) : ''
  if (/^U?Int(?:32|64)Value$/.test(name))
    return name.startsWith('U') ? new Uint(BigInt(String(value ?? 0))) : intFromBigInt(BigInt(String(value ?? 0)))
  if (name === 'DoubleValue' || name === 'FloatValue') return new Double(Number(value ?? 0))
  if (name === 'BytesValue') return bytesFrom(value ?? '')
  if (name === 'BoolValue' || name === 'StringValue') return value as Value
  if (name === 'Value' || name === 'Struct' || name === 'ListValue') return dynamicFrom(value)
  const moment =
    name === 'Timestamp' ? readTimestamp(String(value)) : name === 'Duration' ? readDuration(String(value)) : undefined
  return moment ?? new EvaluationError(`no value for ${String(type)}`)
}

/** JSON as CEL sees it: every number is a double. */
function dynamicFrom(json: unknown): Value {
  if (typeof json === 'number') return new Double(json)
  if (Array.isArray(json)) return ListValue.of(json.map(dynamicFrom))
  if (typeof json === 'object' && json !== null)
    return EntryMap.from(Object.entries(json).map(([key, value]) => [key, dynamicFrom(value)]))
  return json as Value
}

function bytesFrom(base64: unknown): Bytes {
  return new Bytes(Uint8Array.from(atob(String(base64)), (character) => character.charCodeAt(0)))
}

/** A text that only equal values of one type share. */
export function showValue(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Double) return `double ${Object.is(value.value, -0) ? '-0' : value.value}`
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Bytes) return `bytes ${value.value.join(' ')}`
  if (value instanceof TypeValue) return `type ${value.name}`
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof Optional) return value.value === undefined ? 'nothing' : `optional ${showValue(value.value)}`
  if (value instanceof ListValue) return `[${value.values().map(showValue).join(', ')}]`
  if (value instanceof MapValue)
    return `{${value
      .keys()
      .map((key) => `${showValue(key)}: ${showValue(value.find(key) ?? null)}`)
      .sort()
      .join(', ')}}`
  if (value instanceof EvaluationError) return `error ${value.message}`
  return typeof value === 'object' && value !== null ? value.typeName : String(value)
}
