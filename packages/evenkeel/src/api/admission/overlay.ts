/**
 * Merges an apply configuration of a mutating policy into an object: by the rules of server-side apply, but without an
 * owner.
 *
 * Atomic fields are rejected: setting one field inside would remove all others by accident.
 */
import { pushAll, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { fieldTypeOf, type FieldType } from '../apply/field-type.ts'
import { merge } from '../apply/merge.ts'
import { TypedError, validateTyped } from '../apply/typed-value.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonResult } from './expressions.ts'

/** The object merged with the configuration; neither is changed. */
export function overlay(object: JsonObject, part: JsonObject, schema: Schema | undefined): JsonResult<JsonObject> {
  const type = fieldTypeOf(schema)
  const misfit = attempt('failed to convert patch object to typed object', () => {
    validateTyped(part, type)
  })
  if (misfit !== undefined) return { error: misfit }
  const atomics = findAtomics(part, type, '')
  if (atomics.length > 0)
    return { error: `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}` }
  let merged: JsonValue = object
  const failure = attempt('failed to merge patch', () => {
    merged = merge(object, part, type)
  })
  return failure === undefined ? { json: merged as JsonObject } : { error: failure }
}

function attempt(what: string, run: () => void): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    return `${what}: ${error.message}`
  }
}

/** Only declared fields are checked, as upstream does. */
function findAtomics(value: JsonValue, { map, list }: FieldType, path: string): string[] {
  const found: string[] = []
  if (Array.isArray(value) && list) {
    if (list.atomic) found.push(path)
    value.forEach((item, index) => pushAll(found, findAtomics(item, list.items.type, `${path}[${index}]`)))
  }
  if (isJsonObject(value) && map) {
    if (map.atomic) found.push(path)
    for (const [name, inner] of Object.entries(value)) {
      const field = map.fields.get(name)
      if (field && inner !== undefined) pushAll(found, findAtomics(inner, field.type, `${path}.${name}`))
    }
  }
  return found
}
