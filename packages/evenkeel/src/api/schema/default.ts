/**
 * Applies the defaults that the structural schema of a custom resource declares: when an object is written, and again
 * whenever it is read, so that a new default appears in old objects.
 *
 * A default applies only where the parent exists: one of `spec.size` does not create `spec`. It replaces a null that the
 * schema does not allow, and it gets defaults itself. The given object is not modified; an object that lacks no default
 * is returned as it is, and subtrees without defaults are skipped.
 *
 * Defaults multiply: a large one in the items of a list turns a small request into a huge object. So what they add is
 * counted and bounded.
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
import { requestEntityTooLarge } from '../errors/constructors.ts'
import { compileSchema, type CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema.ts'

/** What defaults may add to one object: as much as a request may have. */
const addedBytesMax = 3 * 1024 * 1024

/** What defaults may still add. */
interface Room {
  bytes: number
}

/** The object with its defaults. @throws {ApiError} `RequestEntityTooLarge` when they add too much. */
export function defaultCustomObject(object: JsonObject, schema: SchemaNode): JsonObject {
  return fill(object, compileSchema(schema), { bytes: addedBytesMax }) as JsonObject
}

function fill(value: JsonValue, plan: CompiledSchema, room: Room): JsonValue {
  if (!plan.hasDefaults || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return plan.items ? fillList(value, plan.items, room) : value
  return fillObject(value as JsonObject, plan, room)
}

function fillList(list: JsonArray, items: CompiledSchema, room: Room): JsonArray {
  let draft: JsonValue[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index] ?? null
    const settled = applyDefault(item, items, room) ?? null
    if (settled !== item) (draft ??= [...list])[index] = settled
  }
  return draft ?? list
}

function fillObject(object: JsonObject, { properties, additional }: CompiledSchema, room: Room): JsonObject {
  let draft: JsonObjectDraft | undefined
  const put = (key: string, value: JsonValue | undefined, plan: CompiledSchema): void => {
    const settled = applyDefault(value, plan, room)
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
function applyDefault(value: JsonValue | undefined, plan: CompiledSchema, room: Room): JsonValue | undefined {
  const lacking = value === undefined || (value === null && !plan.nullable)
  if (!lacking) return fill(value, plan, room)
  if (plan.defaultValue === undefined) return value
  room.bytes -= plan.defaultBytes
  if (room.bytes < 0)
    throw requestEntityTooLarge(`the defaults of the schema add more than ${addedBytesMax} bytes to the object`)
  return fill(deepCopy(plan.defaultValue), plan, room)
}
