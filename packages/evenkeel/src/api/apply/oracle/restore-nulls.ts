/**
 * Nulls that a configuration says.
 *
 * Reading an object drops nulls that may not stand where they do, as upstream's decoder does. What was applied is not
 * decoded again upstream, so there a null is a value: defaults may take its place, and otherwise it is judged.
 */
import { isJsonObject, setOwn } from '../../json.ts'
import type { JsonArray, JsonObject, JsonObjectDraft, JsonValue } from '../../json.ts'

/** Writes nulls of `applied` into what reading made of it, where they were dropped. */
export function restoreNulls(read: JsonObjectDraft, applied: JsonObject): void {
  restore(read, applied)
}

function restore(read: JsonValue | undefined, applied: JsonValue | undefined): void {
  if (Array.isArray(applied)) {
    if (Array.isArray(read) && read.length === applied.length)
      for (const [index, item] of (applied as JsonArray).entries()) restore((read as JsonArray)[index], item)
    return
  }
  if (!isJsonObject(read) || !isJsonObject(applied)) return
  for (const name of Object.keys(applied)) {
    if (applied[name] === null && !Object.hasOwn(read, name)) setOwn(read, name, null)
    else if (Object.hasOwn(read, name)) restore(read[name], applied[name])
  }
}
