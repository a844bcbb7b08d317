/**
 * Applies the defaults that the structural schema of a custom resource declares: when an object is written, and again
 * whenever it is read, so that a new default appears in old objects.
 *
 * A default applies only where the parent exists: one of `spec.size` does not create `spec`. It replaces a null that the
 * schema does not allow, and it gets defaults itself. The given object is not modified; an object that lacks no default
 * is returned as it is, and subtrees without defaults are skipped.
 */
import {
  deepCopy,
  getOwn,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { compileSchema, type CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema.ts'

/** The object with its defaults. */
export function defaultCustomObject(object: JsonObject, schema: SchemaNode): JsonObject {
  return fill(object, compileSchema(schema)) as JsonObject
}

function fill(value: JsonValue, plan: CompiledSchema): JsonValue {
  if (!plan.hasDefaults || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return plan.items ? fillList(value, plan.items) : value
  return fillObject(value as JsonObject, plan)
}

function fillList(list: JsonArray, items: CompiledSchema): JsonArray {
  let draft: JsonValue[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index] ?? null
    const settled = applyDefault(item, items) ?? null
    if (settled !== item) (draft ??= [...list])[index] = settled
  }
  return draft ?? list
}

function fillObject(object: JsonObject, { properties, additional }: CompiledSchema): JsonObject {
  let draft: JsonObjectDraft | undefined
  const put = (key: string, value: JsonValue | undefined, plan: CompiledSchema): void => {
    const settled = applyDefault(value, plan)
    if (settled !== undefined && settled !== value) setOwn((draft ??= { ...object }), key, settled)
  }
  if (properties)
    for (const [key, plan] of properties)
      if (plan.defaultValue !== undefined || plan.hasDefaults) put(key, getOwn(object, key), plan)
  if (additional)
    for (const key of Object.keys(object)) if (properties?.has(key) !== true) put(key, object[key], additional)
  return draft ?? object
}

/** The value with its defaults; `undefined` when there is neither a value nor a default. */
function applyDefault(value: JsonValue | undefined, plan: CompiledSchema): JsonValue | undefined {
  const lacking = value === undefined || (value === null && !plan.nullable)
  if (!lacking) return fill(value, plan)
  return plan.defaultValue === undefined ? value : fill(deepCopy(plan.defaultValue), plan)
}
