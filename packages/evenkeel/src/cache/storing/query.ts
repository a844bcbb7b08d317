/**
 * Which objects of a store a reader wants.
 */
import {
  isJsonObject,
  labelRequirementsOf,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from '#api'
import type { FieldRequirement, KubeObject, LabelRequirement, LabelSelector } from '#api'
import type { Item } from './item.ts'
import type { Store } from './store.ts'

export interface CacheQuery {
  /** @default all namespaces */
  readonly namespace?: string | undefined
  /** `app=web,tier!=db`, or the selector of a spec. @default all */
  readonly labelSelector?: string | LabelSelector | undefined
  /** Objects that have this value in an index that was added before. */
  readonly index?: { readonly name: string; readonly value: string } | undefined
}

/**
 * The items that match, by index where one is named.
 *
 * @throws {RangeError} when there is no such index.
 * @throws {ApiError} `BadRequest` when the selector is malformed.
 */
export function selectItems<T extends KubeObject>(
  store: Store<T>,
  { namespace, labelSelector, index }: CacheQuery,
): Item<T>[] {
  const requirements = requirementsOf(labelSelector)
  const found: Item<T>[] = []
  for (const item of candidates(store, namespace, index)) {
    if (namespace !== undefined && item.namespace !== namespace) continue
    if (requirements.length > 0 && !matchesLabels(requirements, item.object.metadata.labels)) continue
    found.push(item)
  }
  return found
}

function candidates<T extends KubeObject>(
  store: Store<T>,
  namespace: string | undefined,
  index: CacheQuery['index'],
): Iterable<Item<T>> {
  if (!index) return store.values(namespace)
  const items = store.find(index.name, index.value)
  if (items) return items
  const known = store.indexes.map((name) => JSON.stringify(name)).join(', ')
  throw new RangeError(
    `there is no index ${JSON.stringify(index.name)}: add it with addIndex first; there is ${known === '' ? 'none' : known}`,
  )
}

/** The requirements of a selector in either form; none select everything. */
export function requirementsOf(selector: string | LabelSelector | undefined): readonly LabelRequirement[] {
  if (selector === undefined) return []
  return typeof selector === 'string' ? parseLabelSelector(selector) : (labelRequirementsOf(selector) ?? [])
}

/** What a cache holds of a kind: which namespace, which labels, which fields. */
export interface CacheScope {
  /** @default all namespaces */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | LabelSelector | undefined
  /** `status.phase=Running`, or values by field. */
  readonly fieldSelector?: string | Readonly<Record<string, string>> | undefined
}

/** Whether an object belongs into a cache, as the server would decide: for what we wrote and the server has not told yet. */
export function scopeFilter({ namespace, labelSelector, fieldSelector }: CacheScope): (object: KubeObject) => boolean {
  const labels = requirementsOf(labelSelector)
  const fields = fieldRequirementsOf(fieldSelector)
  return (object) => {
    if (namespace !== undefined && object.metadata.namespace !== namespace) return false
    return matchesLabels(labels, object.metadata.labels) && matchesFields(fields, valuesOf(object, fields))
  }
}

function fieldRequirementsOf(selector: CacheScope['fieldSelector']): readonly FieldRequirement[] {
  if (selector === undefined) return []
  if (typeof selector === 'string') return parseFieldSelector(selector)
  return Object.entries(selector).map(([field, value]) => ({ field, operator: '=', value }))
}

/** Field selectors name fields by their path, with few exceptions that no server lets clients rely on. */
function valuesOf(object: KubeObject, fields: readonly FieldRequirement[]): Record<string, string> {
  return Object.fromEntries(fields.map(({ field }) => [field, textAt(object, field.split('.'))]))
}

function textAt(object: unknown, path: readonly string[]): string {
  let value = object
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
