/**
 * Fills in the defaults that the structural schema of a custom resource declares: when an object is written, and
 * again whenever it is read, so that a new default shows in old objects.
 *
 * Only where the parent is there: a default of `spec.size` does not make a `spec`. Defaults are filled in into
 * defaults, and take the place of a null that may not stand. Nothing given is written to; an object that needs
 * nothing comes back as it is, and what has no defaults below it is not even looked at.
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

/** What finally stands at a place; `undefined` when there is nothing and no default. */
function applyDefault(value: JsonValue | undefined, plan: CompiledSchema): JsonValue | undefined {
  const lacking = value === undefined || (value === null && !plan.nullable)
  if (!lacking) return fill(value, plan)
  return plan.defaultValue === undefined ? value : fill(deepCopy(plan.defaultValue), plan)
}
