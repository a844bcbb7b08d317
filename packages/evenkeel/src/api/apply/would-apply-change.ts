/**
 * Would an apply change anything? Answered from the live object alone, so that who applies the same over and over need
 * not ask a server each time.
 *
 * With the schema of a custom kind the answer is exact: the apply is carried out here, as a server would. Without one it
 * is read off what the manager owns already, and whenever that leaves a doubt the answer is yes: an apply too many
 * costs a request, one too few would leave the object wrong. Both take the live object to be as the server has it
 * under the schema of today.
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
   * The schema of the kind, as its definition has it (`openAPIV3Schema`), in the version of the objects.
   *
   * @default none: the answer is careful instead of exact
   */
  readonly schema?: SchemaNode
  /**
   * Whether the status of the kind is written through an endpoint of its own. Only looked at when there is a schema.
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

/** False only when a server would leave the object, its owners and its version as they are. */
export function wouldApplyChange(
  live: JsonObject,
  wanted: JsonObject,
  { manager, schema, hasStatus = true, subresource = '' }: WouldApplyChangeOptions,
): boolean {
  const entries = entriesOf(live)
  // What was there before the first apply gets a manager then.
  if (!entries || entries.length === 0 || !isSameObject(live, wanted)) return true
  return schema
    ? !staysSame(live, wanted, { manager, schema, hasStatus, subresource })
    : !ownsExactly(live, wanted, { manager, subresource })
}

/** Type and name are the same, and what the configuration says about the very object is true. */
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

/** Undefined when the apply would be refused. */
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

/** What an endpoint does not write stays as it was. */
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

/** An object without what may differ between two that are the same. */
function bare(object: JsonObject): JsonObject {
  const metadata: JsonObjectDraft = { ...metadataOf(object) }
  delete metadata['managedFields']
  delete metadata['resourceVersion']
  return { ...object, metadata }
}

function copyOf(object: JsonObject): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(object))
  return isJsonObject(copy) ? copy : {}
}

/*
 * Nulls that a configuration says.
 *
 * Reading an object drops nulls that may not stand where they do, as upstream's decoder does. What was applied is not
 * decoded again upstream, so there a null is a value: defaults may take its place, and otherwise it is judged.
 */

/** Writes nulls of `applied` into what reading made of it, where they were dropped. */
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

/*
 * The schema of a custom kind as field management sees it: what a definition says about metadata is not how metadata is
 * merged, and what it need not say about the type is there all the same.
 */

const text: SchemaNode = { type: 'string' }
const texts: SchemaNode = { type: 'object', additionalProperties: text }

/** As far as merging goes. */
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
