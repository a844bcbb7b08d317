/**
 * Which kind of a type a value is walked as, and what a container holds.
 *
 * Null is a value that fits every kind: an empty list, an empty map. A kind the type does not allow is walked as the
 * first one it does, so that the walker finds the mistake and can name it.
 */
import { isJsonObject } from '../../json.ts'
import type { JsonArray, JsonObject, JsonValue } from '../../json.ts'
import type { FieldType, ScalarKind } from './field-type.ts'

export type ValueKind = 'map' | 'scalar' | 'list'

export function valueKindOf(type: FieldType, value: JsonValue | undefined): ValueKind | undefined {
  if (typeof value === 'object') {
    if (Array.isArray(value)) {
      if (type.list) return 'list'
    } else if (value !== null && type.map) return 'map'
  } else if (value !== undefined && type.scalar) return 'scalar'
  if (type.map) return 'map'
  if (type.scalar) return 'scalar'
  return type.list && 'list'
}

/** The value as a map, if it is one. */
export function asMap(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

/** The value as a list, if it is one. */
export function asList(value: JsonValue | undefined): JsonArray | undefined {
  return Array.isArray(value) ? (value as JsonArray) : undefined
}

export function isEmptyMap(map: JsonObject | undefined): boolean {
  if (map === undefined) return true
  // A loop that ends at the first key that counts: this is asked for every map of every write.
  for (const key of Object.keys(map)) if (map[key] !== undefined) return false
  return true
}

export function isEmptyList(list: JsonArray | undefined): boolean {
  return list === undefined || list.length === 0
}

/** What is wrong with a scalar, in the words of Go's printer; undefined when nothing is. */
export function scalarError(kind: ScalarKind, value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  switch (kind) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${goPointer(value)}`
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got ${goPointer(value)}` : undefined
  }
}

/** How Go prints the holder of a value: `&{8080}`. */
export function goPointer(value: JsonValue): string {
  return `&{${goText(value)}}`
}

function goType(value: JsonValue): string {
  if (typeof value === 'object') return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function goSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (!isJsonObject(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  return `map[string]interface {}{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key] ?? null)}`)
    .join(', ')}}`
}

function goText(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (typeof value !== 'object') return String(value)
  if (!isJsonObject(value)) return `[${value.map(goText).join(' ')}]`
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key] ?? null)}`)
    .join(' ')}]`
}
