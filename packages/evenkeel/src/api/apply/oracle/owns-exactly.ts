/**
 * Whether a manager owns exactly what a configuration says, and the live object says the same: then applying the
 * configuration changes nothing, whatever the schema is.
 *
 * There is no schema here. What the manager owns tells enough: steps with keys are items of a list that is merged by
 * these keys, steps with values are items of a set, and a container without steps below it is one leaf. A key the
 * configuration leaves out counts if the manager does not own it: it was a default last time and is one now. Nulls,
 * empty containers that are not plainly there, and numbers written in another way are doubts, and doubts are a no.
 */
import { deepEqual, getOwn, isJsonObject } from '../../json.ts'
import type { JsonArray, JsonObject, JsonValue } from '../../json.ts'
import { fieldElement, isKeyElement, keyFields, valueElement } from '../paths/element.ts'
import type { PathElement } from '../paths/element.ts'
import { noFields } from '../paths/field-set.ts'
import type { FieldNode, FieldSet } from '../paths/field-set.ts'
import { decodeManaged } from '../managed/entries.ts'
import type { Managed } from '../managed/entries.ts'
import { identityOf } from '../repeat/known-entries.ts'
import { hasLastApplied, lastAppliedManager } from '../managed/last-applied.ts'
import { entriesOf, metadataOf } from '../managed/request.ts'
import { isSystemField } from '../managed/system-fields.ts'

interface Owner {
  readonly manager: string
  readonly subresource: string
}

export function ownsExactly(live: JsonObject, wanted: JsonObject, { manager, subresource }: Owner): boolean {
  // An annotation follows what this manager applies.
  if (manager === lastAppliedManager && hasLastApplied(live)) return false
  const managed = readManaged(live)
  if (!managed) return false
  const owned = managed.managers.get(identityOf({ manager, operation: 'Apply', subresource }))
  return sameMap(withoutSystemFields(wanted), live, owned?.set ?? noFields)
}

/** Undefined when there are managers of other versions: they may be gone, and nobody here knows. */
function readManaged(live: JsonObject): Managed | undefined {
  try {
    const managed = decodeManaged(entriesOf(live))
    return [...managed.managers.values()].every(({ apiVersion }) => apiVersion === live['apiVersion']) ? managed : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** What nobody owns is not looked for among what the manager owns. */
function withoutSystemFields(wanted: JsonObject): JsonObject {
  const metadata = Object.fromEntries(Object.entries(metadataOf(wanted)).filter(([name]) => !isSystemField('metadata', name)))
  const rest = Object.entries(wanted).filter(([name]) => name !== 'metadata' && !isSystemField(name))
  return Object.fromEntries(Object.keys(metadata).length === 0 ? rest : [...rest, ['metadata', metadata]])
}

function sameValue(wanted: JsonValue, live: JsonValue | undefined, node: FieldNode | undefined): boolean {
  if (node === undefined || live === undefined || wanted === null) return false
  if (node.children === undefined) return node.member && deepEqual(wanted, live)
  if (isJsonObject(wanted)) return isJsonObject(live) && sameMap(wanted, live, node.children)
  return Array.isArray(wanted) && Array.isArray(live) && sameList(wanted as JsonArray, live as JsonArray, node.children)
}

/** Every field is owned and as it is, and nothing else is owned. */
function sameMap(wanted: JsonObject, live: JsonObject, owned: FieldSet): boolean {
  let count = 0
  for (const name of Object.keys(wanted)) {
    const value = wanted[name]
    if (value === undefined) continue
    if (!sameValue(value, getOwn(live, name), owned.node(fieldElement(name)))) return false
    count++
  }
  return count === owned.elements().length
}

/** The same items, each as it is, in an order that merging would keep. */
function sameList(wanted: JsonArray, live: JsonArray, owned: FieldSet): boolean {
  const elements = owned.elements()
  const taken = new Set<PathElement>()
  let last = -1
  for (const item of wanted) {
    const element = elements.find((one) => !taken.has(one) && isItem(item, one, owned.node(one)?.children))
    const at = element === undefined ? -1 : onlyIndex(live, element)
    if (element === undefined || at <= last) return false
    if (isJsonObject(item) && !sameItem(item, live[at], owned.node(element)?.children)) return false
    taken.add(element)
    last = at
  }
  return taken.size === elements.length
}

function sameItem(item: JsonObject, live: JsonValue | undefined, owned: FieldSet | undefined): boolean {
  return isJsonObject(live) && (owned ? sameMap(item, live, owned) : deepEqual(item, live))
}

/** Whether an item of a configuration is the one a step leads to. */
function isItem(item: JsonValue, element: PathElement, owned: FieldSet | undefined): boolean {
  if (!isKeyElement(element)) return item !== null && typeof item !== 'object' && valueElement(item) === element
  return isJsonObject(item) && keyFields(element).every(([key, value]) => {
    const given = getOwn(item, key)
    // A default, unless the manager said it last time.
    return given === undefined ? owned !== undefined && owned.node(fieldElement(key)) === undefined : deepEqual(given, value)
  })
}

/** Where the only item stands that a step leads to; -1 when there is none, or more than one. */
function onlyIndex(live: JsonArray, element: PathElement): number {
  const isHere = isKeyElement(element) ? hasKeys(element) : (item: JsonValue): boolean => item !== null && typeof item !== 'object' && valueElement(item) === element
  const at = live.findIndex(isHere)
  return at < 0 || live.findIndex((item, index) => index > at && isHere(item)) >= 0 ? -1 : at
}

function hasKeys(element: PathElement): (item: JsonValue) => boolean {
  const keys = keyFields(element)
  return (item) => isJsonObject(item) && keys.every(([key, value]) => deepEqual(getOwn(item, key) ?? null, value))
}
