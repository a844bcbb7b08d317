/**
 * Whether a manager owns exactly the fields of an apply configuration, with the same values in the live object. Then an
 * apply changes nothing, whatever the schema is.
 *
 * This works without a schema, from the field set of the manager: key elements are items of an associative list, value
 * elements are items of a set, and a container without children is a leaf. A key that the configuration omits is a
 * default, unless the manager owns it. Nulls, empty containers that are not clearly equal, and numbers in another
 * notation are doubtful. Every doubt gives the answer no.
 */
import {
  deepEqual,
  getOwn,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { hasLastApplied, lastAppliedManager } from './client-side-apply.ts'
import { entriesOf, isSystemField, metadataOf } from './field-manager.ts'
import { noFields, type FieldNode, type FieldSet } from './field-set.ts'
import { decodeManagedFields, identityOf, type ManagedState } from './managed-fields.ts'
import { fieldElement, isKeyElement, keyElement, keyFields, valueElement, type PathElement } from './path-element.ts'

interface ManagerIdentity {
  readonly manager: string
  readonly subresource: string
}

export function ownsExactly(live: JsonObject, wanted: JsonObject, { manager, subresource }: ManagerIdentity): boolean {
  // This manager also maintains the last-applied annotation.
  if (manager === lastAppliedManager && hasLastApplied(live)) return false
  const managed = readManaged(live)
  if (!managed) return false
  const owned = managed.managers.get(identityOf({ manager, operation: 'Apply', subresource }))
  return sameMap(withoutSystemFields(wanted), live, owned?.set ?? noFields)
}

/** Undefined with managers of other versions: the server may no longer serve those versions. */
function readManaged(live: JsonObject): ManagedState | undefined {
  try {
    const managed = decodeManagedFields(entriesOf(live))
    return [...managed.managers.values()].every(({ apiVersion }) => apiVersion === live['apiVersion'])
      ? managed
      : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** System fields have no owner, so they are not in the field set. */
function withoutSystemFields(wanted: JsonObject): JsonObject {
  const metadata = Object.fromEntries(
    Object.entries(metadataOf(wanted)).filter(([name]) => !isSystemField('metadata', name)),
  )
  const rest = Object.entries(wanted).filter(([name]) => name !== 'metadata' && !isSystemField(name))
  return Object.fromEntries(Object.keys(metadata).length === 0 ? rest : [...rest, ['metadata', metadata]])
}

function sameValue(wanted: JsonValue, live: JsonValue | undefined, node: FieldNode | undefined): boolean {
  if (node === undefined || live === undefined || wanted === null) return false
  if (node.children === undefined) return node.member && deepEqual(wanted, live)
  if (isJsonObject(wanted)) return isJsonObject(live) && sameMap(wanted, live, node.children)
  return Array.isArray(wanted) && Array.isArray(live) && sameList(wanted as JsonArray, live as JsonArray, node.children)
}

/** The manager owns every field with the same value, and no other field. */
function sameMap(wanted: JsonObject, live: JsonObject, owned: FieldSet): boolean {
  let count = 0
  for (const name of Object.keys(wanted)) {
    const value = wanted[name]
    if (value === undefined) continue
    if (!sameValue(value, getOwn(live, name), owned.node(fieldElement(name)))) return false
    count++
  }
  return count === owned.width
}

/** The same items with the same values, in an order that a merge would keep. */
function sameList(wanted: JsonArray, live: JsonArray, owned: FieldSet): boolean {
  const names = keyNames(owned)
  const places = positionsOf(live, names)
  const taken = new Set<PathElement>()
  let last = -1
  for (const item of wanted) {
    const element = findElement(item, { owned, names, taken })
    const at = element === undefined ? undefined : (places.get(element) ?? onlyIndex(live, element))
    if (element === undefined || at === undefined || at <= last) return false
    if (isJsonObject(item) && !sameItem(item, live[at], owned.node(element)?.children)) return false
    taken.add(element)
    last = at
  }
  return taken.size === owned.width
}

/** The keys of an associative list, from one of its elements; undefined for a set. */
function keyNames(owned: FieldSet): readonly string[] | undefined {
  for (const [element] of owned.nodes())
    return isKeyElement(element) ? keyFields(element).map(([name]) => name) : undefined
  return undefined
}

/** The index of each item; -1 for duplicates. */
function positionsOf(live: JsonArray, names: readonly string[] | undefined): Map<PathElement, number> {
  const places = new Map<PathElement, number>()
  for (const [index, item] of live.entries()) {
    const element = elementOf(item, names)
    if (element !== undefined) places.set(element, places.has(element) ? -1 : index)
  }
  return places
}

/** The path element of an item that has all these keys, or of a value in a set. */
function elementOf(item: JsonValue, names: readonly string[] | undefined): PathElement | undefined {
  if (!isJsonObject(item))
    return names !== undefined || item === null || typeof item === 'object' ? undefined : valueElement(item)
  const fields: [string, JsonValue][] = []
  for (const name of names ?? []) {
    const value = getOwn(item, name)
    if (value === undefined) return undefined
    fields.push([name, value])
  }
  return fields.length === 0 ? undefined : keyElement(fields)
}

/** The owned path element for an item of the configuration. */
function findElement(
  item: JsonValue,
  { owned, names, taken }: { owned: FieldSet; names: readonly string[] | undefined; taken: ReadonlySet<PathElement> },
): PathElement | undefined {
  const exact = elementOf(item, names)
  if (exact !== undefined && owned.node(exact)) return taken.has(exact) ? undefined : exact
  // The item may omit keys, or have other keys than the first item.
  for (const [element, { children }] of owned.nodes())
    if (!taken.has(element) && isItem(item, element, children)) return element
  return undefined
}

function sameItem(item: JsonObject, live: JsonValue | undefined, owned: FieldSet | undefined): boolean {
  return isJsonObject(live) && (owned ? sameMap(item, live, owned) : deepEqual(item, live))
}

/** Whether a path element identifies an item of the configuration. */
function isItem(item: JsonValue, element: PathElement, owned: FieldSet | undefined): boolean {
  if (!isKeyElement(element)) return item !== null && typeof item !== 'object' && valueElement(item) === element
  return (
    isJsonObject(item) &&
    keyFields(element).every(([key, value]) => {
      const given = getOwn(item, key)
      // A default, unless the manager applied the key last time.
      return given === undefined
        ? owned !== undefined && owned.node(fieldElement(key)) === undefined
        : deepEqual(given, value)
    })
  )
}

/** The index of the only item that matches a path element; -1 for none or several. */
function onlyIndex(live: JsonArray, element: PathElement): number {
  const isHere = isKeyElement(element)
    ? hasKeys(element)
    : (item: JsonValue): boolean => item !== null && typeof item !== 'object' && valueElement(item) === element
  const at = live.findIndex(isHere)
  return at < 0 || live.findIndex((item, index) => index > at && isHere(item)) >= 0 ? -1 : at
}

function hasKeys(element: PathElement): (item: JsonValue) => boolean {
  const keys = keyFields(element)
  return (item) => isJsonObject(item) && keys.every(([key, value]) => deepEqual(getOwn(item, key) ?? null, value))
}
