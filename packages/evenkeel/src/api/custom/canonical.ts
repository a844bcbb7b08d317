/**
 * JSON with its keys in order: one text for all values that say the same, and values as Go would show them.
 *
 * Recursion is bounded by the depth that the reader of the text allowed.
 */
import { isJsonObject } from '../json.ts'
import type { JsonArray, JsonValue } from '../json.ts'

/** A copy with its keys in order, for showing. */
export function sortKeys(value: JsonValue): JsonValue {
  return typeof value === 'object' && value !== null ? (JSON.parse(canonicalJson(value)) as JsonValue) : value
}

export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${(value as JsonArray).map(canonicalJson).join()}]`
  if (!isJsonObject(value)) return value === undefined ? '' : JSON.stringify(value)
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join()}}`
}
