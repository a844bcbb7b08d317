/**
 * Helpers to change parts of an object before it is stored, in place where possible.
 *
 * Invariant: a frozen part is shared (a patched object shares unchanged parts with the stored one),
 * so it is copied one level deep before it is returned for changes.
 */
import { isJsonObject } from 'evenkeel/unstable/builtins'
import type { JsonArray, JsonObjectDraft, JsonValue } from 'evenkeel/unstable/builtins'

/** The mutable object under a key; `undefined` when there is none. */
export function draftIn(parent: JsonObjectDraft, key: string): JsonObjectDraft | undefined {
  const value = parent[key]
  if (!isJsonObject(value)) return undefined
  if (!Object.isFrozen(value)) return value
  const copy: JsonObjectDraft = { ...value }
  parent[key] = copy
  return copy
}

/** The mutable object under a key; created when there is none. */
export function ensureDraft(parent: JsonObjectDraft, key: string): JsonObjectDraft {
  const present = draftIn(parent, key)
  if (present !== undefined) return present
  const made: JsonObjectDraft = {}
  parent[key] = made
  return made
}

/** The mutable objects in the list under a key. Items that are not objects are left out. */
export function draftsIn(parent: JsonObjectDraft, key: string): readonly JsonObjectDraft[] {
  const list = parent[key]
  if (!Array.isArray(list)) return []
  const items: JsonValue[] = (list as JsonArray).map((item) =>
    isJsonObject(item) && Object.isFrozen(item) ? { ...item } : item,
  )
  parent[key] = items
  return items.filter(isJsonObject)
}

/** Sets a field that is absent. */
export function setDefault(parent: JsonObjectDraft, key: string, value: JsonValue): void {
  if (parent[key] === undefined) parent[key] = value
}

/** Sets a string that is absent or empty; for most fields the API does not distinguish the two. */
export function setDefaultText(parent: JsonObjectDraft, key: string, value: string): void {
  if (parent[key] === undefined || parent[key] === '') parent[key] = value
}

/** Sets a number that is absent or 0. */
export function setDefaultNumber(parent: JsonObjectDraft, key: string, value: number): void {
  if (parent[key] === undefined || parent[key] === 0) parent[key] = value
}

/** Restores the old value of a field, also an absent one. */
export function restore(parent: JsonObjectDraft, key: string, value: unknown): void {
  if (value === undefined) delete parent[key]
  else parent[key] = value as JsonValue
}
