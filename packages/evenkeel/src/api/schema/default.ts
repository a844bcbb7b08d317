/**
 * Fills in the defaults that a schema of a custom resource declares.
 *
 * Only where the parent is there: a default of `spec.size` does not make a `spec`, unless `spec` has a default itself.
 * Defaults are filled in into defaults. A null where none may stand counts as absent.
 *
 * Nothing given is written to; what needs nothing comes back as it is. For built-in kinds this is of no use: the
 * defaults in their schemas are the zero values of Go, and their real ones are rules of the server.
 */
import { deepCopy, getOwn, isJsonObject, setOwn } from '../json.ts'
import type { JsonArray, JsonObject, JsonObjectDraft, JsonValue } from '../json.ts'
import { resolve } from './resolve.ts'
import type { Definitions, Schema, SchemaNode } from './schema.ts'

/** The value with its defaults. */
export function applyDefaults(value: JsonValue, { root, definitions }: Schema): JsonValue {
  return fill(value, root, definitions)
}

function fill(value: JsonValue, place: SchemaNode, definitions: Definitions): JsonValue {
  const { node } = resolve(place, definitions)
  if (Array.isArray(value)) return node.items ? fillList(value, node.items, definitions) : value
  return isJsonObject(value) ? fillObject(value, node, definitions) : value
}

function fillList(list: JsonArray, items: SchemaNode, definitions: Definitions): JsonArray {
  let draft: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const settled = settle(item, items, definitions) ?? null
    if (settled !== item) (draft ??= [...list])[index] = settled
  }
  return draft ?? list
}

function fillObject(object: JsonObject, node: SchemaNode, definitions: Definitions): JsonObject {
  let draft: JsonObjectDraft | undefined
  for (const [key, place] of placesIn(object, node)) {
    const value = getOwn(object, key)
    const settled = settle(value, place, definitions)
    if (settled === value) continue
    draft ??= { ...object }
    if (settled === undefined) delete draft[key]
    else setOwn(draft, key, settled)
  }
  return draft ?? object
}

/** Every place of an object that holds something or could: declared fields, and whatever else is there. */
function* placesIn(object: JsonObject, { properties = {}, additionalProperties }: SchemaNode): Generator<[string, SchemaNode]> {
  yield* Object.entries(properties)
  if (typeof additionalProperties !== 'object') return
  for (const key of Object.keys(object)) if (!Object.hasOwn(properties, key)) yield [key, additionalProperties]
}

/** What finally stands at a place: the value or its default, with defaults inside; `undefined` when there is neither. */
function settle(value: JsonValue | undefined, place: SchemaNode, definitions: Definitions): JsonValue | undefined {
  if (value !== null && value !== undefined) return fill(value, place, definitions)
  const { node } = resolve(place, definitions)
  if (value === null && (place.nullable ?? node.nullable) === true) return null
  const standard = place.default ?? node.default ?? undefined
  return standard === undefined ? undefined : fill(deepCopy(standard), place, definitions)
}
