/**
 * Reads the parts of a CustomResourceDefinition without trusting their types: what is absent or of another type reads
 * as empty, because the schema of definitions has complained of it before.
 */
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'

export function textIn(fields: JsonObject, key: string): string {
  const value = getOwn(fields, key)
  return typeof value === 'string' ? value : ''
}

export function textsIn(fields: JsonObject, key: string): readonly string[] {
  return listIn(fields, key).map((item) => (typeof item === 'string' ? item : ''))
}

/** The object under a key; empty when there is none. */
export function objectIn(fields: JsonObject, key: string): JsonObject {
  return optionalObjectIn(fields, key) ?? {}
}

/** The object under a key, where its absence means something. */
export function optionalObjectIn(fields: JsonObject, key: string): JsonObject | undefined {
  const value = getOwn(fields, key)
  return isJsonObject(value) ? value : undefined
}

/** The objects in a list; positions count, so one that is no object reads as an empty one. */
export function objectsIn(fields: JsonObject, key: string): readonly JsonObject[] {
  return listIn(fields, key).map((item) => (isJsonObject(item) ? item : {}))
}

export function isSet(fields: JsonObject, key: string): boolean {
  return getOwn(fields, key) === true
}

function listIn(fields: JsonObject, key: string): readonly JsonValue[] {
  const value = getOwn(fields, key)
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
