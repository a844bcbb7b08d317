/**
 * Whether an apply would change anything, computed from the live object alone: a caller that repeats the same apply
 * saves the request.
 *
 * With the schema of a custom resource the answer is exact: the apply runs locally, as on a server. Without a schema
 * the answer comes from the managed fields, and every doubt gives yes: an unnecessary apply costs a request, a missing
 * one would leave the object wrong. Both assume that the live object is current and fits the current schema.
 *
 * Decoding drops nulls that the schema does not allow, as upstream's decoder does. Upstream does not decode an applied
 * object again, so there a null is a value: defaulting may replace it, otherwise validation checks it.
 *
 * Field management ignores the metadata schema of a CRD, because metadata merges by rules of its own, and adds the type
 * fields that a CRD may omit.
 */
import {
  deepEqual,
  getOwn,
  isJsonObject,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '@evenkeel/cel/primitives'
import { ApiError } from '../errors/api-error.ts'
import { defaultCustomObject } from '../schema/default.ts'
import { pruneCustomObject } from '../schema/prune.ts'
import type { Definitions, Schema, SchemaNode } from '../schema/schema.ts'
import { applyConfiguration } from './apply-configuration.ts'
import { entriesOf, excludeFields, metadataOf, sameManagers, withEntries } from './field-manager.ts'
import { ownsExactly } from './ownership.ts'

interface WouldApplyChangeOptions {
  /** The field manager that would apply. */
  readonly manager: string
  /**
   * The schema of the kind in the version of the objects, as in its CRD (`openAPIV3Schema`).
   *
   * @default none: the answer is conservative instead of exact
   */
  readonly schema?: SchemaNode
  /**
   * Whether the kind has a status subresource. Only used with a schema.
   *
   * @default true
   */
  readonly hasStatus?: boolean
  /**
   * The endpoint that would be applied to.
   *
   * @default ''
   */
  readonly subresource?: '' | 'status'
}

/** False only when a server would change neither the object nor its managed fields nor its resource version. */
export function wouldApplyChange(
  live: JsonObject,
  wanted: JsonObject,
  { manager, schema, hasStatus = true, subresource = '' }: WouldApplyChangeOptions,
): boolean {
  const entries = entriesOf(live)
  // A first apply adds a manager for the fields that were set before it.
  if (!entries || entries.length === 0 || !isSameObject(live, wanted)) return true
  return schema
    ? !staysSame(live, wanted, { manager, schema, hasStatus, subresource })
    : !ownsExactly(live, wanted, { manager, subresource })
}

/** Whether type and name are equal, and the identifying metadata of the configuration matches the live object. */
function isSameObject(live: JsonObject, wanted: JsonObject): boolean {
  if (wanted['apiVersion'] !== live['apiVersion'] || wanted['kind'] !== live['kind']) return false
  const [ours, theirs] = [metadataOf(live), metadataOf(wanted)]
  if (theirs['managedFields'] !== undefined || theirs['name'] !== ours['name']) return false
  return ['namespace', 'uid', 'resourceVersion'].every(
    (name) => theirs[name] === undefined || theirs[name] === ours[name],
  )
}

type KnownOptions = Required<WouldApplyChangeOptions>

function staysSame(live: JsonObject, wanted: JsonObject, { schema, ...options }: KnownOptions): boolean {
  const applied = applyLocally(live, wanted, { schema, ...options })
  if (applied === live) return true
  const shaped = applied && pruneCustomObject(copyOf(applied), schema)
  if (!shaped || shaped.mistake !== undefined) return false
  const { metadata: _, ...rest } = applied
  restoreNulls(shaped.object, rest)
  const next = keepPart(defaultCustomObject(shaped.object, schema), live, options)
  return sameManagers(entriesOf(live), entriesOf(next)) && deepEqual(bare(next), bare(live))
}

/** Undefined when the server would reject the apply. */
function applyLocally(
  live: JsonObject,
  wanted: JsonObject,
  { manager, schema, hasStatus, subresource }: KnownOptions,
): JsonObject | undefined {
  const filter = subresource === 'status' ? excludeFields(['metadata'], ['spec']) : excludeFields(['status'])
  try {
    return applyConfiguration({
      manager,
      live,
      config: wanted,
      force: true,
      nowMs: 0,
      schema: fieldManagementSchema(schema),
      keepsEmpty: true,
      apiVersion: String(live['apiVersion']),
      kind: String(live['kind']),
      ...(hasStatus && { filter }),
      ...(subresource !== '' && { subresource }),
    })
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** The fields that the endpoint does not write stay unchanged. */
function keepPart(
  next: JsonObject,
  live: JsonObject,
  { hasStatus, subresource }: Pick<KnownOptions, 'hasStatus' | 'subresource'>,
): JsonObject {
  if (subresource === 'status') return withEntries(withField(live, 'status', getOwn(next, 'status')), entriesOf(next))
  return hasStatus ? withField(next, 'status', getOwn(live, 'status')) : next
}

function withField(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  return { ...object, [name]: value }
}

/** An object without the fields that may differ between equal objects. */
function bare(object: JsonObject): JsonObject {
  const metadata: JsonObjectDraft = { ...metadataOf(object) }
  delete metadata['managedFields']
  delete metadata['resourceVersion']
  return { ...object, metadata }
}

function copyOf(object: JsonObject): JsonObject {
  const copy: unknown = parseJson(stringifyJson(object))
  return isJsonObject(copy) ? copy : {}
}

// Nulls in an apply configuration.

/** Restores the nulls of `applied` that decoding dropped from `read`. */
export function restoreNulls(read: JsonObjectDraft, applied: JsonObject): void {
  restore(read, applied)
}

function restore(read: JsonValue | undefined, applied: JsonValue | undefined): void {
  if (Array.isArray(applied)) {
    if (Array.isArray(read) && read.length === applied.length)
      for (const [index, item] of (applied as JsonArray).entries()) restore((read as JsonArray)[index], item)
    return
  }
  if (!isJsonObject(read) || !isJsonObject(applied)) return
  for (const name of Object.keys(applied)) {
    if (applied[name] === null && !Object.hasOwn(read, name)) setOwn(read, name, null)
    else if (Object.hasOwn(read, name)) restore(read[name], applied[name])
  }
}

// The schema of a custom resource for field management.

const text: SchemaNode = { type: 'string' }
const texts: SchemaNode = { type: 'object', additionalProperties: text }

/** Only the properties that merging needs. */
const nodes: ReadonlyMap<string, SchemaNode> = new Map<string, SchemaNode>([
  [
    'ObjectMeta',
    {
      type: 'object',
      properties: {
        annotations: texts,
        creationTimestamp: { $ref: 'Time' },
        deletionGracePeriodSeconds: { type: 'integer' },
        deletionTimestamp: { $ref: 'Time' },
        finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        generateName: text,
        generation: { type: 'integer' },
        labels: texts,
        managedFields: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
        name: text,
        namespace: text,
        ownerReferences: {
          type: 'array',
          items: { $ref: 'OwnerReference' },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['uid'],
        },
        resourceVersion: text,
        selfLink: text,
        uid: text,
      },
    },
  ],
  [
    'OwnerReference',
    {
      type: 'object',
      properties: {
        apiVersion: text,
        blockOwnerDeletion: { type: 'boolean' },
        controller: { type: 'boolean' },
        kind: text,
        name: text,
        uid: text,
      },
      'x-kubernetes-map-type': 'atomic',
    },
  ],
  ['Time', { type: 'string', format: 'date-time' }],
])

const definitions: Definitions = (name) => nodes.get(name)

const known = new WeakMap<SchemaNode, Schema>()

export function fieldManagementSchema(root: SchemaNode): Schema {
  let schema = known.get(root)
  if (!schema)
    known.set(
      root,
      (schema = {
        definitions,
        root: {
          ...root,
          properties: { apiVersion: text, kind: text, ...root.properties, metadata: { $ref: 'ObjectMeta' } },
        },
      }),
    )
  return schema
}
