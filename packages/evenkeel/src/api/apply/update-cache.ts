/**
 * Caches the results of recent writes: owners after an update, and owned fields of a new object.
 *
 * The managers before an update, the changed fields and the writer determine the managers after it; only the times
 * differ. Controllers write the same few fields repeatedly, so the last few results of a type are cached: the managers
 * before (compared by identity, as the decoder returns the same sets), the change, and the managers after.
 *
 * Similar new objects differ in their values, not in their fields. A shape represents all objects that have the same
 * fields: it contains the field names, the keys of list items and, for each value, only its kind and whether it is Go's
 * zero value. The last few shapes of a type are cached with their field sets.
 */
import {
  getOwn,
  isJsonObject,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import type { ManagedFieldsEntry } from '../object.ts'
import { compareUnmanaged, type Comparison } from './compare.ts'
import type { FieldSet } from './field-set.ts'
import { typeOfField, type FieldType, type ListOf, type MapOf } from './field-type.ts'
import { compareEntries, entryOf, type ReadEntry } from './managed-fields.ts'
import { itemElementOrNone, valueKindOf } from './typed-value.ts'
import type { FieldFilter, Managers, VersionedSet } from './updater.ts'

/** The most recent items per key, the latest first: a recent item is likely to occur again. */
export class RecentCache<Key extends object, Item> {
  readonly #items = new WeakMap<Key, Item[]>()
  readonly #countMax: number

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** The first match. It moves one place to the front, so frequent items are found early. */
  find(key: Key, isRight: (item: Item) => boolean): Item | undefined {
    const items = this.#items.get(key)
    if (!items) return undefined
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as Item
      if (!isRight(item)) continue
      if (index > 0) [items[index - 1], items[index]] = [item, items[index - 1] as Item]
      return item
    }
    return undefined
  }

  add(key: Key, item: Item): void {
    const items = this.#items.get(key)
    if (!items) this.#items.set(key, [item])
    else {
      items.unshift(item)
      if (items.length > this.#countMax) items.pop()
    }
  }
}

/** The input that determines the managers after an update. */
export interface UpdateInput {
  readonly type: FieldType
  readonly filter: FieldFilter | undefined
  /** The identity of the writer. */
  readonly writer: string
  /** The entries before the update. */
  readonly entries: readonly ManagedFieldsEntry[]
  /** The decoded entries; no manager has two. */
  readonly before: readonly ReadEntry[]
  readonly comparison: Comparison
}

interface CachedUpdate extends Omit<UpdateInput, 'type' | 'entries'> {
  /** The remaining field set of each manager. */
  readonly left: readonly (VersionedSet | undefined)[]
  /** The writer, if it is a new manager. */
  readonly joined: VersionedSet | undefined
  /** Whether the writer gained fields, so that its time changes. */
  readonly noted: boolean
}

const recentUpdates = new RecentCache<FieldType, CachedUpdate>(12)
/** Larger objects are not cached: they would use too much memory, and the cache would save them little. */
const pathsMax = 4000

/**
 * The entries after an update equal to a recent one, in order, and the same list when nothing changes; undefined
 * without such an update. `author` identifies the writer, as an entry does.
 */
export function reuseUpdate(
  facts: UpdateInput,
  { author, time }: { author: ManagedFieldsEntry; time: string },
): readonly ManagedFieldsEntry[] | undefined {
  const { entries } = facts
  const known = recentUpdates.find(facts.type, (update) => isSame(update, facts))
  if (!known) return undefined
  let changed = known.joined !== undefined
  const after: ManagedFieldsEntry[] = []
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as ManagedFieldsEntry
    const left = known.left[index]
    const now = known.noted && facts.before[index]?.identity === facts.writer ? time : entry.time
    const same = left === facts.before[index]?.versioned && now === entry.time
    changed ||= !same
    if (left) after.push(same ? entry : entryOf(entry, left, { time: now }))
  }
  if (known.joined) after.push(entryOf(author, known.joined, { time }))
  if (after.length === 0) return undefined
  return changed ? after.sort(compareEntries) : entries
}

/** Caches the result of an update: the managers after it, before old entries are merged. */
export function cacheUpdate(
  { type, entries: _, ...facts }: UpdateInput,
  managers: Managers,
  { noted }: { noted: boolean },
): void {
  if (facts.before.reduce((paths, { versioned }) => paths + versioned.set.size, 0) > pathsMax) return
  const left = facts.before.map(({ identity, versioned }) => {
    const after = managers.get(identity)
    return after?.apiVersion === versioned.apiVersion && after.set.equals(versioned.set) ? versioned : after
  })
  const isNew = facts.before.every(({ identity }) => identity !== facts.writer)
  recentUpdates.add(type, { ...facts, left, joined: isNew ? managers.get(facts.writer) : undefined, noted })
}

function isSame(known: CachedUpdate, { filter, writer, before, comparison }: UpdateInput): boolean {
  if (known.filter !== filter || known.writer !== writer || known.before.length !== before.length) return false
  for (let index = 0; index < before.length; index++)
    if (
      known.before[index]?.versioned !== before[index]?.versioned ||
      known.before[index]?.identity !== before[index]?.identity
    )
      return false
  const { added, modified, removed } = known.comparison
  return modified.equals(comparison.modified) && added.equals(comparison.added) && removed.equals(comparison.removed)
}

// Owned fields of new objects.

interface CreatedShape {
  readonly filter: FieldFilter | undefined
  readonly shape: ObjectShape
  readonly set: FieldSet
}

const recentShapes = new RecentCache<FieldType, CreatedShape>(8)

/**
 * Every field of the object that `strip` and the filter leave.
 *
 * @throws {TypedError} when the object does not fit its type.
 */
export function createdFields(
  object: JsonObject,
  type: FieldType,
  { filter, strip }: { filter: FieldFilter | undefined; strip: FieldFilter },
): FieldSet {
  const known = recentShapes.find(type, (made) => made.filter === filter && hasShape(object, made.shape, type))
  if (known) return known.set
  const { added, modified } = compareUnmanaged({}, object, type)
  const owned = modified.union(added)
  const set = strip(filter ? filter(owned) : owned)
  const shape = objectShapeOf(object, type)
  if (shape !== undefined) recentShapes.add(type, { filter, shape, set })
  return set
}

// Shapes.

/** An object with every value shortened. */
type ObjectShape = JsonValue

/** The limit of values in a shape: larger objects are not cached. */
const valuesMax = 500

/** The shape of an object, or undefined when it is too large or does not fit its type. */
export function objectShapeOf(object: JsonObject, type: FieldType): ObjectShape | undefined {
  const budget = { left: valuesMax }
  const shape = shorten(object, type, budget)
  return budget.left > 0 ? shape : undefined
}

/** Whether an object has a shape. Recursion is never deeper than the shape. */
export function hasShape(value: JsonValue, shape: ObjectShape, type: FieldType): boolean {
  const kind = valueKindOf(type, value)
  if (kind === 'map' && type.map?.atomic === false) return mapHasShape(value, shape, type.map)
  if (kind === 'list' && type.list?.atomic === false) return listHasShape(value, shape, type.list)
  return valueKindOf(type, shape) === kind
}

function mapHasShape(value: JsonValue, shape: ObjectShape, type: MapOf): boolean {
  if (!isJsonObject(value) || !isJsonObject(shape)) return value === null && shape === null
  const names = Object.keys(value)
  const known = Object.keys(shape)
  if (names.length !== known.length) return false
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const field = value[name]
    const twin = shape[name]
    if (name !== known[index] || field === undefined || twin === undefined) return false
    const below = typeOfField(type, name)
    if (!below || !hasShape(field, twin, below)) return false
    const zero = type.always.get(name)
    if (zero !== undefined && isZero(field, zero) !== isZero(twin, zero)) return false
  }
  return true
}

function listHasShape(value: JsonValue, shape: ObjectShape, type: ListOf): boolean {
  if (!Array.isArray(value) || !Array.isArray(shape)) return value === null && shape === null
  if (value.length !== shape.length) return false
  for (let index = 0; index < value.length; index++) {
    const [item, twin] = [value[index] as JsonValue, shape[index] as JsonValue]
    if (itemElementOrNone(type, item) !== itemElementOrNone(type, twin) || !hasShape(item, twin, type.items.type))
      return false
  }
  return true
}

function shorten(value: JsonValue, type: FieldType, budget: { left: number }): ObjectShape | undefined {
  if (--budget.left <= 0) return undefined
  const kind = valueKindOf(type, value)
  if (kind === 'map' && type.map?.atomic === false && isJsonObject(value)) return shortenMap(value, type.map, budget)
  if (kind === 'list' && type.list?.atomic === false && Array.isArray(value))
    return shortenList(value as JsonArray, type.list, budget)
  return shortest(value)
}

function shortenMap(map: JsonObject, type: MapOf, budget: { left: number }): ObjectShape | undefined {
  const shape: JsonObjectDraft = {}
  for (const name of Object.keys(map)) {
    const value = getOwn(map, name)
    const below = typeOfField(type, name)
    const short = value === undefined || !below ? undefined : shorten(value, below, budget)
    if (short === undefined) {
      budget.left = 0
      return undefined
    }
    setOwn(shape, name, short)
  }
  return shape
}

// Keys identify items, so they are not shortened.
function shortenList(list: JsonArray, type: ListOf, budget: { left: number }): ObjectShape | undefined {
  const shape: JsonValue[] = []
  for (const item of list) {
    const short = shorten(item, type.items.type, budget)
    if (short === undefined) return undefined
    shape.push(isJsonObject(item) && isJsonObject(short) ? withKeys(short, item, type.keys) : item)
  }
  return shape
}

function withKeys(short: JsonObjectDraft, item: JsonObject, keys: readonly string[]): JsonObject {
  for (const key of keys) if (getOwn(item, key) !== undefined) setOwn(short, key, getOwn(item, key))
  return short
}

function shortest(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value === '' ? '' : 'x'
  if (typeof value === 'number') return value === 0 ? 0 : 1
  if (typeof value === 'bigint') return 1
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.length === 0 ? [] : [0]
  return Object.keys(value).length === 0 ? {} : { x: 0 }
}

/** Whether a value is the zero value of an omitted field: null, an empty string, 0, false or `{}`. */
function isZero(value: JsonValue, zero: JsonValue): boolean {
  return value === zero || (isJsonObject(zero) && isJsonObject(value) && Object.keys(value).length === 0)
}
