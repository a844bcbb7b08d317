/**
 * Reads fields of objects whose shape the schema has checked, without trusting that it has.
 *
 * A field that is absent or of another type reads as `undefined` (or as empty), so a hook can ask for a path and never
 * throws on odd input.
 */
import { getOwn, isJsonObject, type JsonObject } from '@evenkeel/cel/primitives'
import type { UnstructuredObject } from './object.ts'

/** Anything with fields: an object, or a part of one. */
export type Fields = JsonObject | UnstructuredObject

/** The object under a key; empty when there is none. */
export function objectIn(fields: Fields | undefined, key: string): JsonObject {
  return optionalObjectIn(fields, key) ?? nothing
}

/** The object under a key, for fields whose absence means something. */
export function optionalObjectIn(fields: Fields | undefined, key: string): JsonObject | undefined {
  const value = valueIn(fields, key)
  return isJsonObject(value) ? value : undefined
}

/** The text under a key; empty when there is none, because to the API an empty text is none. */
export function textIn(fields: Fields | undefined, key: string): string {
  const value = valueIn(fields, key)
  return typeof value === 'string' ? value : ''
}

export function numberIn(fields: Fields | undefined, key: string): number | undefined {
  const value = valueIn(fields, key)
  return typeof value === 'number' ? value : undefined
}

/** Whether a key says true. */
export function isSet(fields: Fields | undefined, key: string): boolean {
  return valueIn(fields, key) === true
}

/** The objects in the list under a key. Positions count, so an item that is no object reads as an empty one. */
export function objectsIn(fields: Fields | undefined, key: string): readonly JsonObject[] {
  const value = valueIn(fields, key)
  return Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? item : nothing)) : []
}

/** The texts in the list under a key. */
export function textsIn(fields: Fields | undefined, key: string): readonly string[] {
  const value = valueIn(fields, key)
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : []
}

/** The map of texts under a key, such as labels. */
export function textMapIn(fields: Fields | undefined, key: string): Readonly<Record<string, string>> {
  const entries = Object.entries(objectIn(fields, key)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(entries)
}

/** Whatever is under a key. */
export function valueIn(fields: Fields | undefined, key: string): unknown {
  return fields === undefined ? undefined : getOwn(fields as Readonly<Record<string, unknown>>, key)
}

const nothing: JsonObject = Object.freeze({})
