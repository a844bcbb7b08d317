/**
 * PATCH of an object: JSON patch, merge patch, strategic merge patch.
 *
 * A patch is applied to the current object in the served version, and the result is written as an update. A patch without
 * a resource version is applied again after a lost race.
 */
import {
  ApiError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  compareText,
  fieldError,
  FieldPath,
  invalid,
  isBadRequest,
  isInvalid,
  isJsonObject,
  requestEntityTooLarge,
  unsupportedMediaType,
  type JsonObjectDraft,
  type JsonPatchOperation,
  type JsonValue,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import type { Clock } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import { findKeys, parseMediaType, readJson, type WireResponse } from '#wire'
import { managerName } from '../registry/field-manager.ts'
import { applyDefaults } from '../registry/strategy.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import type { ApplyHandler } from './apply.ts'
import { documentValuesMax, readBody, shapeObject, type ShapeOptions } from './request-body.ts'
import { checkName, type UpdateHandler } from './update.ts'
import { readWriteOptions } from './write-options.ts'

const jsonPatchType = 'application/json-patch+json'
const mergePatchType = 'application/merge-patch+json'
const strategicPatchType = 'application/strategic-merge-patch+json'
const applyType = 'application/apply-patch+yaml'
const applyCborType = 'application/apply-patch+cbor'
const operationsMax = 10_000

/** The object after a patch. */
type ApplyPatch = (current: UnstructuredObject) => JsonValue

interface PatchServices {
  readonly updates: UpdateHandler
  readonly applies: ApplyHandler
  readonly clock: Clock
}

export class PatchHandler {
  readonly #updates: UpdateHandler
  readonly #applies: ApplyHandler
  readonly #clock: Clock

  constructor({ updates, applies, clock }: PatchServices) {
    this.#updates = updates
    this.#applies = applies
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const type = patchType(context, resource)
    if (isApply(type)) return this.#applies.handle(context, target)
    const choice = negotiateResponse(context, resource)
    const bytes = await readBody(context.request)
    const { dryRun, fieldValidation, fieldManager } = readWriteOptions(context.query, 'PatchOptions')
    const { value, duplicates, mistakes } = readStrictPatch(bytes, type)
    const apply = patcher(type, value, resource)
    const isBlind = !mentionsManagers(value)
    const { stored } = await this.#updates.update(
      (current) => {
        const patched = shapePatched(apply(isBlind ? withoutManagers(current) : current), {
          bytes,
          duplicates,
          mistakes,
          strategic: type === strategicPatchType ? value : undefined,
          resource,
          fieldValidation,
          warnings: context.warnings,
        })
        checkName(patched, target)
        applyDefaults(patched, resource)
        return patched
      },
      { context, target, dryRun, manager: managerName(fieldManager, context.request.headers['user-agent']) },
    )
    return replyStored(context, stored, { resource, choice, clock: this.#clock })
  }
}

/**
 * A patch as JSON.
 *
 * @throws {ApiError} `BadRequest`
 */
function readPatch(bytes: Uint8Array): ReturnType<typeof readJson> {
  try {
    return readJson(bytes, { valuesMax: documentValuesMax })
  } catch (error) {
    throw isBadRequest(error) ? badRequest(`error decoding patch: ${error.message}`, { cause: error }) : error
  }
}

interface StrictPatch {
  readonly value: JsonValue
  /** Paths of duplicate keys that are paths of the result too. */
  readonly duplicates: readonly string[]
  /** Strict decoding errors about the operations of a JSON patch. */
  readonly mistakes: readonly string[]
}

const operationMembers: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

/**
 * A patch, and what strict decoding has to say about it.
 *
 * @throws {ApiError} `BadRequest`
 */
export function readStrictPatch(bytes: Uint8Array, type: string): StrictPatch {
  const { value, duplicates } = readPatch(bytes)
  if (type !== jsonPatchType || !Array.isArray(value)) return { value, duplicates, mistakes: [] }
  const unknown = value.flatMap((operation, index) =>
    isJsonObject(operation)
      ? Object.keys(operation).flatMap((key) => (operationMembers.has(key) ? [] : [`[${index}].${key}`]))
      : [],
  )
  if (unknown.length === 0 && duplicates.length === 0) return { value, duplicates, mistakes: [] }
  const mistakes = findKeys(Buffer.from(bytes).toString(), unknown).map(
    ({ path, isDuplicate }) => `json patch ${isDuplicate ? 'duplicate' : 'unknown'} field ${JSON.stringify(path)}`,
  )
  return { value, duplicates: [], mistakes }
}

interface PatchedShape extends ShapeOptions, Omit<StrictPatch, 'value'> {
  /** The patch as sent, for error texts. */
  readonly bytes: Uint8Array
  /** A strategic merge patch: upstream converts its result with another decoder, whose errors are others. */
  readonly strategic?: JsonValue | undefined
  readonly resource: Resource
}

/**
 * The result of a patch as an object of its kind.
 *
 * @throws {ApiError} `Invalid`, when the patch made it invalid.
 */
export function shapePatched(
  value: JsonValue,
  { bytes, strategic, duplicates, mistakes, resource, ...options }: PatchedShape,
): ObjectDraft {
  try {
    return shapeObject({ value, duplicates, mistakes }, resource, options)
  } catch (error) {
    if (!isBadRequest(error)) throw error
    const reason = error.message.replace(/^.* cannot be handled as a \w+: /, '')
    throw invalid({ kind: '', name: '' }, [
      strategic === undefined
        ? fieldError.invalid(FieldPath.of('patch'), Buffer.from(bytes).toString(), reason)
        : fieldError.invalid(FieldPath.of('patch'), goText(strategic), restoreReason(reason)),
    ])
  }
}

const unmarshalReason = /^json: cannot unmarshal (\w+)(?: \S+)? into .* of type (\S+)$/
const goKinds: ReadonlyMap<string, string> = new Map([
  ['array', 'slice'],
  ['object', 'map'],
  ['number', 'int64'],
])
const ownDecoders: ReadonlySet<string> = new Set(['intstr.IntOrString', 'resource.Quantity', 'v1.Time', 'v1.MicroTime'])

/** The sentence of the converter of unstructured objects for a mistake that the JSON decoder found. */
function restoreReason(reason: string): string {
  const [, found = '', wanted = ''] = unmarshalReason.exec(reason) ?? []
  if (wanted === '' || ownDecoders.has(wanted)) return reason
  const kind = goKinds.get(found) ?? found
  if (wanted.startsWith('map[')) return `cannot restore map from ${kind}`
  if (wanted.startsWith('[]')) return `cannot restore slice from ${kind}`
  if (wanted.includes('.')) return `cannot restore struct from: ${kind}`
  return found === 'number' && wanted === 'string' ? 'cannot convert int64 to string' : `unrecognized type: ${wanted}`
}

/** A value as Go prints it: `map[data:map[a:1] kind:ConfigMap]`. */
function goText(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isJsonObject(value)) return value === null ? '<nil>' : String(value)
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b))
  return `map[${entries.map(([key, child]) => `${key}:${goText(child)}`).join(' ')}]`
}

/**
 * The type of a patch.
 *
 * @throws {ApiError} `UnsupportedMediaType`, naming the accepted types.
 */
export function patchType({ request: { headers }, formats }: RequestContext, { custom }: Resource): string {
  const { type } = parseMediaType(headers['content-type'] ?? '')
  const accepted = [
    jsonPatchType,
    mergePatchType,
    ...(custom ? [] : [strategicPatchType]),
    applyType,
    ...(formats.includes('cbor') ? [applyCborType] : []),
  ]
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted)
  return type
}

/** Whether a patch is an applied configuration. */
export function isApply(type: string): boolean {
  return type === applyType || type === applyCborType
}

/**
 * A patch that can be applied any number of times.
 *
 * @throws {ApiError} `BadRequest` for an invalid patch, `RequestEntityTooLarge` for too many operations.
 */
export function patcher(type: string, value: JsonValue, { schema }: Resource): ApplyPatch {
  if (type === jsonPatchType) {
    if (!Array.isArray(value)) throw badRequest('error decoding patch: a JSON patch is a list of operations')
    if (value.length > operationsMax)
      throw requestEntityTooLarge(
        `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${value.length}`,
      )
    return (current) =>
      copyOf(
        withPlainRefusal(() =>
          applyJsonPatch(current, value as JsonPatchOperation[], {
            negativeIndices: true,
            missingIsNull: true,
          }),
        ),
      )
  }
  if (!isJsonObject(value)) throw badRequest('error decoding patch: a patch must be an object')
  if (type === mergePatchType) return (current) => copyOf(applyMergePatch(current, value))
  // The type in a strategic merge patch describes the patch itself, so it is ignored.
  const { kind: _, apiVersion: __, ...changes } = value
  return (current) => copyOf(applyStrategicMergePatch(current, changes, schema))
}

// Clients match on the short sentence; a cause, which kubectl shows, has the details.
function withPlainRefusal<T>(apply: () => T): T {
  try {
    return apply()
  } catch (error) {
    if (!isInvalid(error)) throw error
    throw new ApiError('Invalid', 'the server rejected our request due to an error in our request', {
      causes: [{ reason: 'FieldValueInvalid', message: plainReason(error.message), field: 'patch' }],
      cause: error,
    })
  }
}

function plainReason(message: string): string {
  return message.replace(/^the server rejected our request due to an error in our request: /, '')
}

/** Whether a patch may touch managed fields; if not, they are left out of the patched object. */
function mentionsManagers(value: JsonValue): boolean {
  if (!Array.isArray(value))
    return isJsonObject(value) && isJsonObject(value['metadata']) && value['metadata']['managedFields'] !== undefined
  return value.some((operation) =>
    [operation?.['path'], operation?.['from']].some(
      (path) =>
        path === '' || path === '/metadata' || (typeof path === 'string' && path.startsWith('/metadata/managedFields')),
    ),
  )
}

// Managed fields need not be copied and decoded again for each patch.
function withoutManagers(current: UnstructuredObject): UnstructuredObject {
  const metadata: JsonObjectDraft = {}
  for (const [name, value] of Object.entries(current.metadata)) if (name !== 'managedFields') metadata[name] = value
  return { ...current, metadata }
}

// A patched object shares unchanged parts with the current one; later stages change it in place.
function copyOf(value: JsonValue): JsonValue {
  return parseJson(stringifyJson(value)) as JsonValue
}
