/**
 * What a handler changed, as a JSON patch: the API server wants steps, and people write objects.
 *
 * Invariants: applied to `before` the patch gives `after`, whatever the keys are called; equal values give no steps; a
 * key whose value is `undefined` counts as absent.
 */
import { deepEqual, formatPointer, getOwn, isJsonObject } from '#api'
import type { JsonArray, JsonObject, JsonPatchOperation, JsonValue } from '#api'

/** The steps from one value to another, in the order in which they have to be taken. */
export function diffJson(before: JsonValue, after: JsonValue): JsonPatchOperation[] {
  const steps: JsonPatchOperation[] = []
  compare(before, after, { path: [], steps })
  return steps
}

interface DiffState {
  readonly path: readonly string[]
  readonly steps: JsonPatchOperation[]
}

function compare(before: JsonValue, after: JsonValue, place: DiffState): void {
  if (deepEqual(before, after)) return
  if (isJsonObject(before) && isJsonObject(after)) compareObjects(before, after, place)
  else if (Array.isArray(before) && Array.isArray(after)) compareArrays(before as JsonArray, after as JsonArray, place)
  else place.steps.push({ op: 'replace', path: formatPointer(place.path), value: after })
}

function compareObjects(before: JsonObject, after: JsonObject, { path, steps }: DiffState): void {
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && getOwn(after, key) === undefined)
      steps.push({ op: 'remove', path: formatPointer([...path, key]) })
  }
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue
    const old = getOwn(before, key)
    if (old === undefined) steps.push({ op: 'add', path: formatPointer([...path, key]), value })
    else compare(old, value, { path: [...path, key], steps })
  }
}

/** What is the same at both ends stays; what lies between is changed in pairs, then removed or added. */
function compareArrays(before: JsonArray, after: JsonArray, { path, steps }: DiffState): void {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && deepEqual(before[start], after[start])) start++
  let end = 0
  while (end < shorter - start && deepEqual(before[before.length - 1 - end], after[after.length - 1 - end])) end++
  const [beforeEnd, afterEnd] = [before.length - end, after.length - end]
  const paired = Math.min(beforeEnd, afterEnd)
  for (let index = start; index < paired; index++)
    compare(before[index] as JsonValue, after[index] as JsonValue, { path: [...path, String(index)], steps })
  // From the back, so that what is still to be removed keeps its place.
  for (let index = beforeEnd - 1; index >= paired; index--)
    steps.push({ op: 'remove', path: formatPointer([...path, String(index)]) })
  for (let index = paired; index < afterEnd; index++)
    steps.push({ op: 'add', path: formatPointer([...path, String(index)]), value: after[index] as JsonValue })
}
