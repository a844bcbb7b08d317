/**
 * Rules about `x-kubernetes-list-type` and `x-kubernetes-map-type`: what items a set or a keyed list may have.
 *
 * Apply merges lists by these, so keys must be there in every item and items must be comparable.
 */
import { getOwn } from '@evenkeel/cel/primitives'
import { fieldError, type FieldError, type FieldPath } from '../errors/field-error.ts'
import { isSchema, type JsonSchemaProps } from './json-schema-props.ts'

export function checkMapType(schema: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  requireType(schema, { type: 'object', keyword: 'x-kubernetes-map-type', path, errors })
  if (!['atomic', 'granular'].includes(mapType))
    errors.push(fieldError.notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
}

export function checkListType(schema: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  const at = path.child('x-kubernetes-list-type')
  if (schema['x-kubernetes-list-map-keys'] !== undefined && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? fieldError.required(at, detail) : fieldError.invalid(at, listType, detail))
  }
  if (listType === undefined) return
  const isList = requireType(schema, { type: 'array', keyword: 'x-kubernetes-list-type', path, errors })
  if (!['atomic', 'set', 'map'].includes(listType))
    errors.push(fieldError.notSupported(at, listType, ['atomic', 'set', 'map']))
  const items = isSchema(schema.items) ? schema.items : undefined
  if (items !== undefined && isList && listType === 'set') checkSetItems(items, path.child('items'), errors)
  if (listType === 'map') checkKeyedList(schema, path, errors)
  if (items !== undefined && ['set', 'map'].includes(listType)) checkPresence(schema, items, { path, errors })
}

interface RequiredType {
  readonly type: string
  readonly keyword: string
  readonly path: FieldPath
  readonly errors: FieldError[]
}

function requireType(schema: JsonSchemaProps, { type, keyword, path, errors }: RequiredType): boolean {
  if (schema.type === type) return true
  const detail = `must be ${type} if ${keyword} is specified`
  errors.push(
    schema.type === undefined
      ? fieldError.required(path.child('type'), detail)
      : fieldError.invalid(path.child('type'), schema.type, detail),
  )
  return false
}

/** Members of a set are compared as wholes. */
function checkSetItems(items: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const [listType, mapType] = [items['x-kubernetes-list-type'], items['x-kubernetes-map-type']]
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic')
    errors.push(fieldError.invalid(path.child('x-kubernetes-list-type'), listType, detail))
  // Upstream shows the list type here, which an object has not.
  if (items.type === 'object' && mapType !== 'atomic')
    errors.push(fieldError.invalid(path.child('x-kubernetes-map-type'), listType ?? null, detail))
}

function checkKeyedList(schema: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const keys = schema['x-kubernetes-list-map-keys']
  const at = path.child('items')
  if (keys === undefined)
    errors.push(
      fieldError.required(
        path.child('x-kubernetes-list-map-keys'),
        'must not be empty if x-kubernetes-list-type is map',
      ),
    )
  if (schema.items === undefined)
    errors.push(fieldError.required(at, 'must have a schema if x-kubernetes-list-type is map'))
  else if (!isSchema(schema.items))
    errors.push(fieldError.invalid(at, schema.items, 'must only have a single schema if x-kubernetes-list-type is map'))
  else if (schema.items.type !== 'object') {
    errors.push(
      fieldError.invalid(
        at.child('type'),
        schema.items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    )
  } else checkKeys(keys ?? [], schema.items, { path, errors })
}

interface ListKeyContext {
  readonly path: FieldPath
  readonly errors: FieldError[]
}

function checkKeys(keys: readonly string[], items: JsonSchemaProps, { path, errors }: ListKeyContext): void {
  const at = path.child('x-kubernetes-list-map-keys')
  for (const [index, key] of keys.entries()) {
    const property = items.properties && getOwn(items.properties, key)
    if (property === undefined)
      errors.push(fieldError.invalid(at, keys, 'entries must all be names of item properties'))
    else if (property.type === 'array' || property.type === 'object') {
      const place = path.child('items', 'properties').key(key).child('type')
      errors.push(
        fieldError.invalid(place, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"),
      )
    }
    if (keys.indexOf(key) < index) errors.push(fieldError.invalid(at, keys, 'must not contain duplicate entries'))
  }
}

/** Items of sets and keyed lists, and keys, are always there: never null, and required unless defaulted. */
function checkPresence(schema: JsonSchemaProps, items: JsonSchemaProps, { path, errors }: ListKeyContext): void {
  const listType = schema['x-kubernetes-list-type'] ?? ''
  if (items.nullable)
    errors.push(
      fieldError.forbidden(
        path.child('items', 'nullable'),
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      ),
    )
  for (const key of listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []) {
    const property = items.properties && getOwn(items.properties, key)
    if (property === undefined) continue
    const at = path.child('items', 'properties').key(key)
    if (!(items.required ?? []).includes(key) && property.default === undefined) {
      errors.push(
        fieldError.required(
          at.child('default'),
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      )
    }
    if (property.nullable)
      errors.push(
        fieldError.forbidden(
          at.child('nullable'),
          'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        ),
      )
  }
}
