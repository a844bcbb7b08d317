/**
 * How large a value is, for prices: characters, bytes, elements, entries; everything else is 1.
 */
import { utf8Length } from '../../text.ts'
import { characterCount } from '../value/characters.ts'
import { ListValue } from '../value/list.ts'
import { MapValue } from '../value/map.ts'
import { Bytes, Opaque, Optional, type Value } from '../value/value.ts'

export function sizeOf(value: Value): number {
  if (typeof value === 'string') return characterCount(value)
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Bytes) return value.value.length
  if (value instanceof Opaque) return value.costSize
  return value instanceof Optional && value.value !== undefined ? sizeOf(value.value) : 1
}

/** What it costs to look at everything in a value once. */
export function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * 0.1)
  if (value instanceof Bytes) return Math.floor(value.value.length * 0.1)
  let cost = 0
  if (value instanceof ListValue) {
    for (const element of value.values()) cost += traversalCost(element)
    return cost
  }
  if (!(value instanceof MapValue)) return 1
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key) ?? null)
  return cost
}
