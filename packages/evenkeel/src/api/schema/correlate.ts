/**
 * Finds the part of the old object that a part of the new object corresponds to, and whether it has changed.
 *
 * Fields correspond by name, items of a list of type map by their keys, items of other lists not at all. An error in a
 * part that has not changed existed before, so an update is not refused for it.
 *
 * `canonicalJson` writes JSON with sorted keys: one text for all equal values, and the order in which Go shows them.
 */
import {
  deepEqual,
  getOwn,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '@evenkeel/cel/primitives'
import type { CompiledSchema } from './compile.ts'

/** A value and the value of the old object that it corresponds to. */
export class CorrelatedValue {
  readonly #value: JsonValue
  readonly #old: JsonValue
  readonly #plan: CompiledSchema
  #oldItems: ReadonlyMap<string, JsonObject> | undefined
  #isSame: boolean | undefined

  constructor(value: JsonValue, old: JsonValue, plan: CompiledSchema) {
    this.#value = value
    this.#old = old
    this.#plan = plan
  }

  /** The value in the old object. */
  get old(): JsonValue {
    return this.#old
  }

  /** A field of both; `undefined` when one lacks it or the schema does not declare it. */
  field(key: string): CorrelatedValue | undefined {
    const place = this.#plan.properties?.get(key) ?? this.#plan.additional
    if (!place || !isJsonObject(this.#value) || !isJsonObject(this.#old)) return undefined
    const value = getOwn(this.#value, key)
    const old = getOwn(this.#old, key)
    return value === undefined || old === undefined ? undefined : new CorrelatedValue(value, old, place)
  }

  /** An item of a list that is a map, with the old item that has the same keys. */
  item(index: number): CorrelatedValue | undefined {
    const { items } = this.#plan
    if (!items || !this.#isMapList() || !Array.isArray(this.#value) || !Array.isArray(this.#old)) return undefined
    const value = (this.#value as JsonArray)[index] ?? null
    const key = this.#keyOf(value)
    this.#oldItems ??= this.#indexOf(this.#old)
    const old = key === undefined ? undefined : this.#oldItems.get(key)
    return old && new CorrelatedValue(value, old, items)
  }

  /** Whether nothing has changed here; the order of a list that is a map does not matter. */
  isSame(): boolean {
    return (this.#isSame ??= this.#compare(this.#value, this.#old))
  }

  #compare(value: JsonValue, old: JsonValue): boolean {
    if (Array.isArray(value)) return Array.isArray(old) && this.#compareLists(value, old)
    if (!isJsonObject(value) || !isJsonObject(old)) return value === old
    const keys = Object.keys(value).filter((key) => value[key] !== undefined)
    if (keys.length !== Object.keys(old).filter((key) => old[key] !== undefined).length) return false
    // A field without a schema has no counterpart, so an object with one always counts as changed.
    return keys.every((key) => this.field(key)?.isSame() ?? false)
  }

  #compareLists(list: JsonArray, old: JsonArray): boolean {
    if (list.length !== old.length) return false
    if (!this.#isMapList()) return deepEqual(list, old)
    return list.every((_, index) => this.item(index)?.isSame() ?? false)
  }

  #isMapList(): boolean {
    return this.#plan.listType === 'map'
  }

  /** The first of several items with the same keys counts. */
  #indexOf(list: JsonArray): Map<string, JsonObject> {
    const items = new Map<string, JsonObject>()
    for (const item of list) {
      const key = this.#keyOf(item)
      if (key !== undefined && !items.has(key)) items.set(key, item as JsonObject)
    }
    return items
  }

  /** `undefined` when a key is missing or no scalar. */
  #keyOf(item: JsonValue): string | undefined {
    const names = this.#plan.listMapKeys
    if (!isJsonObject(item) || names.length === 0) return undefined
    const values = names.map((name) => getOwn(item, name) ?? null)
    return values.some((value) => typeof value === 'object') ? undefined : stringifyJson(values)
  }
}

// Canonical JSON. Recursion is bounded by the nesting limit of the JSON parser.

/** A copy with sorted keys, for messages. */
export function sortKeys(value: JsonValue): JsonValue {
  return typeof value === 'object' && value !== null ? (parseJson(canonicalJson(value)) as JsonValue) : value
}

export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${(value as JsonArray).map(canonicalJson).join()}]`
  if (!isJsonObject(value)) return value === undefined ? '' : stringifyJson(value)
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join()}}`
}
