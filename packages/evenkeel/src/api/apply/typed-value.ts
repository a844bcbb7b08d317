/**
 * The traversal of a value along its type: kinds of values, identities of list items, errors, and validation.
 *
 * Null fits every kind: an empty list, an empty map. A value of a kind that the type does not allow is traversed as the
 * first kind that the type allows, so that the traversal finds the error and can name it.
 *
 * The identity of an item in an associative list is its keys; in a set it is its value. A missing key has its default.
 * A missing key without a default is omitted, which gives a different identity than any value.
 *
 * Every traversal throws {@link TypedError}. The request decides the effect: an apply fails with the text, an update
 * continues without tracking.
 */
import {
  getOwn,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '@evenkeel/cel/primitives'
import { typeOfField, type FieldType, type ListOf, type MapOf, type ScalarKind } from './field-type.ts'
import {
  fieldElement,
  formatElement,
  formatPath,
  keyElement,
  valueElement,
  type ElementPath,
  type PathElement,
} from './path-element.ts'

export type ValueKind = 'map' | 'scalar' | 'list'

export function valueKindOf(type: FieldType, value: JsonValue | undefined): ValueKind | undefined {
  if (typeof value === 'object') {
    if (Array.isArray(value)) {
      if (type.list) return 'list'
    } else if (value !== null && type.map) return 'map'
  } else if (value !== undefined && type.scalar) return 'scalar'
  if (type.map) return 'map'
  if (type.scalar) return 'scalar'
  return type.list && 'list'
}

/** The value as a map, if it is one. */
export function asMap(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

/** The value as a list, if it is one. */
export function asList(value: JsonValue | undefined): JsonArray | undefined {
  return Array.isArray(value) ? (value as JsonArray) : undefined
}

export function isEmptyMap(map: JsonObject | undefined): boolean {
  if (map === undefined) return true
  // A loop that ends at the first defined key: every write checks every map.
  for (const key of Object.keys(map)) if (map[key] !== undefined) return false
  return true
}

export function isEmptyList(list: JsonArray | undefined): boolean {
  return list === undefined || list.length === 0
}

/** The error in a scalar, with the text of Go's printer; undefined without an error. */
export function scalarError(kind: ScalarKind, value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  switch (kind) {
    case 'numeric':
      return typeof value === 'number' || typeof value === 'bigint'
        ? undefined
        : `expected numeric (int or float), got ${goType(value)}`
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${goPointer(value)}`
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got ${goPointer(value)}` : undefined
  }
}

/** How Go prints a pointer to a value: `&{8080}`. */
function goPointer(value: JsonValue): string {
  return `&{${goText(value)}}`
}

function goType(value: JsonValue): string {
  if (typeof value === 'object') return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function goSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value !== 'object') return stringifyJson(value)
  if (!isJsonObject(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  return `map[string]interface {}{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key] ?? null)}`)
    .join(', ')}}`
}

function goText(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (typeof value !== 'object') return String(value)
  if (!isJsonObject(value)) return `[${value.map(goText).join(' ')}]`
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key] ?? null)}`)
    .join(' ')}]`
}

// Identities of list items.

/** The location of an item, for the error message. */
interface ItemLocation {
  readonly path: ElementPath
  readonly index: number
}

/** @throws {TypedError} when the item has no valid identity. */
export function itemElement(list: ListOf, item: JsonValue, place: ItemLocation): PathElement {
  const element = elementOf(list, item)
  if (typeof element === 'string') return element
  throw typedError(place.path, `element ${place.index}: ${element.mistake}`)
}

/** The same for lists from which fields were removed: an item that lost its keys differs from every item with keys. */
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

// Errors: a path and a message, with the text of upstream.

interface TypedErrorDetail {
  /** `.spec.ports[0]`; empty for the value as a whole. */
  readonly path: string
  readonly message: string
}

export class TypedError extends Error {
  override readonly name = 'TypedError'

  constructor(mistakes: readonly TypedErrorDetail[]) {
    const lines = mistakes.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    super(lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n'))
  }
}

/** One error at one path. */
export function typedError(path: ElementPath, message: string): TypedError {
  return new TypedError([{ path: formatPath(path), message }])
}

/** Values deeper than any request allows are not traversed: the stack is limited. */
const depthMax = 1100

export function requireShallow(path: ElementPath): void {
  if (path.length > depthMax) throw new TypedError([{ path: '', message: `nested more than ${depthMax} levels deep` }])
}

// Validation of the structure: kinds, declared fields, identities of items. It collects every error, not only the
// first.

interface TypedValidateOptions {
  /**
   * Whether a list may contain duplicates: live objects may, configurations may not.
   *
   * @default false
   */
  readonly duplicates?: boolean
}

/** @throws {TypedError} with all errors. */
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
      // An item without a valid identity ends the list: its fields have no path.
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
