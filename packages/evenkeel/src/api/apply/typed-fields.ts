/**
 * Field sets of typed values: the fields that an apply configuration owns, and old field sets under the current schema.
 *
 * Leaves and atomic containers are members; items of associative lists are members together with their content.
 * Undeclared fields, explicit nulls and empty maps are members because the configuration contains them. Duplicate items
 * are one member without content, because their fields cannot be assigned to one of them.
 *
 * A schema may change after a field set was written. When a granular field becomes atomic, the owner of a field inside
 * owns the whole. The opposite change has no effect. Where whole structs are removed, declared fields above members
 * count as members.
 */
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { FieldSet, type FieldNode } from './field-set.ts'
import { typeOfField, type FieldType, type ListOf, type MapOf } from './field-type.ts'
import { fieldElement, fieldName, isKeyElement, type PathElement } from './path-element.ts'
import { asList, asMap, isEmptyMap, itemElementOrNone, requireShallow, typedError, valueKindOf } from './typed-value.ts'

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

// Field sets under the current type.

const reconciled = new WeakMap<FieldSet, WeakMap<FieldType, FieldSet>>()

/** The field set as this type would encode it; the same set when it does not differ. */
export function reconcileFields(set: FieldSet, type: FieldType): FieldSet {
  let known = reconciled.get(set)
  if (!known) reconciled.set(set, (known = new WeakMap()))
  let result = known.get(type)
  if (!result) known.set(type, (result = reconcileLevel(set, type)))
  return result
}

/** The set, with every declared field that has members below it as a member. */
export function withNamedFields(set: FieldSet, type: FieldType | undefined): FieldSet {
  return mapNodes(set, (element, node) => {
    const name = fieldName(element)
    const member = node.member || (name !== undefined && type?.map?.fields.has(name) === true)
    return { member, children: node.children && withNamedFields(node.children, type && typeBelow(type, element)) }
  })
}

function reconcileLevel(set: FieldSet, type: FieldType): FieldSet {
  return mapNodes(set, (element, node) => {
    const below = typeInside(type, element)
    return below ? reconcileNode(node, below) : node
  })
}

function reconcileNode(node: FieldNode, type: FieldType): FieldNode {
  if (node.children === undefined) return node
  // The type alone decides: maps first, then scalars, which have no fields, then lists.
  if (type.map ? type.map.atomic && !type.map.deduced : !type.scalar && type.list?.atomic === true)
    return { member: true, children: undefined }
  const children = reconcileLevel(node.children, type)
  return children === node.children ? node : { member: node.member, children }
}

function typeInside(type: FieldType, element: PathElement): FieldType | undefined {
  if (type.map) {
    if (type.map.deduced) return undefined
    const name = fieldName(element)
    return name === undefined ? type.map.others?.type : typeOfField(type.map, name)
  }
  return type.scalar ? undefined : type.list?.items.type
}

function typeBelow(type: FieldType, element: PathElement): FieldType | undefined {
  const name = fieldName(element)
  if (name !== undefined && type.map) return typeOfField(type.map, name)
  return isKeyElement(element) ? type.list?.items.type : undefined
}

function mapNodes(set: FieldSet, change: (element: PathElement, node: FieldNode) => FieldNode): FieldSet {
  let changed = false
  const nodes: [PathElement, FieldNode][] = []
  for (const [element, node] of set.nodes()) {
    const result = change(element, node)
    const same = result.member === node.member && result.children === node.children
    changed ||= !same
    nodes.push([element, same ? node : result])
  }
  return changed ? FieldSet.fromNodes(nodes) : set
}
