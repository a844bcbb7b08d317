/**
 * Room 6: the walk of PUT. What is there now, and what takes its place?
 *
 * Before: `decode` made the body an object. After: {@link guaranteedUpdate} computes, validates and commits, and comes back here
 * when somebody else was faster. Kinds that allow it are created when there is nothing to replace.
 */
import {
  badRequest,
  conflict,
  deepEqual,
  fieldError,
  FieldPath,
  getOwn,
  invalid,
  notFound,
  sameManagers,
  staleVersion,
  type ApiError,
  type FieldError,
  type JsonObject,
  type NamedSubject,
  type UnstructuredObject,
} from '#api'
import type { ObjectDraft, Resource } from '#builtins'
import type { WireResponse } from '#wire'
import { writeAdmissionFor, type WriteRequest } from '../admission/write-admission.ts'
import { authorizeCreation } from '../authz/authorize.ts'
import { managerName, trackManagedFields } from '../registry/field-manager.ts'
import { applyDefaults, beforeUpdate, prepareMetadataForUpdate } from '../registry/strategy.ts'
import { validateChanged } from '../registry/validation.ts'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import { completeWithDefaults, isFresh, prepareConversions, toServed, toStored } from '../storage/codec.ts'
import { deleteStored, getStored, putStored } from '../storage/storage.ts'
import { StoredObject, Unstamped } from '../storage/stored-object.ts'
import { createObject, otherObjects, writeContext } from './create.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

export async function updateResource(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const { resource } = target
  const choice = negotiateResponse(call, resource)
  const { dryRun, fieldValidation, fieldManager } = readWriteOptions(call.query, 'UpdateOptions')
  const manager = managerName(fieldManager, call.request.headers['user-agent'])
  const format = bodyFormat(call.request, resource.custom ? ['json', 'yaml'] : undefined)
  const bytes = await readBody(call.request)
  const wanted = async (): Promise<ObjectDraft> => {
    const draft = shapeObject(await parseObject(bytes, format, resource.kind), resource, {
      fieldValidation,
      warnings: call.warnings,
    })
    checkName(draft, target)
    applyDefaults(draft, resource)
    return draft
  }
  const first = await wanted()
  let fresh: ObjectDraft | undefined = first
  const next = async (): Promise<ObjectDraft> => {
    const draft = fresh ?? (await wanted())
    fresh = undefined
    return draft
  }
  const create = async (): Promise<StoredObject> => {
    await authorizeCreation(call, target, server.authorizer)
    return createObject(async () => asCreated(await next(), target), { call, target, server, dryRun, manager })
  }
  const mayCreate = resource.strategy.createOnUpdate && target.subresource === undefined
  const { stored, created } = await guaranteedUpdate(next, {
    call,
    target,
    server,
    dryRun,
    manager,
    requiresUid: true,
    create: mayCreate ? create : undefined,
  })
  return replyStored(call, stored, { status: created ? 201 : 200, resource, choice, server })
}

/**
 * An object that was meant to replace another and finds none.
 *
 * @throws {ApiError} `Conflict`, when it names the one it was to replace.
 */
function asCreated(draft: ObjectDraft, { name, resource: { group, plural } }: ResourceRef): ObjectDraft {
  const uid = draft.metadata['uid'] ?? ''
  if (uid !== '') throw uidConflict({ group, kind: plural, name }, String(uid), '')
  delete draft.metadata['resourceVersion']
  return draft
}

/**
 * The object must be the one that the path names.
 *
 * @throws {ApiError} `BadRequest`
 */
export function checkName({ metadata }: ObjectDraft, { name, namespace, resource: { scope } }: ResourceRef): void {
  const given = metadata['name'] ?? ''
  if (given === '')
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (given !== name)
    throw badRequest(`the name of the object (${String(given)}) does not match the name on the URL (${name})`)
  const inside = metadata['namespace'] ?? ''
  if (scope === 'Namespaced' && inside !== '' && inside !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/*
 * Rooms 6 to 12 for everything that changes an object that is there: update, patch, status, scale.
 *
 * This is the one way back in the house: a lost race returns to reading the current object, a bounded number of times.
 * What a client wants is therefore a pure function of what is there.
 */

/** What a client wants, given what is there. The current object is shared: not to be changed. */
type TryUpdate = (current: UnstructuredObject, stored: StoredObject) => ObjectDraft | Promise<ObjectDraft>

interface GuaranteedUpdateOptions {
  readonly call: WriteRequest
  readonly target: ResourceRef
  readonly server: ServerContext
  readonly dryRun: boolean
  /** Who comes to manage what changes; absent when the change says it already. */
  readonly manager?: string
  /** The uid that the writer means, if it says one: another one is a conflict. A patch has no such say. */
  readonly requiresUid?: boolean
  /** Shows admission something else than the object, and has had it changed already: a Scale. False: nobody is asked. */
  readonly admitted?: ((object: UnstructuredObject) => UnstructuredObject) | false
  /** What to do when there is nothing; without it that is an error. */
  readonly create?: (() => Promise<StoredObject>) | undefined
}

interface UpdateResult {
  readonly stored: StoredObject
  readonly created: boolean
}

/** Enough for any crowd: each round somebody else succeeded. */
const attemptsMax = 100

/**
 * Changes an object.
 *
 * @throws {ApiError} `NotFound`, `Conflict`, `Invalid`, and what the change itself throws.
 */
export async function guaranteedUpdate(change: TryUpdate, options: GuaranteedUpdateOptions): Promise<UpdateResult> {
  const { target, server, create } = options
  const subject = { group: target.resource.group, kind: target.resource.plural, name: target.name }
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const stored = await getStored(target.name, { server, target })
    if (stored === undefined) {
      if (create === undefined) throw notFound(subject)
      return { stored: await create(), created: true }
    }
    const result = await tryUpdateOnce(change, stored, options)
    if (result !== undefined) return { stored: result, created: false }
  }
  throw conflict(subject, 'the object kept changing while it was being written; please try again')
}

/** The result, or undefined when somebody else was faster. */
async function tryUpdateOnce(
  change: TryUpdate,
  stored: StoredObject,
  options: GuaranteedUpdateOptions,
): Promise<StoredObject | undefined> {
  const { call, target, server, dryRun, manager, requiresUid: meansUid = false, admitted } = options
  const { resource } = target
  const preparing = prepareConversions([stored], resource)
  if (preparing) await preparing
  const current = toServed(stored, resource)
  const wanted = await change(current, stored)
  const tracking = manager === undefined ? undefined : trackManagedFields(wanted, current, { manager, target, server })
  if (tracking) await tracking
  if (meansUid) checkUid(wanted, current, resource)
  const admission = admitted === false ? undefined : writeAdmissionFor('UPDATE', options)
  if (admission && admitted === undefined) {
    prepareMetadataForUpdate(wanted, { call, target })
    await admission.mutate(wanted, current)
  }
  checkVersion(wanted, current, resource)
  const refusals: FieldError[] = []
  const context = { ...writeContext(call, target, server), ...(await otherObjects(target, server, refusals)) }
  beforeUpdate(wanted, current, { call, target, server, context })
  const object = wanted as unknown as UnstructuredObject
  await resource.strategy.loadValidators?.(object)
  validateChanged(object, current, { target, refusals, warn: context.warn })
  if (admission)
    await (admitted ? admission.validate(admitted(object), admitted(current)) : admission.validate(object, current))
  const expect = stored.revision
  const next = completeWithDefaults(wanted as JsonObject, stored, resource)
  if (isLastWrite(object, current, resource)) {
    const gone = dryRun || (await deleteStored(target.name, { server, target, expect })).ok
    return gone ? dryRunResult(next, stored, resource) : undefined
  }
  if (sameContent(object, current) && (await isStoredAs(next, stored, resource))) return stored
  if (dryRun) return dryRunResult(next, stored, resource)
  const written = await putStored(next, { server, target, expect })
  return written.ok ? written.stored : undefined
}

/** What a write would have come to. */
async function dryRunResult(next: JsonObject, { revision }: StoredObject, resource: Resource): Promise<StoredObject> {
  return new StoredObject(new Unstamped(await toStored(next, resource)).stamped(revision), revision)
}

/**
 * Whether an object lies in the store as it would be written now. One that was written under an earlier definition is
 * written again even when nobody changed it: that is how objects get from one stored version to the next.
 */
async function isStoredAs(next: JsonObject, stored: StoredObject, resource: Resource): Promise<boolean> {
  if (isFresh(stored, resource)) return true
  return sameContent((await toStored(next, resource)) as unknown as UnstructuredObject, stored.object)
}

function checkUid({ metadata: { uid } }: ObjectDraft, current: UnstructuredObject, { group, plural }: Resource): void {
  if (uid === undefined || uid === '' || uid === current.metadata.uid) return
  throw uidConflict({ group, kind: plural, name: current.metadata.name ?? '' }, String(uid), current.metadata.uid ?? '')
}

/** The version an object says it replaces must be the present one; some kinds may be replaced without saying any. */
function checkVersion(
  { metadata }: ObjectDraft,
  current: UnstructuredObject,
  { group, plural, strategy: rules }: Resource,
): void {
  const subject: NamedSubject = { group, kind: plural, name: current.metadata.name ?? '' }
  const version = metadata['resourceVersion'] ?? ''
  if (version === '' || version === '0') {
    if (rules.unconditionalUpdate) {
      metadata['resourceVersion'] = current.metadata.resourceVersion
      return
    }
    throw invalid(subject, [
      fieldError.invalid(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
    ])
  }
  if (version !== current.metadata.resourceVersion) throw staleVersion(subject)
}

/** The object that is there is not the one that was meant. */
function uidConflict(subject: NamedSubject, uid: string, present: string): ApiError {
  return conflict(
    subject,
    `StorageError: invalid object, Code: 4, Key: ${subject.name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${present}`,
  )
}

/** Whether this write takes away the last thing that keeps a deleted object. */
function isLastWrite(
  { metadata, ...rest }: UnstructuredObject,
  old: UnstructuredObject,
  { strategy: rules }: Resource,
): boolean {
  if (old.metadata.deletionTimestamp === undefined || (metadata.finalizers?.length ?? 0) > 0) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false
  return !rules.deletion?.blocksDeletion({ metadata, ...rest } as UnstructuredObject)
}

/** Whether there is nothing to write: all is as it was, but perhaps when managers say they wrote it. */
function sameContent(object: UnstructuredObject, old: UnstructuredObject): boolean {
  for (const name of Object.keys(object))
    if (name !== 'metadata' && !deepEqual(object[name], getOwn(old, name))) return false
  for (const name of Object.keys(old)) if (old[name] !== undefined && getOwn(object, name) === undefined) return false
  const [{ managedFields, ...metadata }, { managedFields: oldFields, ...oldMetadata }] = [object.metadata, old.metadata]
  return (
    sameManagers(managedFields, oldFields) &&
    deepEqual({ ...metadata, resourceVersion: '' }, { ...oldMetadata, resourceVersion: '' })
  )
}
