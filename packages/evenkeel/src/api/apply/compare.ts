/**
 * Compares two values of one type, leaf by leaf: added, modified and removed fields.
 *
 * Containers that are empty on both sides are leaves, so that `{}` and null differ. Duplicate items of a list are
 * compared as a block, under the path of the item alone. No path is in two of the three sets, except an item that was a
 * duplicate and now occurs once: its block is removed and the item is added.
 */
import {
  deepEqual,
  getOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { FieldSet, noFields } from './field-set.ts'
import { typeOfField, type FieldType, type ListOf, type MapOf, type ScalarKind } from './field-type.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import {
  asList,
  asMap,
  isEmptyList,
  isEmptyMap,
  itemElement,
  requireShallow,
  scalarError,
  typedError,
  valueKindOf,
  type ValueKind,
} from './typed-value.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** @throws {TypedError} when a value does not fit the type. */
export function compare(left: JsonValue, right: JsonValue, type: FieldType): Comparison {
  const walker = new Comparer()
  walker.visit(left, right, type)
  return walker
}

/**
 * The same for two objects as Go would encode them, with the fields that its structs never omit: whether a write owns
 * `.spec` or only the fields inside depends on an earlier `spec: {}`.
 *
 * @throws {TypedError} when a value does not fit the type.
 */
export function compareComplete(left: JsonValue, right: JsonValue, type: FieldType): Comparison {
  const walker = new Comparer({ complete: true })
  walker.visit(left, right, type)
  return walker
}

/**
 * The same for two objects without their managed fields.
 *
 * @throws {TypedError} when a value does not fit the type.
 */
export function compareUnmanaged(left: JsonObject, right: JsonObject, type: FieldType): Comparison {
  const walker = new Comparer({ complete: true, unmanaged: true })
  walker.visit(left, right, type)
  return walker
}

type Side = JsonValue | undefined

const noNames: readonly string[] = []

class Comparer implements Comparison {
  // Most writes have one type of change only: each set is created with its first path.
  #added: FieldSet | undefined
  #modified: FieldSet | undefined
  #removed: FieldSet | undefined
  readonly #path: PathElement[] = []
  readonly #complete: boolean
  readonly #unmanaged: boolean

  constructor({ complete = false, unmanaged = false }: { complete?: boolean; unmanaged?: boolean } = {}) {
    this.#complete = complete
    this.#unmanaged = unmanaged
  }

  get added(): FieldSet {
    return this.#added ?? noFields
  }

  get modified(): FieldSet {
    return this.#modified ?? noFields
  }

  get removed(): FieldSet {
    return this.#removed ?? noFields
  }

  visit(left: Side, right: Side, type: FieldType): void {
    if (left === right) return
    requireShallow(this.#path)
    const kind = valueKindOf(type, right === undefined ? left : right)
    // A value that changed its kind is traversed as both kinds: the fields of the old one are removed.
    const before = left === undefined || right === undefined ? kind : valueKindOf(type, left)
    if (before !== kind) this.#visitAs(before, { left, right }, type)
    const isLeaf = this.#visitAs(kind, { left, right }, type)
    if (isLeaf) return
    if (left === undefined) this.#noteAdded()
    else if (right === undefined) this.#noteRemoved()
  }

  #visitAs(kind: ValueKind | undefined, { left, right }: { left: Side; right: Side }, type: FieldType): boolean {
    switch (kind) {
      case 'map':
        return this.#visitMaps(asMap(left), asMap(right), type.map as MapOf) ?? this.#leaf(left, right)
      case 'list':
        return this.#visitLists(asList(left), asList(right), type.list as ListOf) ?? this.#leaf(left, right)
      case 'scalar':
        this.#requireScalar(left, right, type.scalar as ScalarKind)
        return this.#leaf(left, right)
      case undefined:
        throw typedError(this.#path, 'schema error: invalid atom: inlined')
    }
  }

  #noteAdded(): void {
    this.#added ??= new FieldSet()
    this.#added.insert(this.#path)
  }

  #noteModified(): void {
    this.#modified ??= new FieldSet()
    this.#modified.insert(this.#path)
  }

  #noteRemoved(): void {
    this.#removed ??= new FieldSet()
    this.#removed.insert(this.#path)
  }

  /** Records a change of a leaf. Always returns true. */
  #leaf(left: Side, right: Side): true {
    if (left === undefined) this.#noteAdded()
    else if (right === undefined) this.#noteRemoved()
    else if (!deepEqual(left, right)) this.#noteModified()
    return true
  }

  #requireScalar(left: Side, right: Side, kind: ScalarKind): void {
    const mistake = scalarError(kind, left)
    if (mistake !== undefined && scalarError(kind, right) !== undefined) throw typedError(this.#path, `lhs: ${mistake}`)
  }

  /** Undefined when the maps are a leaf, false when they were traversed. */
  #visitMaps(partLeft: JsonObject | undefined, partRight: JsonObject | undefined, type: MapOf): false | undefined {
    const left = this.#complete ? completed(partLeft, type) : partLeft
    const right = this.#complete ? completed(partRight, type) : partRight
    if (type.atomic || (isEmptyMap(left) && isEmptyMap(right))) return undefined
    let common = 0
    if (left) {
      for (const name of Object.keys(left)) {
        const before = left[name]
        const after = right && getOwn(right, name)
        if (after !== undefined) common++
        if (before !== after) this.#visitField(name, { left: before, right: after }, type)
      }
    }
    const names = right ? Object.keys(right) : noNames
    if (right && common < names.length) {
      for (const name of names) {
        if (left === undefined || getOwn(left, name) === undefined)
          this.#visitField(name, { left: undefined, right: right[name] }, type)
      }
    }
    return false
  }

  #visitField(name: string, { left, right }: { left: Side; right: Side }, type: MapOf): void {
    if (left === right) return
    if (this.#unmanaged && name === 'managedFields' && this.#path.length === 1 && this.#path[0] === 'f:metadata') return
    this.#path.push(fieldElement(name))
    const field = typeOfField(type, name)
    if (!field) throw typedError(this.#path, 'field not declared in schema')
    this.visit(left, right, field)
    this.#path.pop()
  }

  #visitLists(left: JsonArray | undefined, right: JsonArray | undefined, type: ListOf): false | undefined {
    if (type.atomic || (isEmptyList(left) && isEmptyList(right))) return undefined
    // Most lists do not change, and deep equality is cheaper than the identities of the items.
    if (left && right && left.length === right.length && deepEqual(left, right)) return false
    const before = this.#itemsOf(left, type)
    const after = this.#itemsOf(right, type)
    for (const [element, items] of before)
      this.#visitItems(element, { before: items, after: after.get(element) ?? [] }, type)
    for (const [element, items] of after)
      if (!before.has(element)) this.#visitItems(element, { before: [], after: items }, type)
    return false
  }

  #itemsOf(list: JsonArray | undefined, type: ListOf): Map<PathElement, JsonValue[]> {
    const items = new Map<PathElement, JsonValue[]>()
    for (const [index, item] of list?.entries() ?? []) {
      const element = itemElement(type, item, { path: this.#path, index })
      const same = items.get(element)
      if (same) same.push(item)
      else items.set(element, [item])
    }
    return items
  }

  #visitItems(
    element: PathElement,
    { before, after }: { before: readonly JsonValue[]; after: readonly JsonValue[] },
    type: ListOf,
  ): void {
    this.#path.push(element)
    if (before.length < 2 && after.length < 2) this.visit(before[0], after[0], type.items.type)
    else if (before.length > 1 && after.length > 1) {
      if (!deepEqual(before, after)) this.#noteModified()
    } else if (before.length > 1) {
      this.visit(undefined, after[0], type.items.type)
      this.#noteRemoved()
    } else {
      this.visit(before[0], undefined, type.items.type)
      this.#noteAdded()
    }
    this.#path.pop()
  }
}

/** A map with the fields that Go never omits; the same map when it has them. */
function completed(map: JsonObject | undefined, { always }: MapOf): JsonObject | undefined {
  if (map === undefined || always.size === 0) return map
  let draft: JsonObjectDraft | undefined
  for (const [name, zero] of always) if (getOwn(map, name) === undefined) (draft ??= { ...map })[name] = zero
  return draft ?? map
}
