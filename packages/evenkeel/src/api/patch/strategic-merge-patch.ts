/**
 * Strategic merge patch: a merge patch that uses the schema, so lists of objects are merged by key.
 *
 * kubectl sends it for built-in kinds (`edit`, `set`, `rollout`, `patch`, client-side apply). Custom resources do not
 * support it: their schemas have no patch strategies.
 *
 * Invariants: the inputs are not changed, and the result shares unchanged parts with both; keys are own data
 * properties, whatever their names; the depth of the patch is limited, and with it every recursion here, since only the
 * parts that the patch contains are visited.
 */
import {
  exceedsDepth,
  getOwn,
  isJsonObject,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { badRequest } from '../errors/constructors.ts'
import { compile, compileSchema, type CompiledSchema } from '../schema/compile.ts'
import type { Schema } from '../schema/schema.ts'
import {
  deletePrefix,
  fieldOfDirective,
  orderPrefix,
  patchWord,
  retainKeys,
  typeOf,
  unexpected,
  unprocessable,
  withoutDirectives,
  type RemainingFields,
} from './strategic-directives.ts'
import { arrange, followsOrder, itemType, mergeLists, orderBefore, unknownPatchType } from './strategic-lists.ts'

/** Deeper than any schema; decoding a request has the same limit. */
const depthMax = 1000

/**
 * Applies the patch and returns the new object. It still contains unknown fields, and directives where they have no
 * meaning: pruning comes afterwards.
 *
 * @param patch parsed JSON, validated here.
 * @throws {ApiError} `BadRequest` when the patch or a directive is malformed, `Invalid` when it cannot be applied.
 */
export function applyStrategicMergePatch(original: JsonObject, patch: unknown, schema: Schema): JsonObject {
  if (!isJsonObject(patch)) throw badRequest('invalid JSON document: a strategic merge patch is an object')
  if (exceedsDepth(patch, depthMax)) throw badRequest(`the patch is nested more than ${depthMax} levels deep`)
  return mergeObjects(original, patch, compile(schema))
}

function mergeObjects(original: JsonObject, patch: JsonObject, schema: CompiledSchema): JsonObject {
  const directive = getOwn(patch, patchWord)
  if (directive !== undefined) return applyDirective(directive, patch)
  const draft: JsonObjectDraft = { ...original }
  const remaining: RemainingFields = new Map()
  for (const [key, change] of Object.entries(patch)) if (change !== undefined) remaining.set(key, change)
  retainKeys(draft, remaining)
  mergeOrderedLists(draft, remaining, schema)
  // Upstream has no defined order here; an item that is both deleted and added stays.
  for (const [key, change] of remaining) if (key.startsWith(deletePrefix)) mergeDeletion(draft, { key, change }, schema)
  for (const [key, change] of remaining) if (!key.startsWith(deletePrefix)) mergeField(draft, { key, change }, schema)
  return draft
}

/** The object that a `$patch` directive gives, whatever the old value. */
function applyDirective(directive: JsonValue, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {}
  if (directive !== 'replace') throw unknownPatchType(directive)
  const { [patchWord]: _, ...rest } = patch
  return rest
}

interface FieldChange {
  readonly key: string
  readonly change: JsonValue
}

function mergeField(draft: JsonObjectDraft, { key, change }: FieldChange, schema: CompiledSchema): void {
  const current = getOwn(draft, key)
  if (change === null) delete draft[key]
  else if (isJsonObject(change) && isJsonObject(current)) {
    const field = patchMetaForStruct(schema, key)
    setOwn(draft, key, field.strategy === 'replace' ? change : mergeObjects(current, change, field.schema))
  } else if (Array.isArray(change) && Array.isArray(current)) {
    const field = patchMetaForSlice(schema, key)
    setOwn(draft, key, field.strategy === 'merge' ? mergeListsOf(field, current, { patch: change }) : change)
  } else {
    const value = withoutDirectives(change, { nulls: 'drop' })
    if (value === undefined) delete draft[key]
    else setOwn(draft, key, value)
  }
}

function mergeDeletion(draft: JsonObjectDraft, { key: directive, change }: FieldChange, schema: CompiledSchema): void {
  const key = fieldOfDirective(directive, deletePrefix)
  const current = getOwn(draft, key)
  if (change === null) delete draft[key]
  else if (Array.isArray(current) && Array.isArray(change))
    setOwn(draft, key, mergeListsOf(patchMetaForSlice(schema, key), current, { patch: change, deleting: true }))
  // Any other value is not a list of scalars to delete; upstream ignores it unless both have the same type.
  else if (current !== undefined && typeOf(current) === typeOf(change)) mergeField(draft, { key, change }, schema)
}

function mergeListsOf(
  field: PatchMeta,
  current: JsonArray,
  { patch, deleting = false }: { patch: JsonArray; deleting?: boolean },
): JsonArray {
  const mergeItems = (original: JsonObject, change: JsonObject): JsonObject =>
    mergeObjects(original, change, field.schema)
  return mergeLists(current, patch, { mergeKey: field.mergeKey, deleting, mergeItems })
}

/** Merges every list that has a `$setElementOrder`, in that order, and removes it from the remaining fields. */
function mergeOrderedLists(draft: JsonObjectDraft, remaining: RemainingFields, schema: CompiledSchema): void {
  const directives = [...remaining].filter(([key]) => key.startsWith(orderPrefix))
  for (const [directive] of directives) remaining.delete(directive)
  for (const [directive, order] of directives) {
    if (!Array.isArray(order)) throw unexpected('list', order)
    const key = fieldOfDirective(directive, orderPrefix)
    const merged = mergeOrdered(
      { current: listOf(getOwn(draft, key)), patch: listOf(remaining.get(key)), order },
      patchMetaForSlice(schema, key),
    )
    if (merged === undefined) continue
    setOwn(draft, key, merged)
    remaining.delete(key)
  }
}

interface OrderedLists {
  readonly current: JsonArray | undefined
  readonly patch: JsonArray | undefined
  readonly order: JsonArray
}

function mergeOrdered({ current, patch, order }: OrderedLists, field: PatchMeta): JsonArray | undefined {
  const { mergeKey } = field
  if (patch && !followsOrder(patch, order, mergeKey))
    throw unprocessable(`the order in the patch list doesn't match the ${orderPrefix} list`)
  if (!current && !patch) return undefined
  const merged = mergeUnordered(current, patch, field)
  const ofObjects = itemType(current ?? [], patch ?? []) === 'map'
  const was =
    current && patch && ofObjects && field.strategy === 'merge'
      ? orderBefore(current, patch, mergeKey)
      : (current ?? [])
  return arrange(merged, { mergeKey, wanted: order, was })
}

function mergeUnordered(current: JsonArray | undefined, patch: JsonArray | undefined, field: PatchMeta): JsonArray {
  if (!patch) return current ?? []
  if (!current) return withoutDirectives(patch, { nulls: 'keep' }) as JsonArray
  return field.strategy === 'merge' ? mergeListsOf(field, current, { patch }) : patch
}

function listOf(value: JsonValue | undefined): JsonArray | undefined {
  if (value === undefined || Array.isArray(value)) return value
  throw unexpected('list', value)
}

// The strategy and the merge key of a field. They are beside the reference to the field's type, not in the type.

interface PatchMeta {
  /** The schema of the merged value: the object itself, or one item of the list. */
  readonly schema: CompiledSchema
  readonly strategy: 'merge' | 'replace' | 'default'
  /** Empty for lists of scalars. */
  readonly mergeKey: string
}

/** A field with an object. */
function patchMetaForStruct(schema: CompiledSchema, key: string): PatchMeta {
  const field = fieldOf(schema, key)
  return { schema: field, strategy: strategyOf(field), mergeKey: field.patchMergeKey }
}

/** A field with a list, whose items are merged. */
function patchMetaForSlice(schema: CompiledSchema, key: string): PatchMeta {
  const field = fieldOf(schema, key)
  const { type, items } = field.target
  if (type !== 'array') throw unprocessable(`expected slice or array type, but ${JSON.stringify(key)} is none`)
  return { schema: items ?? anything, strategy: strategyOf(field), mergeKey: field.patchMergeKey }
}

const anything = compileSchema({})

function fieldOf(schema: CompiledSchema, key: string): CompiledSchema {
  const { properties, allowsAdditional } = schema.target
  if (properties === undefined && allowsAdditional !== undefined) {
    throw unprocessable('merging an object in json but data type is not struct, instead is: map')
  }
  const field = properties?.get(key)
  if (field) return field
  const struct = schema.typeName.slice(schema.typeName.lastIndexOf('.') + 1)
  throw unprocessable(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(key)}`)
}

/** `retainKeys` only announces that clients use the directive; the directive itself always works. */
function strategyOf({ patchStrategy }: CompiledSchema): PatchMeta['strategy'] {
  const strategies = patchStrategy.split(',')
  if (strategies.includes('merge')) return 'merge'
  return strategies.includes('replace') ? 'replace' : 'default'
}
