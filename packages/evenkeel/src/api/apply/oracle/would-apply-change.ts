/**
 * Would an apply change anything? Answered from the live object alone, so that who applies the same over and over need
 * not ask a server each time.
 *
 * With the schema of a custom kind the answer is exact: the apply is carried out here, as a server would. Without one it
 * is read off what the manager owns already, and whenever that leaves a doubt the answer is yes: an apply too many
 * costs a request, one too few would leave the object wrong. Both take the live object to be as the server has it
 * under the schema of today.
 */
import { ApiError } from '../../error/api-error.ts'
import { deepEqual, getOwn, isJsonObject } from '../../json.ts'
import type { JsonObject, JsonObjectDraft, JsonValue } from '../../json.ts'
import { defaultCustomObject } from '../../custom/default.ts'
import { pruneCustomObject } from '../../custom/shape.ts'
import type { SchemaNode } from '../../schema/schema.ts'
import { applyConfiguration } from '../managed/apply-configuration.ts'
import { excludeFields } from '../managed/filters.ts'
import { entriesOf, metadataOf, withEntries } from '../managed/request.ts'
import { sameManagers } from '../managed/timestamps.ts'
import { fieldManagementSchema } from './custom-schema.ts'
import { ownsExactly } from './owns-exactly.ts'
import { restoreNulls } from './restore-nulls.ts'

export interface WouldApplyChangeOptions {
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
