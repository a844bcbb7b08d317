/**
 * Removes the fields of a set from a value, or extracts them.
 *
 * Atomic containers are removed or kept as a whole. A container that loses all its fields becomes null. Only fields
 * that are members of the set are removed entirely.
 */
import { setOwn, type JsonArray, type JsonObject, type JsonObjectDraft, type JsonValue } from '@evenkeel/cel/primitives'
import type { FieldSet } from './field-set.ts'
import { typeOfField, type FieldType, type ListOf, type MapOf } from './field-type.ts'
import { fieldElement } from './path-element.ts'
import { asList, asMap, isEmptyList, isEmptyMap, itemElementOrNone, valueKindOf } from './typed-value.ts'

/** The value without the fields; the same value when it has none of them. */
export function removeFields(value: JsonValue, fields: FieldSet, type: FieldType): JsonValue {
  if (fields.isEmpty) return value
  switch (valueKindOf(type, value)) {
    case 'map': {
      const map = asMap(value)
      return map && !isEmptyMap(map) && type.map?.atomic !== true ? removeFromMap(map, fields, type.map as MapOf) : null
    }
    case 'list': {
      const list = asList(value)
      return list && !isEmptyList(list) && type.list?.atomic !== true
        ? removeFromList(list, fields, type.list as ListOf)
        : null
    }
    default:
      return value
  }
}

/** Only the fields of the set; keys of list items only if the set contains them. */
export function extractFields(value: JsonValue, fields: FieldSet, type: FieldType): JsonValue {
  switch (valueKindOf(type, value)) {
    case 'map': {
      const map = asMap(value)
      return map && !isEmptyMap(map) && type.map?.atomic !== true
        ? extractFromMap(map, fields, type.map as MapOf)
        : (map ?? null)
    }
    case 'list': {
      const list = asList(value)
      return list && !isEmptyList(list) && type.list?.atomic !== true
        ? extractFromList(list, fields, type.list as ListOf)
        : (list ?? null)
    }
    default:
      return value
  }
}

function removeFromMap(map: JsonObject, fields: FieldSet, type: MapOf): JsonValue {
  const rest: JsonObjectDraft = {}
  let [isSame, isEmpty] = [true, true]
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (value === undefined) continue
    const node = fields.node(fieldElement(name))
    if (node?.member === true) {
      isSame = false
      continue
    }
    const field = node?.children && typeOfField(type, name)
    const left = field && node.children ? removeFields(value, node.children, field) : value
    isSame &&= left === value
    isEmpty = false
    setOwn(rest, name, left)
  }
  if (isSame) return map
  return isEmpty ? null : rest
}

function removeFromList(list: JsonArray, fields: FieldSet, type: ListOf): JsonValue {
  const rest: JsonValue[] = []
  let isSame = true
  for (const item of list) {
    const node = fields.node(itemElementOrNone(type, item))
    if (node?.member !== true) rest.push(node?.children ? removeFields(item, node.children, type.items.type) : item)
    isSame &&= rest.at(-1) === item
  }
  if (isSame && rest.length === list.length) return list
  return rest.length === 0 ? null : rest
}

function extractFromMap(map: JsonObject, fields: FieldSet, type: MapOf): JsonValue {
  const found: JsonObjectDraft = {}
  for (const name of Object.keys(map)) {
    const value = map[name]
    const node = fields.node(fieldElement(name))
    const field = node && typeOfField(type, name)
    if (value === undefined || !field) continue
    // A member is taken with what the set knows from here on down, which for a struct is nothing: leaves and atoms stay whole.
    setOwn(found, name, extractFields(value, node.member || !node.children ? fields : node.children, field))
  }
  return Object.keys(found).length === 0 ? null : found
}

function extractFromList(list: JsonArray, fields: FieldSet, type: ListOf): JsonValue {
  const found: JsonValue[] = []
  for (const item of list) {
    const node = fields.node(itemElementOrNone(type, item))
    if (node) found.push(node.children ? extractFields(item, node.children, type.items.type) : item)
  }
  return found.length === 0 ? null : found
}
