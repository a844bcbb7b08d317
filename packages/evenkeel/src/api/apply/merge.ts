/**
 * Merges an apply configuration into the live value: maps by key, lists by item, leaves from the configuration.
 *
 * A merge removes nothing; fields that the manager no longer applies are pruned afterwards. Parts that the
 * configuration does not change are the live values themselves, not copies. A merge that changes nothing returns the
 * live value.
 *
 * Merged lists keep the live order. Items that both lists have come in the order of the configuration; items that only
 * the configuration has come next to their neighbours there:
 *
 *     live [a b c d], config [x c b]   ──▶   [a x c d b]
 *
 * Pruning leaves null in place of a container that lost all its fields. The schemas of custom resources seldom allow
 * null, so an emptied map or list becomes `{}` or `[]`.
 */
import {
  getOwn,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { typeOfField, type FieldType, type ListOf, type MapOf, type ScalarKind } from './field-type.ts'
import { fieldElement, formatElement, type PathElement } from './path-element.ts'
import {
  asList,
  asMap,
  isEmptyList,
  isEmptyMap,
  itemElement,
  itemElementOrNone,
  requireShallow,
  scalarError,
  typedError,
  valueKindOf,
} from './typed-value.ts'

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

  /** Duplicate items are not merged: the configuration replaces them all. */
  #livesByElement(elements: readonly PathElement[], list: JsonArray): Map<PathElement, JsonValue> {
    const items = new Map<PathElement, JsonValue>()
    for (const [index, element] of elements.entries())
      items.set(element, items.has(element) ? null : (list[index] as JsonValue))
    return items
  }
}

// The order of merged list items.

interface OrderedItem {
  readonly element: PathElement
  /** The index in the live list, if the item comes from there; otherwise -1. */
  readonly liveIndex: number
}

/** Both lists as path elements. The configuration has no duplicates; the live list may have some. */
export function mergeOrder(live: readonly PathElement[], config: readonly PathElement[]): OrderedItem[] {
  const inLive = new Set(live)
  const inConfig = new Set(config)
  const shared = config.filter((element) => inLive.has(element))
  const taken = new Set<PathElement>()
  const order: OrderedItem[] = []
  let next = 0
  for (let at = 0, wanted = 0; at < live.length || wanted < config.length;) {
    const [here, want] = [live[at], config[wanted]]
    if (
      here !== undefined &&
      want !== undefined &&
      here !== want &&
      inConfig.has(here) &&
      shared[next] !== undefined &&
      shared[next] !== here
    ) {
      // Both lists have it, but the configuration has another one first.
      at++
      continue
    }
    if (here !== undefined && here !== want) {
      if (!inConfig.has(here)) {
        order.push({ element: here, liveIndex: at++ })
        continue
      }
      if (taken.has(here)) at++
    }
    if (want === undefined) continue
    if (here === want) at++
    if (here === want || shared[next] === want) next++
    taken.add(want)
    order.push({ element: want, liveIndex: -1 })
    wanted++
  }
  return order
}

// Emptied containers.

/** A value after the removal of fields, with empty containers instead of nulls that were not null before. */
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
