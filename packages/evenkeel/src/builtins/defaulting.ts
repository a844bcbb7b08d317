/**
 * Changes parts of an object under construction, in place where that is allowed.
 *
 * Invariant: what is frozen belongs to somebody else (a patched object shares what did not change with the stored one),
 * so a frozen part is copied one level deep before it is handed out for change.
 */
import { isJsonObject } from '#api'
import type { JsonArray, JsonObjectDraft, JsonValue } from '#api'

/** The object under a key, for change; `undefined` when there is none. */
export function draftIn(parent: JsonObjectDraft, key: string): JsonObjectDraft | undefined {
  const value = parent[key]
  if (!isJsonObject(value)) return undefined
  if (!Object.isFrozen(value)) return value
  const copy: JsonObjectDraft = { ...value }
  parent[key] = copy
  return copy
}

/** The object under a key, for change; made when there is none. */
export function ensureDraft(parent: JsonObjectDraft, key: string): JsonObjectDraft {
  const present = draftIn(parent, key)
  if (present !== undefined) return present
  const made: JsonObjectDraft = {}
  parent[key] = made
  return made
}

/** The objects in the list under a key, for change. Items that are no objects are left out. */
export function draftsIn(parent: JsonObjectDraft, key: string): readonly JsonObjectDraft[] {
  const list = parent[key]
  if (!Array.isArray(list)) return []
  const items: JsonValue[] = (list as JsonArray).map((item) =>
    isJsonObject(item) && Object.isFrozen(item) ? { ...item } : item,
  )
  parent[key] = items
  return items.filter(isJsonObject)
}

/** Fills a field that is absent. */
export function setDefault(parent: JsonObjectDraft, key: string, value: JsonValue): void {
  if (parent[key] === undefined) parent[key] = value
}

/** Fills a text that is absent or empty: for most fields the API does not tell the two apart. */
export function setDefaultText(parent: JsonObjectDraft, key: string, value: string): void {
  if (parent[key] === undefined || parent[key] === '') parent[key] = value
}

/** Fills a number that is absent or 0. */
export function setDefaultNumber(parent: JsonObjectDraft, key: string, value: number): void {
  if (parent[key] === undefined || parent[key] === 0) parent[key] = value
}

/** Makes a field what it was, absent included. */
export function restore(parent: JsonObjectDraft, key: string, value: unknown): void {
  if (value === undefined) delete parent[key]
  else parent[key] = value as JsonValue
}
