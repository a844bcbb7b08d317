/**
 * Reads fields of JSON that is not trusted to have the type its schema declares.
 *
 * A field that is absent or of another type reads as `undefined` (or as empty), so validation and admission can ask
 * for any path and never throw:
 *
 *     textIn(objectIn(pod, 'spec'), 'nodeName')    '' for a Pod without a spec, and for `nodeName: 5`
 *     objectsIn(spec, 'containers')                [] without containers; `{}` for an item that is no object
 *
 * Inherited names such as `constructor` are never fields.
 */
import { getOwn, isJsonObject, type JsonObject } from '@evenkeel/cel/primitives'
import type { UnstructuredObject } from './object.ts'

/** An object, or an object inside one. */
export type Fields = JsonObject | UnstructuredObject

/** The object under a key; empty when there is none. */
export function objectIn(fields: Fields | undefined, key: string): JsonObject {
  return optionalObjectIn(fields, key) ?? emptyObject
}

/** The object under a key; `undefined` when there is none, for fields whose absence has a meaning. */
export function optionalObjectIn(fields: Fields | undefined, key: string): JsonObject | undefined {
  const value = valueIn(fields, key)
  return isJsonObject(value) ? value : undefined
}

/** The text under a key; empty when there is none: the API does not distinguish the two. */
export function textIn(fields: Fields | undefined, key: string): string {
  const value = valueIn(fields, key)
  return typeof value === 'string' ? value : ''
}

export function numberIn(fields: Fields | undefined, key: string): number | undefined {
  const value = valueIn(fields, key)
  // Rounded: enough to compare it with a limit.
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' ? value : undefined
}

/** Whether the value under a key is `true`. */
export function isSet(fields: Fields | undefined, key: string): boolean {
  return valueIn(fields, key) === true
}

/** The objects in the list under a key. An item that is no object reads as an empty one, so positions are kept. */
export function objectsIn(fields: Fields | undefined, key: string): readonly JsonObject[] {
  const value = valueIn(fields, key)
  return Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? item : emptyObject)) : []
}

/** The texts in the list under a key. An item that is no text reads as an empty one, so positions are kept. */
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

/** The value under a key, of any type. */
export function valueIn(fields: Fields | undefined, key: string): unknown {
  return fields === undefined ? undefined : getOwn(fields as Readonly<Record<string, unknown>>, key)
}

const emptyObject: JsonObject = Object.freeze({})
