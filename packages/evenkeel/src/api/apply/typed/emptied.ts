/**
 * Containers that lost everything they held.
 *
 * Taking fields out leaves null where a container was. Schemas of custom kinds seldom allow null, and nobody asked for
 * one: what was a map or a list is an empty one now.
 */
import { getOwn, setOwn } from '../../json.ts'
import type { JsonArray, JsonObject, JsonObjectDraft, JsonValue } from '../../json.ts'
import { itemElementOrNone } from './item-element.ts'
import { typeOfField } from './field-type.ts'
import type { FieldType, ListOf, MapOf } from './field-type.ts'
import { asList, asMap, valueKindOf } from './kinds.ts'

/** A value that was made of another by taking fields out, with empty containers for nulls that were none before. */
export function fillEmptied(value: JsonValue, before: JsonValue, type: FieldType): JsonValue {
  if (value === before) return value
  const kind = valueKindOf(type, before)
  if (kind === 'map' && type.map?.atomic === false) return fillMap(value, asMap(before), type.map)
  if (kind === 'list' && type.list?.atomic === false) return fillList(value, asList(before), type.list)
  return value
}

function fillMap(value: JsonValue, before: JsonObject | undefined, type: MapOf): JsonValue {
  if (!before) return value
  if (value === null) return {}
  const map = asMap(value)
  let filled: JsonObjectDraft | undefined
  for (const name of map ? Object.keys(map) : []) {
    const [field, old, below] = [map?.[name], getOwn(before, name), typeOfField(type, name)]
    if (field === undefined || old === undefined || !below) continue
    const result = fillEmptied(field, old, below)
    if (result !== field) setOwn((filled ??= { ...map }), name, result)
  }
  return filled ?? value
}

function fillList(value: JsonValue, before: JsonArray | undefined, type: ListOf): JsonValue {
  if (!before) return value
  if (value === null) return []
  const list = asList(value)
  if (!list) return value
  const olds = new Map(before.map((item) => [itemElementOrNone(type, item), item]))
  return list.map((item) => {
    const old = olds.get(itemElementOrNone(type, item))
    return old === undefined ? item : fillEmptied(item, old, type.items.type)
  })
}
