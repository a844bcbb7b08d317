/**
 * Every field a value mentions: what an applied configuration comes to own.
 *
 * Leaves and atomic containers count by themselves; items of associative lists count with their content; fields of no
 * declared name, explicit nulls and empty maps count because they were said. Items that occur more than once count as
 * one, without content: nobody could tell whose is whose.
 */
import { isJsonObject } from '../../json.ts'
import type { JsonArray, JsonObject, JsonValue } from '../../json.ts'
import { fieldElement } from '../paths/element.ts'
import type { PathElement } from '../paths/element.ts'
import { FieldSet } from '../paths/field-set.ts'
import { typeOfField } from './field-type.ts'
import type { FieldType, ListOf, MapOf } from './field-type.ts'
import { itemElementOrNone } from './item-element.ts'
import { asList, asMap, isEmptyMap, valueKindOf } from './kinds.ts'
import { requireShallow, typedError } from './mistakes.ts'

/** @throws {TypedError} when the value does not fit the type. */
export function toFieldSet(value: JsonValue | undefined, type: FieldType): FieldSet {
  const walker = new Collector()
  if (value !== undefined) walker.visit(value, type)
  return walker.set
}

class Collector {
  readonly set = new FieldSet()
  readonly #path: PathElement[] = []

  visit(value: JsonValue, type: FieldType): void {
    requireShallow(this.#path)
    switch (valueKindOf(type, value)) {
      case 'map':
        if (type.map?.atomic === true) this.set.insert(this.#path)
        else this.#visitMap(asMap(value), type.map as MapOf)
        return
      case 'list':
        if (type.list?.atomic === true) this.set.insert(this.#path)
        else this.#visitList(asList(value), type.list as ListOf)
        return
      case 'scalar':
        this.set.insert(this.#path)
        return
      case undefined:
        throw typedError(this.#path, 'schema error: invalid atom: inlined')
    }
  }

  #visitMap(map: JsonObject | undefined, type: MapOf): void {
    if (!map) return
    for (const name of Object.keys(map)) {
      const value = map[name]
      if (value === undefined) continue
      this.#path.push(fieldElement(name))
      const field = typeOfField(type, name)
      if (!field) throw typedError(this.#path, 'field not declared in schema')
      this.visit(value, field)
      if (value === null || (isJsonObject(value) && isEmptyMap(value)) || !type.fields.has(name))
        this.set.insert(this.#path)
      this.#path.pop()
    }
  }

  #visitList(list: JsonArray | undefined, type: ListOf): void {
    if (!list) return
    const elements = list.map((item) => itemElementOrNone(type, item))
    const counts = new Map<PathElement, number>()
    for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1)
    for (const [index, element] of elements.entries()) {
      this.#path.push(element)
      if (counts.get(element) === 1) this.visit(list[index] as JsonValue, type.items.type)
      this.set.insert(this.#path)
      this.#path.pop()
    }
  }
}
