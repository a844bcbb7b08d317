/**
 * What tells an item of an associative list from the others: its keys, or its value when the list is a set.
 *
 * A missing key takes its default; a missing key without one is left out, which makes another item than any value would.
 */
import { getOwn, isJsonObject } from '../../json.ts'
import type { JsonValue } from '../../json.ts'
import { keyElement, valueElement } from '../paths/element.ts'
import type { ElementPath, PathElement } from '../paths/element.ts'
import type { ListOf } from './field-type.ts'
import { typedError } from './mistakes.ts'

/** Where an item stands, for the case that it is wrong. */
interface ItemLocation {
  readonly path: ElementPath
  readonly index: number
}

/** @throws {TypedError} when the item cannot be told from others. */
export function itemElement(list: ListOf, item: JsonValue, place: ItemLocation): PathElement {
  const element = elementOf(list, item)
  if (typeof element === 'string') return element
  throw typedError(place.path, `element ${place.index}: ${element.mistake}`)
}

/** The same for lists that are being taken apart: an item that has lost its keys is told from every one that has any. */
export function itemElementOrNone(list: ListOf, item: JsonValue): PathElement {
  const element = elementOf(list, item)
  return typeof element === 'string' ? element : noElement
}

const noElement: PathElement = ''

function elementOf(list: ListOf, item: JsonValue): PathElement | { mistake: string } {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item)
}

function keyedElement(list: ListOf, item: JsonValue): PathElement | { mistake: string } {
  if (item === null) return { mistake: 'associative list with keys may not have a null element' }
  if (!isJsonObject(item)) return { mistake: 'associative list with keys may not have non-map elements' }
  const fields: [string, JsonValue][] = []
  for (const key of list.keys) {
    const value =
      getOwn(item, key) ?? (Object.hasOwn(item, key) && item[key] !== undefined ? null : defaultOf(list, key))
    if (value !== undefined) fields.push([key, value])
  }
  if (fields.length > 0) return keyElement(fields)
  const keys = list.keys.map((key) => JSON.stringify(key)).join(' ')
  return {
    mistake: `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
  }
}

function defaultOf(list: ListOf, key: string): JsonValue | undefined {
  return list.items.type.map?.fields.get(key)?.default ?? undefined
}

function setElement(item: JsonValue): PathElement | { mistake: string } {
  if (item === null) return { mistake: "associative list without keys has an element that's an explicit null" }
  if (typeof item !== 'object') return valueElement(item)
  return {
    mistake: Array.isArray(item)
      ? 'not supported: associative list with lists as elements'
      : "associative list without keys has an element that's a map type",
  }
}
