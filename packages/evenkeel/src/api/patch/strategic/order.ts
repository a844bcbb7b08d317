/**
 * The order of a merged list: items of the patch in the order of the patch (or of `$setElementOrder`), the others in
 * the order they had, and the two woven together so that others keep their place where the old order tells it.
 *
 *     was  a b c d      patch orders  d b      becomes  a d b c      (c stood behind b, a before both)
 */
import type { JsonArray, JsonValue } from '../../json.ts'
import { isJsonObject } from '../../json.ts'
import { noMergeKey, unexpected, unprocessable } from './refusal.ts'

/** What makes an item the same as another: its merge key, or the item itself where there is no merge key. */
export function itemIdentity(item: JsonValue, mergeKey: string): JsonValue {
  if (mergeKey === '') return comparable(item)
  if (!isJsonObject(item)) throw unexpected('map', item)
  const key = Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined
  if (key === undefined) throw noMergeKey(mergeKey)
  return comparable(key)
}

interface ListOrder {
  readonly mergeKey: string
  /** The order the patch wants. */
  readonly wanted: JsonArray
  /** The order that was there. */
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
 * Normally a plain sort. An item that was not there before has no rank (that takes an empty `$setElementOrder`), and
 * upstream's comparison then says "before" to everything; insertion sort makes the same of it as upstream's.
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
