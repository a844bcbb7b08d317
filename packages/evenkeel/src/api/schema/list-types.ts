/**
 * Lists of type set must not repeat an item; lists of type map must not repeat the keys of an item.
 *
 * An item that occurs three times is reported once, at its second position, as kube-apiserver does.
 */
import { getOwn, isJsonObject, setOwn, type JsonArray, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, type FieldError } from '../errors/field-error.ts'
import type { CompiledSchema } from './compile.ts'
import { canonicalJson, sortKeys } from './correlate.ts'

type OptionalPath = FieldPath | undefined

/** The repeated items in all lists of type set and map inside a value. */
export function validateListTypes(value: JsonValue, plan: CompiledSchema, path: OptionalPath): FieldError[] {
  const errors: FieldError[] = []
  visit(value, plan, { path, errors })
  return errors
}

interface ListVisit {
  readonly path: OptionalPath
  readonly errors: FieldError[]
}

function visit(value: JsonValue, plan: CompiledSchema, { path, errors }: ListVisit): void {
  if (!plan.hasListTypes || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const error of validateList(value, plan, path)) errors.push(error)
    if (plan.items?.hasListTypes === true)
      for (const [index, item] of value.entries())
        visit(item as JsonValue, plan.items, { path: path?.index(index), errors })
    return
  }
  for (const key of Object.keys(value)) {
    const child = (value as JsonObject)[key]
    const place = plan.properties?.get(key)
    if (child === undefined) continue
    if (place) visit(child, place, { path: path?.child(key) ?? FieldPath.of(key), errors })
    else if (plan.additional)
      visit(child, plan.additional, { path: path?.key(key) ?? FieldPath.of(`[${key}]`), errors })
  }
}

function validateList(
  list: JsonArray,
  { listType: type, listMapKeys: names }: CompiledSchema,
  path: OptionalPath,
): FieldError[] {
  if (type === 'set')
    return duplicates(list.map(keyText)).map((index) =>
      fieldError.duplicate(path?.index(index), sortKeys(list[index] ?? null)),
    )
  if (type !== 'map') return []
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (wrong >= 0)
    return [
      fieldError.invalid(
        path?.index(wrong),
        sortKeys(list[wrong] ?? null),
        'must be an object for an array of list-type map',
      ),
    ]
  const texts = list.map((item) =>
    names.length === 1 ? keyText(valueOf(item, names[0] ?? '')) : canonicalJson(keysOf(item, names)),
  )
  return duplicates(texts).map((index) =>
    fieldError.duplicate(path?.index(index), sortKeys(keysOf(list[index] ?? null, names))),
  )
}

/** The positions at which a key occurs for the second time. */
function duplicates(keys: readonly unknown[]): number[] {
  if (new Set(keys).size === keys.length) return []
  const counts = new Map<unknown, number>()
  const found: number[] = []
  for (const [index, key] of keys.entries()) {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count === 2) found.push(index)
  }
  return found
}

/** The key of a value in a set. A text gets a prefix, so that `"1"` and `1` differ. */
function keyText(value: JsonValue | undefined): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? canonicalJson(value) : value
}

function valueOf(item: JsonValue, name: string): JsonValue | undefined {
  return isJsonObject(item) ? getOwn(item, name) : undefined
}

function keysOf(item: JsonValue, names: readonly string[]): JsonObject {
  const keys = {}
  for (const name of names) {
    const value = valueOf(item, name)
    if (value !== undefined) setOwn(keys, name, value)
  }
  return keys
}
