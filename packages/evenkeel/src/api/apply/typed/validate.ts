/**
 * Whether a value fits a type as far as merging goes: kinds, declared fields, items that can be told apart.
 *
 * Configurations are checked before they are applied; every mistake is found, not only the first.
 */
import type { JsonArray, JsonObject, JsonValue } from '../../json.ts'
import { fieldElement, formatElement, formatPath } from '../paths/element.ts'
import type { PathElement } from '../paths/element.ts'
import { typeOfField } from './field-type.ts'
import type { FieldType, ListOf, MapOf } from './field-type.ts'
import { itemElement } from './item-element.ts'
import { asList, asMap, goPointer, valueKindOf, scalarError } from './kinds.ts'
import { requireShallow, TypedError } from './mistakes.ts'
import type { TypedErrorDetail } from './mistakes.ts'

interface TypedValidateOptions {
  /**
   * Whether a list may have an item twice: live objects may, configurations may not.
   *
   * @default false
   */
  readonly duplicates?: boolean
}

/** @throws {TypedError} with everything that is wrong. */
export function validateTyped(
  value: JsonValue,
  type: FieldType,
  { duplicates = false }: TypedValidateOptions = {},
): void {
  const validator = new TypedValidator({ duplicates })
  validator.visit(value, type)
  if (validator.mistakes.length > 0) throw new TypedError(validator.mistakes)
}

class TypedValidator {
  readonly mistakes: TypedErrorDetail[] = []
  readonly #path: PathElement[] = []
  readonly #duplicates: boolean

  constructor({ duplicates }: Required<TypedValidateOptions>) {
    this.#duplicates = duplicates
  }

  visit(value: JsonValue, type: FieldType): void {
    requireShallow(this.#path)
    switch (valueKindOf(type, value)) {
      case 'map':
        if (value !== null && !asMap(value)) this.#report(`expected map, got ${goPointer(value)}`)
        else this.#visitMap(asMap(value), type.map as MapOf)
        return
      case 'list':
        if (value !== null && !asList(value)) this.#report(`expected list, got ${goPointer(value)}`)
        else this.#visitList(asList(value), type.list as ListOf)
        return
      case 'scalar': {
        const mistake = scalarError(type.scalar ?? 'untyped', value)
        if (mistake !== undefined) this.#report(mistake)
        return
      }
      case undefined:
        this.#report('schema error: invalid atom: inlined')
    }
  }

  #visitMap(map: JsonObject | undefined, type: MapOf): void {
    for (const name of Object.keys(map ?? {})) {
      const value = map?.[name]
      if (value === undefined) continue
      const field = typeOfField(type, name)
      this.#path.push(fieldElement(name))
      if (field) this.visit(value, field)
      else this.#report('field not declared in schema')
      this.#path.pop()
    }
  }

  #visitList(list: JsonArray | undefined, type: ListOf): void {
    const seen = new Set<PathElement>()
    for (const [index, item] of list?.entries() ?? []) {
      const element = type.atomic ? `i:${index}` : this.#elementOf(item, { index, type })
      // An item that cannot be told from others ends the list: nothing below it has a place.
      if (element === undefined) return
      if (seen.has(element) && !this.#duplicates) this.#report(`duplicate entries for key ${formatElement(element)}`)
      seen.add(element)
      this.#path.push(element)
      this.visit(item, type.items.type)
      this.#path.pop()
    }
  }

  #elementOf(item: JsonValue, { index, type }: { index: number; type: ListOf }): PathElement | undefined {
    try {
      return itemElement(type, item, { path: [], index })
    } catch (error) {
      if (!(error instanceof TypedError)) throw error
      this.#report(error.message)
      return undefined
    }
  }

  #report(message: string): void {
    this.mistakes.push({ path: formatPath(this.#path), message })
  }
}
