/**
 * The walk of POST on a collection, and of a PUT that finds nothing and may create.
 */
import {
  alreadyExists,
  ApiError,
  forbidden,
  formatTime,
  generateNameConflict,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import type { ObjectDraft, WriteContext } from '#builtins'
import type { WireResponse } from '#wire'
import { requireActiveNamespace } from '../admission/namespace-lifecycle.ts'
import { writeAdmissionFor, type WriteAdmission, type WriteRequest } from '../admission/write-admission.ts'
import { userInfo } from '../auth/user.ts'
import { managerName, trackManagedFields } from '../registry/field-manager.ts'
import { applyDefaults, beforeCreate, prepareMetadataForCreate } from '../registry/strategy.ts'
import { validateNew } from '../registry/validation.ts'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import { toStored } from '../storage/codec.ts'
import { getStored, keyPrefix, putStored, storageKey, type WriteResult } from '../storage/storage.ts'
import { StoredObject, Unstamped } from '../storage/stored-object.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

/** How often a generated name is tried, and how often a namespace may change under us. */
const attemptsMax = 8

export async function createResource(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const { resource } = target
  const choice = negotiateResponse(call, resource)
  const options = readWriteOptions(call.query, 'CreateOptions')
  const format = bodyFormat(call.request, resource.custom ? ['json', 'yaml'] : undefined)
  const bytes = await readBody(call.request)
  const wanted = async (): Promise<ObjectDraft> =>
    shapeObject(await parseObject(bytes, format, resource.kind), resource, {
      fieldValidation: options.fieldValidation,
      warnings: call.warnings,
    })
  const manager = managerName(options.fieldManager, call.request.headers['user-agent'])
  const stored = await createObject(wanted, { call, target, server, dryRun: options.dryRun, manager })
  return replyStored(call, stored, { status: 201, resource, choice, server })
}

interface CreateObjectOptions {
  readonly call: WriteRequest
  readonly target: ResourceRef
  readonly server: ServerContext
  readonly dryRun: boolean
  /** Who comes to manage the fields; absent when `wanted` says it already. */
  readonly manager?: string
}

/**
 * Takes an object through defaults, validation and admission into the store. `wanted` gives a fresh draft each time:
 * a lost race begins anew.
 *
 * @throws {ApiError} `AlreadyExists`, `Invalid`, `NotFound` or `Forbidden` (its namespace), `InternalError`.
 */
export async function createObject(
  wanted: () => ObjectDraft | Promise<ObjectDraft>,
  options: CreateObjectOptions,
): Promise<StoredObject> {
  const { target, server } = options
  const first = await withManagedFields(await wanted(), options)
  const admission = writeAdmissionFor('CREATE', {
    ...options,
    target: { ...target, name: String(first.metadata['name'] ?? '') },
  })
  if (admission) await mutateBeforeCreate(first, admission, options)
  // Whoever changed it is not asked again when a race is lost.
  const text = admission && JSON.stringify(first)
  for (let attempt = 1; ; attempt++) {
    const object =
      attempt === 1
        ? first
        : text === undefined
          ? await withManagedFields(await wanted(), options)
          : (JSON.parse(text) as ObjectDraft)
    const generated = !object.metadata['name'] && Boolean(object.metadata['generateName'])
    const result = await tryCreate(object, admission, options)
    if (result.ok) return result.stored
    const name = result.name
    const taken = result.key === storageKey(target, name, server)
    if (attempt < attemptsMax && (generated || !taken)) continue
    throw createConflict(result, { target, name, generated })
  }
}

/** What is wanted, complete, and with who manages it. */
async function withManagedFields(
  object: ObjectDraft,
  { target, server, manager }: CreateObjectOptions,
): Promise<ObjectDraft> {
  refuseClosed(target, String(object.metadata['name'] ?? ''))
  applyDefaults(object, target.resource)
  const tracking =
    manager === undefined ? undefined : trackManagedFields(object, undefined, { manager, target, server })
  if (tracking) await tracking
  return object
}

/** Nobody is asked about something that has no place to be. */
async function mutateBeforeCreate(
  object: ObjectDraft,
  admission: WriteAdmission,
  { call, target, server }: CreateObjectOptions,
): Promise<void> {
  prepareMetadataForCreate(object, { call, target })
  await requireActiveNamespace(target, String(object.metadata['name'] ?? ''), server)
  await admission.mutate(object)
}

async function tryCreate(
  object: ObjectDraft,
  admission: WriteAdmission | undefined,
  { call, target, server, dryRun }: CreateObjectOptions,
): Promise<WriteResult & { readonly name: string }> {
  const refusals: FieldError[] = []
  const context = { ...writeContext(call, target, server), ...(await otherObjects(target, server, refusals)) }
  beforeCreate(object, { call, target, server, context })
  const name = String(object.metadata['name'] ?? '')
  const checks = await requireActiveNamespace(target, name, server)
  await target.resource.strategy.loadValidators?.(object as unknown as UnstructuredObject)
  validateNew(object as unknown as UnstructuredObject, target, { refusals })
  if (admission) await admission.validate(object as unknown as UnstructuredObject)
  if (!dryRun) {
    refuseVersion(object)
    return { name, ...(await putStored(object as JsonObject, { server, target, expect: 0, checks })) }
  }
  const current = await getStored(name, { server, target })
  if (current)
    return {
      name,
      ok: false,
      key: storageKey(target, name, server),
      current: { key: '', value: current.bytes, revision: current.revision, created: 0 },
    }
  return {
    name,
    ok: true,
    stored: new StoredObject(withoutVersion(new Unstamped(await toStored(object as JsonObject, target.resource))), 0),
  }
}

/** What hooks are told about a write. */
export function writeContext(
  { warnings, user }: WriteRequest,
  { subresource }: ResourceRef,
  { clock }: Pick<ServerContext, 'clock'>,
): WriteContext {
  return {
    now: formatTime(clock.now()),
    warn: (text) => {
      warnings.add(text)
    },
    ...(subresource && { subresource: subresource.name }),
    ...(user && { user: userInfo(user) }),
  }
}

/** For kinds whose rules look at their neighbours: all of them but the one that is written, and where to complain. */
export async function otherObjects(
  { resource, namespace, name }: ResourceRef,
  { store, cluster }: ServerContext,
  refusals: FieldError[],
): Promise<Pick<WriteContext, 'others' | 'refuse'>> {
  if (!resource.strategy.needsOtherObjects) return {}
  const range = await store.range(keyPrefix(cluster, resource.storage))
  const entries = range.ok ? range.entries : []
  const others = entries
    .map(({ value, revision }) => new StoredObject(value, revision).object)
    .filter(({ metadata }) => metadata.name !== name || metadata.namespace !== namespace)
  return {
    others,
    refuse: (error) => {
      refusals.push(error)
    },
  }
}

function refuseClosed({ resource: { group, plural, strategy: rules } }: ResourceRef, name: string): void {
  const closed = rules.createForbidden?.()
  if (closed !== undefined) throw forbidden({ group, kind: plural, name }, closed)
}

/** It is the store that objects to a version, after everybody else: whoever only tries, or has worse mistakes, does not hear of it. */
function refuseVersion({ metadata }: ObjectDraft): void {
  if (
    metadata['resourceVersion'] !== undefined &&
    metadata['resourceVersion'] !== '' &&
    metadata['resourceVersion'] !== '0'
  ) {
    throw new ApiError('InternalError', 'resourceVersion should not be set on objects to be created')
  }
}

function createConflict(
  { current }: Extract<WriteResult, { ok: false }>,
  { target: { resource }, name, generated }: { target: ResourceRef; name: string; generated: boolean },
): ApiError {
  const subject = { group: resource.group, kind: resource.plural, name }
  if (generated) return generateNameConflict(subject)
  const terminating =
    current !== undefined &&
    new StoredObject(current.value, current.revision).object.metadata.deletionTimestamp !== undefined
  return alreadyExists(subject, { terminating })
}

// What was not stored has no version; the empty one is left out of the text.
function withoutVersion(unstamped: Unstamped): Uint8Array {
  const object = JSON.parse(Buffer.from(unstamped.value).toString()) as { metadata: { resourceVersion?: string } }
  delete object.metadata.resourceVersion
  return Buffer.from(JSON.stringify(object))
}
