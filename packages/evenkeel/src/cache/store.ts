/**
 * All objects of one collection as readers see them: the state of the watch, and our own writes until the watch delivers
 * them.
 *
 *   watch ──replace, apply, advance──▶  ┌───────────────────┐
 *                                       │  #items           │ ──▶ readers, indexes
 *   our writes ──note──────────────────▶│  + pending writes │
 *                                       └───────────────────┘
 *
 * Worked example, one object `a`:
 *
 *   step                        readers see   the watch last said   pending write
 *   replace(list with a v5)     v5            v5                    –
 *   note(our update, v8)        v8            v5                    v8
 *   apply(other update, v7)     v8            v7                    v8      an event: v5 → v7
 *   apply(our update, v8)       v8            v8                    –       an event: v7 → v8
 *   note(our delete)            nothing       v8                    delete
 *   apply(delete, v9)           nothing       nothing               –       an event: v8 deleted
 *
 * Invariants: every change is one synchronous step, so a reader sees all of it or nothing; indexes always agree with the
 * items; `apply` and `replace` return what the *watch* said before, so handlers get the same sequence of events whatever
 * we wrote.
 */
import {
  isJsonObject,
  labelRequirementsOf,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  type FieldRequirement,
  type KubeObject,
  type LabelRequirement,
  type LabelSelector,
} from '#api'
import { Indexes, type IndexValues } from './indexes.ts'
import { compareVersions, hasReachedVersion, Items, type Item } from './items.ts'
import type { ChangeEvent } from './list-watch.ts'
import { isConfirmedBy, isConfirmedByList, isPassed, type PendingWrite } from './own-writes.ts'

/** What a new list changed: first deletions, then additions and updates in the order of the list. */
interface Difference<T extends KubeObject> {
  readonly gone: readonly Item<T>[]
  readonly changed: readonly { readonly item: Item<T>; readonly old: Item<T> | undefined }[]
}

interface StoreOptions<T extends KubeObject> {
  /** Called when an index function throws. */
  onIndexError: (index: string, item: Item<T>, error: unknown) => void
}

/** How many names and uids of deleted objects are remembered. */
const goneMax = 2048

export class Store<T extends KubeObject> {
  #items = new Items<T>()
  readonly #indexes: Indexes<T>
  readonly #pendingWrites = new Map<string, PendingWrite<T>>()
  /** Names and uids of recently deleted objects: the response to our delete may arrive after the event. */
  readonly #deleted = new Set<string>()
  #version = ''

  constructor({ onIndexError }: StoreOptions<T>) {
    this.#indexes = new Indexes<T>({ onError: onIndexError })
  }

  /** The version that the watch has reached; empty before the first list. */
  get version(): string {
    return this.#version
  }

  get size(): number {
    return this.#items.size
  }

  /** The approximate memory of the objects. */
  get bytes(): number {
    return this.#items.bytes
  }

  /** Our writes that the watch has not delivered yet. */
  get pendingWrites(): ReadonlyMap<string, PendingWrite<T>> {
    return this.#pendingWrites
  }

  get indexes(): readonly string[] {
    return this.#indexes.names
  }

  get(namespace: string, name: string): Item<T> | undefined {
    return this.#items.get(namespace, name)
  }

  values(namespace?: string): Iterable<Item<T>> {
    return this.#items.values(namespace)
  }

  /** Items that have a value in an index; undefined when there is no such index. */
  find(index: string, value: string): Iterable<Item<T>> | undefined {
    return this.#indexes.find(index, value)
  }

  addIndex(name: string, values: IndexValues<T>): void {
    this.#indexes.add(name, values, this.#items.values())
  }

  removeIndex(name: string): void {
    this.#indexes.remove(name)
  }

  /** The item of the watch, whatever we wrote since. */
  observed(namespace: string, name: string): Item<T> | undefined {
    const ahead = this.#pendingWrites.get(slotOf(namespace, name))
    return ahead ? ahead.observed : this.#items.get(namespace, name)
  }

  /** All items of the watch. */
  *observedValues(): Generator<Item<T>> {
    if (this.#pendingWrites.size === 0) {
      yield* this.#items.values()
      return
    }
    for (const item of this.#items.values()) if (!this.#pendingWrites.has(slotOf(item.namespace, item.name))) yield item
    for (const { observed: seen } of this.#pendingWrites.values()) if (seen) yield seen
  }

  /** Replaces all items by a new list, which the store owns from now on. Nothing is compared if no one needs the changes. */
  replace(items: Items<T>, version: string, { compare = true }: { compare?: boolean } = {}): Difference<T> {
    const difference = compare ? this.#differenceTo(items) : { gone: [], changed: [] }
    for (const [slot, ahead] of this.#pendingWrites) {
      const listed = items.get(ahead.namespace, ahead.name)
      if (isConfirmedByList(ahead, version, listed)) {
        this.#pendingWrites.delete(slot)
        continue
      }
      ahead.observed = listed
      if (ahead.item) items.put(ahead.item)
      else items.delete(ahead.namespace, ahead.name)
    }
    this.#items = items
    this.#version = version
    this.#indexes.rebuild(() => items.values())
    return difference
  }

  /** Applies one change of the watch and returns the item that the watch had before. */
  apply(change: ChangeEvent<T>): Item<T> | undefined {
    const { item } = change
    const old = this.observed(item.namespace, item.name)
    const next = change.type === 'DELETED' ? undefined : item
    const slot = slotOf(item.namespace, item.name)
    if (next) this.#deleted.delete(slot)
    else this.#remember(slot, item.uid)
    const ahead = this.#pendingWrites.size > 0 ? this.#pendingWrites.get(slot) : undefined
    if (ahead && !isConfirmedBy(ahead, change)) {
      ahead.observed = next
    } else {
      if (ahead) this.#pendingWrites.delete(slot)
      this.#show(item.namespace, item.name, next)
    }
    this.advance(item.version)
    return old
  }

  /** The watch has reached this version. */
  advance(version: string): void {
    if ((compareVersions(version, this.#version) ?? 1) > 0) this.#version = version
    if (this.#pendingWrites.size === 0) return
    for (const [slot, ahead] of this.#pendingWrites) if (isPassed(ahead, this.#version)) this.#confirm(slot, ahead)
  }

  /** Shows our write, unless the watch is ahead of it. Returns whether the write is pending now. */
  note(write: Omit<PendingWrite<T>, 'observed'>): boolean {
    const { namespace, name, item } = write
    const slot = slotOf(namespace, name)
    const ahead = this.#pendingWrites.get(slot)
    const seen = this.observed(namespace, name)
    if (item && this.#knows(item, seen)) {
      if (ahead && (!ahead.item || isPassed(ahead, item.version))) this.#confirm(slot, ahead)
      return false
    }
    if (item && ahead?.item && hasReachedVersion(ahead.item.version, item.version)) return false
    if (!item && !seen && !ahead && this.#deleted.has(write.uid === '' ? slot : write.uid)) return false
    this.#pendingWrites.set(slot, { ...write, observed: seen })
    this.#show(namespace, name, item)
    return true
  }

  /** Ends the wait for one write: the state of the object is known by other means. */
  resolve(namespace: string, name: string): void {
    const slot = slotOf(namespace, name)
    const ahead = this.#pendingWrites.get(slot)
    if (ahead) this.#confirm(slot, ahead)
  }

  /** Whether the watch has delivered this version, or has passed it: then the object existed and is gone. */
  #knows(item: Item<T>, seen: Item<T> | undefined): boolean {
    return (
      (seen !== undefined && hasReachedVersion(seen.version, item.version)) ||
      (compareVersions(this.#version, item.version) ?? -1) >= 0
    )
  }

  #remember(slot: string, uid: string): void {
    this.#deleted.add(slot).add(uid)
    for (const oldest of this.#deleted) {
      if (this.#deleted.size <= goneMax) return
      this.#deleted.delete(oldest)
    }
  }

  #confirm(slot: string, { namespace, name, observed: seen }: PendingWrite<T>): void {
    this.#pendingWrites.delete(slot)
    this.#show(namespace, name, seen)
  }

  #show(namespace: string, name: string, item: Item<T> | undefined): void {
    if (item) {
      this.#indexes.put(item, this.#items.put(item))
      return
    }
    const old = this.#items.delete(namespace, name)
    if (old) this.#indexes.delete(old)
  }

  #differenceTo(items: Items<T>): Difference<T> {
    const gone: Item<T>[] = []
    for (const item of this.observedValues()) if (!items.get(item.namespace, item.name)) gone.push(item)
    const changed: { item: Item<T>; old: Item<T> | undefined }[] = []
    for (const item of items.values()) {
      const old = this.observed(item.namespace, item.name)
      if (old?.version !== item.version || item.version === '') changed.push({ item, old })
    }
    return { gone, changed }
  }
}

function slotOf(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

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
    `no index ${JSON.stringify(index.name)}: add it with addIndex first; existing indexes: ${known === '' ? 'none' : known}`,
  )
}

/** The requirements of a selector in either form; none select everything. */
export function requirementsOf(selector: string | LabelSelector | undefined): readonly LabelRequirement[] {
  if (selector === undefined) return []
  return typeof selector === 'string' ? parseLabelSelector(selector) : (labelRequirementsOf(selector) ?? [])
}

/** What a cache keeps of a kind: which namespace, which labels, which fields. */
export interface CacheScope {
  /** @default all namespaces */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | LabelSelector | undefined
  /** `status.phase=Running`, or values by field. */
  readonly fieldSelector?: string | Readonly<Record<string, string>> | undefined
}

/** Whether an object belongs to a cache, as the server would decide: for our writes that the watch has not delivered yet. */
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
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : ''
}
