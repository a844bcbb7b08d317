/**
 * Merges two lists of a strategic merge patch: objects by their merge key, scalars as a set.
 *
 * An item of the patch may contain `$patch: delete` (removes the item with its key) or `$patch: replace` (replaces the
 * whole list). The merged list is then ordered: items of the patch in the order of the patch (or of
 * `$setElementOrder`), the others in their old order, interleaved so that the others keep their old position relative
 * to the items of the patch.
 *
 *     old  a b c d      patch order  d b      result  a d b c      (c was after b, a before both)
 */
import { getOwn, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { noMergeKey, patchWord, typeOf, unexpected, unprocessable, type PatchType } from './strategic-directives.ts'

interface ListMerge {
  readonly mergeKey: string
  /** The patch list contains the items to remove from a list of scalars. */
  readonly deleting: boolean
  /** Merges an item that both lists have. */
  readonly mergeItems: (original: JsonObject, patch: JsonObject) => JsonValue
}

/** The merged list. */
export function mergeLists(
  original: JsonArray,
  patch: JsonArray,
  { mergeKey, deleting, mergeItems }: ListMerge,
): JsonArray {
  if (original.length === 0 && patch.length === 0) return original
  if (itemType(original, patch) !== 'map') {
    const named = new Set(patch)
    if (deleting) return original.filter((item) => !named.has(item))
    return arrange([...new Set([...original, ...patch])], { mergeKey, wanted: patch, was: original })
  }
  if (mergeKey === '') throw unprocessable('cannot merge lists of objects without a merge key')
  const { kept, changes } = applyItemDirectives(
    original as readonly JsonObject[],
    patch as readonly JsonObject[],
    mergeKey,
  )
  const merged = mergeByKey(kept, changes, { mergeKey, mergeItems })
  return arrange(merged, { mergeKey, wanted: changes, was: kept })
}

/** The common type of all items. @throws {ApiError} for several types, lists, nulls, or no items at all. */
export function itemType(...lists: readonly JsonArray[]): PatchType {
  let type: PatchType | undefined
  for (const item of lists.flat() as JsonArray) {
    const found = typeOf(item)
    type ??= found
    if (found !== type) throw unprocessable('list element types are not identical')
    if (found === 'list') throw unprocessable('lists of lists are not supported')
    if (found === 'nil') throw unprocessable('a merged list cannot have null for an item')
  }
  if (type === undefined) throw unprocessable('no elements in any of the given slices')
  return type
}

/** Applies the items with `$patch`, and returns the remaining items of both lists. */
function applyItemDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { kept: readonly JsonObject[]; changes: readonly JsonObject[] } {
  const changes: JsonObject[] = []
  const deleted = new Set<JsonValue>()
  let replace = false
  for (const item of patch) {
    const directive = getOwn(item, patchWord)
    if (directive === undefined) changes.push(item)
    else if (directive === 'delete') deleted.add(itemIdentity(item, mergeKey))
    else if (directive === 'replace') replace = true
    else if (directive === 'merge') throw unprocessable('merging lists cannot yet be specified in the patch')
    else throw unknownPatchType(directive)
  }
  if (replace) return { kept: changes, changes: [] }
  if (deleted.size === 0) return { kept: original, changes }
  return {
    kept: original.filter((item) => !deleted.has(getOwn(item, mergeKey) ?? null) || !Object.hasOwn(item, mergeKey)),
    changes,
  }
}

export function unknownPatchType(directive: JsonValue): Error {
  return unprocessable(
    `unknown patch type: ${typeof directive === 'string' ? directive.slice(0, 200) : typeOf(directive)}`,
  )
}

function mergeByKey(
  kept: readonly JsonObject[],
  changes: readonly JsonObject[],
  { mergeKey, mergeItems }: Pick<ListMerge, 'mergeKey' | 'mergeItems'>,
): JsonArray {
  const merged: JsonValue[] = [...kept]
  const places = new Map<JsonValue, number>()
  for (const [index, item] of kept.entries()) {
    const key = getOwn(item, mergeKey)
    if (key !== undefined && !places.has(key)) places.set(key, index)
  }
  for (const change of changes) {
    const key = itemIdentity(change, mergeKey)
    const place = places.get(key)
    if (place === undefined) {
      places.set(key, merged.length)
      merged.push(change)
    } else merged[place] = mergeItems(objectAt(merged, place), change)
  }
  return merged
}

function objectAt(items: JsonArray, index: number): JsonObject {
  const item = items[index] ?? null
  if (!isJsonObject(item)) throw unexpected('map', item)
  return item
}

/** Whether the items of a patch list are all in `$setElementOrder`, and in its order. */
export function followsOrder(patch: JsonArray, order: JsonArray, mergeKey: string): boolean {
  if (patch.length === 0 || order.length === 0) return true
  const items = mergeKey === '' ? patch : patch.filter((item) => directiveOf(item) !== 'delete')
  let next = 0
  for (const listed of order) {
    while (next < items.length && directiveOf(items[next] as JsonValue) !== undefined) next++
    if (next === items.length) return true
    if (itemIdentity(items[next] as JsonValue, mergeKey) === itemIdentity(listed, mergeKey)) next++
  }
  return next === items.length
}

/**
 * The old order as `$setElementOrder` uses it. New items are at its end, as far as deleted items left space. kubectl
 * does not rely on this, but upstream does it, and clients see the order.
 */
export function orderBefore(original: JsonArray, patch: JsonArray, mergeKey: string): JsonArray {
  const deleted = new Set(
    patch.filter((item) => directiveOf(item) === 'delete').map((item) => itemIdentity(item, mergeKey)),
  )
  if (deleted.size === 0 || patch.some((item) => directiveOf(item) === 'replace')) return original
  const kept = original.filter((item) => !deleted.has(itemIdentity(item, mergeKey)))
  const known = new Set(kept.map((item) => itemIdentity(item, mergeKey)))
  const added = patch.filter((item) => directiveOf(item) === undefined && !known.has(itemIdentity(item, mergeKey)))
  return [...kept, ...added.slice(0, original.length - kept.length)]
}

function directiveOf(item: JsonValue): JsonValue | undefined {
  return isJsonObject(item) ? getOwn(item, patchWord) : undefined
}

// The order of a merged list.

/** The identity of an item: its merge key, or the item itself without a merge key. */
function itemIdentity(item: JsonValue, mergeKey: string): JsonValue {
  if (mergeKey === '') return comparable(item)
  if (!isJsonObject(item)) throw unexpected('map', item)
  const key = Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined
  if (key === undefined) throw noMergeKey(mergeKey)
  return comparable(key)
}

interface ListOrder {
  readonly mergeKey: string
  /** The order of the patch. */
  readonly wanted: JsonArray
  /** The old order. */
  readonly was: JsonArray
}

/** The items of a merged list in their final order. */
export function arrange(items: JsonArray, { mergeKey, wanted, was }: ListOrder): JsonValue[] {
  const [wantedAt, wasAt] = [positionsOf(wanted, mergeKey), positionsOf(was, mergeKey)]
  const ranked = items.map((item): Ranked => {
    const identity = itemIdentity(item, mergeKey)
    return { item, wanted: wantedAt.get(identity), was: wasAt.get(identity) }
  })
  const fromPatch = ranked.filter((item) => item.wanted !== undefined).sort((a, b) => (a.wanted ?? 0) - (b.wanted ?? 0))
  const others = sortAsWas(ranked.filter((item) => item.wanted === undefined))
  return weave(others, fromPatch).map(({ item }) => item)
}

interface Ranked {
  readonly item: JsonValue
  readonly wanted: number | undefined
  readonly was: number | undefined
}

function positionsOf(order: JsonArray, mergeKey: string): Map<JsonValue, number> {
  const places = new Map<JsonValue, number>()
  for (const [index, item] of order.entries()) {
    const identity = itemIdentity(item, mergeKey)
    if (!places.has(identity)) places.set(identity, index)
  }
  return places
}

/**
 * Usually a plain sort. A new item has no rank (this takes an empty `$setElementOrder`), and upstream's comparison then
 * puts it before everything. Insertion sort gives the same result as upstream's sort.
 */
function sortAsWas(items: Ranked[]): Ranked[] {
  if (items.length > 20 || items.every(({ was }) => was !== undefined))
    return items.sort((a, b) => (a.was ?? 0) - (b.was ?? 0))
  for (let end = 1; end < items.length; end++) {
    for (let index = end; index > 0 && standsBefore(items[index], items[index - 1]); index--) {
      items.splice(index - 1, 2, items[index] as Ranked, items[index - 1] as Ranked)
    }
  }
  return items
}

function standsBefore(a: Ranked | undefined, b: Ranked | undefined): boolean {
  return a?.was === undefined || b?.was === undefined || a.was < b.was
}

function weave(others: readonly Ranked[], fromPatch: readonly Ranked[]): Ranked[] {
  const woven: Ranked[] = []
  let next = 0
  for (const item of fromPatch) {
    for (let other = others[next]; other !== undefined && stoodBefore(other, item); other = others[++next])
      woven.push(other)
    woven.push(item)
  }
  return [...woven, ...others.slice(next)]
}

function stoodBefore(a: Ranked, b: Ranked): boolean {
  return a.was !== undefined && b.was !== undefined && a.was < b.was
}

function comparable(value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null)
    throw unprocessable('items of a merged list are told apart by scalars, not by lists or objects')
  return value
}
