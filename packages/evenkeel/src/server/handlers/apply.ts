/**
 * PATCH with an applied configuration (server-side apply): the client sends every field it wants, the server finds the
 * changes.
 *
 * Creates a missing object. Fields that the manager applied before and leaves out now are removed, unless another manager
 * owns them. A change of a field of another manager is a conflict of the whole request.
 */
import {
  badRequest,
  canonicalApiVersion,
  conflict,
  isBadRequest,
  isJsonObject,
  restoreNulls,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type ObjectMeta,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import type { Clock } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import { duplicateYamlKeys, loadCbor, readYaml, type WireRequest, type WireResponse } from '#wire'
import type { FieldManager } from '../registry/field-manager.ts'
import { applyDefaults } from '../registry/strategy.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { documentValuesMax, isRemote, jsonType, readBody, shapeObject, type ShapeOptions } from './request-body.ts'
import { checkName, type UpdateHandler } from './update.ts'
import { readWriteOptions } from './write-options.ts'

interface ApplyServices {
  readonly updates: UpdateHandler
  readonly fieldManager: FieldManager
  readonly clock: Clock
}

export class ApplyHandler {
  readonly #updates: UpdateHandler
  readonly #fieldManager: FieldManager
  readonly #clock: Clock

  constructor({ updates, fieldManager, clock }: ApplyServices) {
    this.#updates = updates
    this.#fieldManager = fieldManager
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource)
    const bytes = await readBody(context.request)
    const options = readWriteOptions(context.query, 'PatchOptions', { isApply: true })
    const { dryRun, fieldManager: manager, fieldValidation, force } = options
    const { config, repeated } = await readConfiguration(bytes, context.request)
    const wanted = async (current: UnstructuredObject | undefined): Promise<ObjectDraft> => {
      const object = await this.#fieldManager.apply(config, current, { manager, target, force })
      refuseDuplicates(repeated, { fieldValidation, warnings: context.warnings })
      const shaped = shapeApplied(object, resource, { fieldValidation, warnings: context.warnings })
      checkName(shaped, target)
      if (!isUnchanged(object, current)) applyDefaults(shaped, resource)
      return shaped
    }
    const create = (): Promise<StoredObject> =>
      this.#updates.createMissing(async () => asNew(await wanted(undefined), target), { context, target, dryRun })
    const { stored, created } = await this.#updates.update(wanted, {
      context,
      target,
      dryRun,
      create: target.subresource === undefined ? create : undefined,
    })
    return replyStored(context, stored, { status: created ? 201 : 200, resource, choice, clock: this.#clock })
  }
}

/** Whether only managed fields changed. Then nothing is defaulted: defaults of another version would be a change. */
function isUnchanged({ metadata, ...rest }: JsonObject, current: UnstructuredObject | undefined): boolean {
  if (current === undefined) return false
  const { metadata: before, ...restBefore } = current
  const sameFields = (a: object, b: object): boolean =>
    Object.entries(a).every(([key, value]) => key === 'managedFields' || (b as JsonObject)[key] === value)
  return (
    sameFields(rest, restBefore) &&
    sameFields(restBefore, rest) &&
    sameFields(metadata as JsonObject, before) &&
    sameFields(before, metadata as JsonObject)
  )
}

/** The result of an apply, as an object of its kind. Its managed fields are new and need no validation. */
export function shapeApplied(
  { metadata, ...rest }: JsonObject,
  resource: Resource,
  options: ShapeOptions,
): ObjectDraft {
  const { managedFields, ...others } = metadata as ObjectMeta
  const text = stringifyJson({ ...rest, metadata: others })
  const shaped = shapeObject({ value: parseJson(text) as JsonObject, duplicates: [] }, resource, options)
  if (resource.custom && text.includes(':null')) restoreNulls(shaped, rest)
  if (managedFields !== undefined) shaped.metadata.managedFields = managedFields
  return shaped
}

/** An applied configuration as sent. */
interface ApplyConfiguration {
  readonly config: JsonObject
  /** Duplicate keys, as a strict decoder reports them. */
  readonly repeated: readonly string[]
}

/**
 * The configuration in a body.
 *
 * @throws {ApiError} `BadRequest`
 */
export async function readConfiguration(bytes: Uint8Array, request: WireRequest): Promise<ApplyConfiguration> {
  const isCbor = request.headers['content-type']?.includes('cbor') === true
  const read = isCbor
    ? readCborPatch(bytes)
    : readYaml(bytes, { inThread: isRemote(request), valuesMax: documentValuesMax })
  // Upstream names YAML for both formats.
  const { value, duplicates } = await read.catch((error: unknown) => {
    throw isBadRequest(error) ? badRequest(`error decoding YAML: ${error.message}`, { cause: error }) : error
  })
  const config = value ?? {}
  if (!isJsonObject(config)) {
    const decoder = isCbor ? 'cbor' : 'error unmarshaling JSON: while decoding JSON: json'
    throw badRequest(
      `error decoding YAML: ${decoder}: cannot unmarshal ${jsonType(config)} into Go value of type map[string]interface {}`,
    )
  }
  const { apiVersion } = config
  if (typeof apiVersion === 'string') (config as JsonObjectDraft)['apiVersion'] = canonicalApiVersion(apiVersion)
  return { config, repeated: duplicates.length === 0 ? [] : await duplicateFields(bytes, duplicates) }
}

async function readCborPatch(bytes: Uint8Array): Promise<{ value: JsonValue; duplicates: readonly string[] }> {
  const { readCbor } = await loadCbor()
  return { value: readCbor(bytes, { valuesMax: documentValuesMax }), duplicates: [] }
}

/** Line numbers are omitted for very long texts; paths are enough. */
async function duplicateFields(bytes: Uint8Array, duplicates: readonly string[]): Promise<readonly string[]> {
  const byPath = duplicates.map((path) => `key ${JSON.stringify(path)} already set in map`)
  return bytes.byteLength > countedBytesMax ? byPath : duplicateYamlKeys(bytes).catch(() => byPath)
}

const countedBytesMax = 32 * 1024

/**
 * Adds warnings about duplicate keys, or refuses the configuration.
 *
 * @throws {ApiError} `BadRequest`, with `fieldValidation=Strict`.
 */
export function refuseDuplicates(repeated: readonly string[], { fieldValidation, warnings }: ShapeOptions): void {
  if (repeated.length === 0 || fieldValidation === 'Ignore') return
  if (fieldValidation === 'Strict')
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${repeated.join('\n  ')}`,
    )
  for (const sentence of repeated) warnings.add(sentence)
}

/**
 * An apply that creates the object. A resource version is ignored: there is no object to compare with.
 *
 * @throws {ApiError} `Conflict`, when it has a uid.
 */
function asNew(draft: ObjectDraft, { name, resource: { group, plural } }: ResourceRef): ObjectDraft {
  const uid = String(draft.metadata['uid'] ?? '')
  if (uid !== '')
    throw conflict(
      { group, kind: plural, name },
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    )
  delete draft.metadata['resourceVersion']
  return draft
}
