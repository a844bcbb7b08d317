/**
 * An applied configuration laid over the live value: maps by key, lists by item, leaves from the configuration.
 *
 * Nothing is removed here; what a manager no longer mentions is pruned afterwards. Whatever the configuration does not
 * change is the live value itself, not a copy, and a merge that changes nothing gives back the live value.
 */
import { getOwn, setOwn } from '../../json.ts'
import type { JsonArray, JsonObject, JsonObjectDraft, JsonValue } from '../../json.ts'
import { fieldElement, formatElement } from '../paths/element.ts'
import type { PathElement } from '../paths/element.ts'
import { typeOfField } from './field-type.ts'
import type { FieldType, ListOf, MapOf, ScalarKind } from './field-type.ts'
import { itemElement } from './item-element.ts'
import { asList, asMap, isEmptyList, isEmptyMap, valueKindOf, scalarError } from './kinds.ts'
import { mergeOrder } from './merge-order.ts'
import { requireShallow, typedError } from './mistakes.ts'

/** @throws {TypedError} when a value does not fit the type, or the configuration names an item twice. */
export function merge(live: JsonValue, config: JsonValue, type: FieldType): JsonValue {
  return new Merger().visit(live, config, type) ?? null
}

type Side = JsonValue | undefined

class Merger {
  readonly #path: PathElement[] = []

  visit(live: Side, config: Side, type: FieldType): Side {
    if (config === undefined) return live
    requireShallow(this.#path)
    switch (valueKindOf(type, config)) {
      case 'map':
        return this.#mergeMaps(live, config, type.map as MapOf)
      case 'list':
        return this.#mergeLists(live, config, type.list as ListOf)
      case 'scalar':
        return this.#mergeScalars(live, config, type.scalar as ScalarKind)
      case undefined:
        throw typedError(this.#path, 'schema error: invalid atom: inlined')
    }
  }

  #mergeScalars(live: Side, config: JsonValue, kind: ScalarKind): JsonValue {
    const mistake = scalarError(kind, config)
    if (mistake !== undefined && scalarError(kind, live) !== undefined) throw typedError(this.#path, `rhs: ${mistake}`)
    return config
  }

  #mergeMaps(live: Side, config: JsonValue, type: MapOf): JsonValue {
    const [left, right] = [asMap(live), asMap(config)]
    if (type.atomic || (isEmptyMap(left) && isEmptyMap(right))) return config
    return left ? this.#mergeInto(left, right ?? {}, type) : (right as JsonObject)
  }

  #mergeInto(left: JsonObject, right: JsonObject, type: MapOf): JsonObject {
    let merged: JsonObjectDraft | undefined
    for (const name of Object.keys(right)) {
      const config = right[name]
      if (config === undefined) continue
      this.#path.push(fieldElement(name))
      const field = typeOfField(type, name)
      if (!field) throw typedError(this.#path, 'field not declared in schema')
      const live = getOwn(left, name)
      const value = this.visit(live, config, field)
      this.#path.pop()
      if (value !== live) setOwn((merged ??= { ...left }), name, value)
    }
    return merged ?? left
  }

  #mergeLists(live: Side, config: JsonValue, type: ListOf): JsonValue {
    const [left, right] = [asList(live), asList(config)]
    if (type.atomic || (isEmptyList(left) && isEmptyList(right))) return config
    const before = this.#elementsOf(left ?? [], type)
    const wanted = this.#elementsOf(right ?? [], type)
    const configs = this.#byElement(wanted, right ?? [])
    const lives = this.#livesByElement(before, left ?? [])
    const merged = mergeOrder(before, wanted).map(({ element, liveIndex }) => {
      const config = configs.get(element)
      if (config === undefined) return (left ?? [])[liveIndex] as JsonValue
      this.#path.push(element)
      const value = this.visit(lives.get(element), config, type.items.type)
      this.#path.pop()
      return value as JsonValue
    })
    return left?.length === merged.length && merged.every((item, index) => item === left[index]) ? left : merged
  }

  #elementsOf(list: JsonArray, type: ListOf): PathElement[] {
    return list.map((item, index) => itemElement(type, item, { path: this.#path, index }))
  }

  #byElement(elements: readonly PathElement[], list: JsonArray): Map<PathElement, JsonValue> {
    const items = new Map<PathElement, JsonValue>()
    for (const [index, element] of elements.entries()) {
      if (items.has(element)) throw typedError(this.#path, `duplicate entries for key ${formatElement(element)}`)
      items.set(element, list[index] as JsonValue)
    }
    return items
  }

  /** Items that are there more than once are not merged with anything: the configuration replaces them all. */
  #livesByElement(elements: readonly PathElement[], list: JsonArray): Map<PathElement, JsonValue> {
    const items = new Map<PathElement, JsonValue>()
    for (const [index, element] of elements.entries())
      items.set(element, items.has(element) ? null : (list[index] as JsonValue))
    return items
  }
}
