/**
 * What a set of fields means under the type of today.
 *
 * A schema may have changed since the set was written. What was granular and is atomic now: whoever owned something
 * inside owns the whole. The other way nothing changes. Declared fields above members count as members where whole
 * structs are removed.
 */
import { fieldName, isKeyElement } from '../paths/element.ts'
import type { PathElement } from '../paths/element.ts'
import { FieldSet } from '../paths/field-set.ts'
import type { FieldNode } from '../paths/field-set.ts'
import { typeOfField } from './field-type.ts'
import type { FieldType } from './field-type.ts'

const reconciled = new WeakMap<FieldSet, WeakMap<FieldType, FieldSet>>()

/** The set as it would have been written under this type; the very same set when it would be. */
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
  // The walk goes by the type alone: maps first, then scalars, which hold nothing, then lists.
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
