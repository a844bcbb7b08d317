/**
 * Type names of values, as in `type(x)` and messages, and the text of values in messages.
 */
import { ListValue, MapValue } from './collections.ts'
import { Duration, printDuration, printTimestamp, Timestamp } from './timestamps.ts'
import { Bytes, Double, EvaluationError, Opaque, Optional, TypeValue, Uint, type Value } from './values.ts'

export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    case 'number':
    case 'bigint':
      return 'int'
    default:
      return value === null ? 'null_type' : objectTypeName(value)
  }
}

/** A value as Go prints it in messages. */
export function describeValue(value: Value): string {
  if (value instanceof Double || value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Opaque) return value.toString()
  if (value === null || typeof value !== 'object') return String(value)
  return typeNameOf(value)
}

function objectTypeName(value: object): string {
  if (value instanceof ListValue) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Bytes) return 'bytes'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof Opaque) return value.typeName
  return value instanceof EvaluationError ? 'error' : 'unknown'
}
