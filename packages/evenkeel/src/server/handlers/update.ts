/**
 * PUT of an object, and the update that every change of a stored object goes through: update, patch, apply, scale.
 *
 * A request reads top to bottom: read the current object, compute the wanted one, mutating admission, system fields,
 * validation, validating admission, commit. After a lost race it starts again with the current object, a bounded number
 * of times; the wanted object is therefore a pure function of the current one. Kinds that allow it are created when
 * there is no object.
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
  type NamedSubject,
  type UnstructuredObject,
} from '#api'
import type { Clock } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import type { Admission, WriteRequest } from '../admission/write-admission.ts'
import { authorizeCreation } from '../authz/authorize.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { managerName, type FieldManager } from '../registry/field-manager.ts'
import type { ServiceAllocations } from '../registry/service-allocations.ts'
import { applyDefaults, beforeUpdate, prepareMetadataForUpdate } from '../registry/strategy.ts'
import { validateChanged } from '../registry/validation.ts'
import { LargeObject, pauseLarge, type RequestContext, type ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import { completeWithDefaults, isFresh, prepareConversions, toServed, toStored } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import { StoredObject, Unstamped } from '../storage/stored-object.ts'
import { allocationContext, writeContext, type CreateHandler } from './create.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

interface UpdateServices {
  readonly storage: Storage
  readonly admission: Admission
  readonly allocations: ServiceAllocations
  readonly fieldManager: FieldManager
  readonly authorizer: AuthorizerChain
  readonly creates: CreateHandler
  readonly clock: Clock
}

/** The wanted object, computed from the current one. The current object is shared and must not be changed. */
type TryUpdate = (current: UnstructuredObject, stored: StoredObject) => ObjectDraft | Promise<ObjectDraft>

interface UpdateOptions {
  readonly context: WriteRequest
  readonly target: ResourceRef
  readonly dryRun: boolean
  /** The field manager of the change; absent when the draft has its managed fields already. */
  readonly manager?: string
  /** Another uid than the one in the draft is a conflict. A patch does not check it. */
  readonly requiresUid?: boolean
  /** Shows admission another object than the stored one, already mutated: a Scale. False: no admission. */
  readonly admitted?: ((object: UnstructuredObject) => UnstructuredObject) | false
  /** Runs when there is no object; without it that is `NotFound`. */
  readonly create?: (() => Promise<StoredObject>) | undefined
}

interface UpdateResult {
  readonly stored: StoredObject
  readonly created: boolean
}

/** How often another writer may win. */
const attemptsMax = 100

export class UpdateHandler {
  readonly #storage: Storage
  readonly #admission: Admission
  readonly #allocations: ServiceAllocations
  readonly #fieldManager: FieldManager
  readonly #authorizer: AuthorizerChain
  readonly #creates: CreateHandler
  readonly #clock: Clock

  constructor({ storage, admission, allocations, fieldManager, authorizer, creates, clock }: UpdateServices) {
    this.#storage = storage
    this.#admission = admission
    this.#allocations = allocations
    this.#fieldManager = fieldManager
    this.#authorizer = authorizer
    this.#creates = creates
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource)
    const { dryRun, fieldValidation, fieldManager } = readWriteOptions(context.query, 'UpdateOptions')
    const manager = managerName(fieldManager, context.request.headers['user-agent'])
    const format = bodyFormat(context, { custom: resource.custom })
    const bytes = await readBody(context.request)
    const wanted = async (): Promise<ObjectDraft> => {
      const parsed = await parseObject(bytes, format, { kind: resource.kind, request: context.request })
      await pauseLarge(context.request)
      const draft = shapeObject(parsed, resource, { fieldValidation, warnings: context.warnings })
      checkName(draft, target)
      applyDefaults(draft, resource)
      return draft
    }
    let fresh: ObjectDraft | undefined = await wanted()
    const next = async (): Promise<ObjectDraft> => {
      const draft = fresh ?? (await wanted())
      fresh = undefined
      return draft
    }
    const create = (): Promise<StoredObject> =>
      this.createMissing(async () => asCreated(await next(), target), { context, target, dryRun, manager })
    const mayCreate = resource.strategy.createOnUpdate && target.subresource === undefined
    const { stored, created } = await this.update(next, {
      context,
      target,
      dryRun,
      manager,
      requiresUid: true,
      create: mayCreate ? create : undefined,
    })
    return replyStored(context, stored, { status: created ? 201 : 200, resource, choice, clock: this.#clock })
  }

  /**
   * Creates the object that an update did not find, if the user may also create it.
   *
   * @throws {ApiError} `Forbidden`, and what the create throws.
   */
  async createMissing(
    wanted: () => ObjectDraft | Promise<ObjectDraft>,
    options: UpdateOptions & { readonly context: RequestContext },
  ): Promise<StoredObject> {
    await authorizeCreation(options.context, options.target, this.#authorizer)
    return this.#creates.create(wanted, options)
  }

  /**
   * Changes an object: reads it, computes the wanted one and commits it, again after a lost race.
   *
   * @throws {ApiError} `NotFound`, `Conflict`, `Invalid`, and what the change itself throws.
   */
  async update(change: TryUpdate, options: UpdateOptions): Promise<UpdateResult> {
    const { context, target, create } = options
    const subject = { group: target.resource.group, kind: target.resource.plural, name: target.name }
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const stored = await this.#storage.get(target.name, target)
      if (stored === undefined) {
        if (create === undefined) throw notFound(subject)
        return { stored: await create(), created: true }
      }
      if (stored.bytes.byteLength > (context.objectBytesMax ?? Number.POSITIVE_INFINITY)) throw new LargeObject()
      const result = await this.#tryUpdate(change, stored, options)
      if (result !== undefined) return { stored: result, created: false }
      await this.#allocations.catchUp(target)
    }
    throw conflict(subject, 'the object kept changing while it was being written; please try again')
  }

  /** The result, or undefined after a lost race. */
  async #tryUpdate(change: TryUpdate, stored: StoredObject, options: UpdateOptions): Promise<StoredObject | undefined> {
    const { context, target, manager, requiresUid = false, admitted } = options
    const { resource } = target
    const preparing = prepareConversions([stored], resource)
    if (preparing) await preparing
    const current = toServed(stored, resource)
    const wanted = await change(current, stored)
    await pauseLarge(context.request)
    const tracking = manager === undefined ? undefined : this.#fieldManager.track(wanted, current, { manager, target })
    if (tracking) await tracking
    if (requiresUid) checkUid(wanted, current, resource)
    const admission = admitted === false ? undefined : this.#admission.forWrite('UPDATE', options)
    if (admission && admitted === undefined) {
      prepareMetadataForUpdate(wanted, { context, target })
      await admission.mutate(wanted, current)
    }
    checkVersion(wanted, current, resource)
    const refusals: FieldError[] = []
    const write = {
      ...writeContext(context, target, this.#clock),
      ...(await allocationContext(target, this.#allocations, refusals)),
    }
    beforeUpdate(wanted, current, { context, target, write })
    await resource.strategy.loadValidators?.(wanted)
    await pauseLarge(context.request)
    validateChanged(wanted, current, { target, refusals, warn: write.warn })
    if (admission)
      await (admitted ? admission.validate(admitted(wanted), admitted(current)) : admission.validate(wanted, current))
    await pauseLarge(context.request)
    return this.#commit(wanted, { current, stored, options })
  }

  /** Writes the object; removes it when nothing holds a deleted object any more; leaves it when nothing changed. */
  async #commit(
    wanted: ObjectDraft,
    { current, stored, options: { target, dryRun } }: CommitContext,
  ): Promise<StoredObject | undefined> {
    const { resource } = target
    const expect = stored.revision
    const next = completeWithDefaults(wanted, stored, resource)
    if (isLastWrite(wanted, current, resource)) {
      const linking = this.#allocations.writesFor(target, { old: current })
      const linked = linking && (await linking)
      const gone = dryRun || (await this.#storage.delete(target.name, { target, expect, linked })).ok
      return gone ? dryRunResult(next, stored, resource) : undefined
    }
    if (sameContent(wanted, current) && (await isStoredAs(next, stored, resource))) return stored
    if (dryRun) return dryRunResult(next, stored, resource)
    const linking = this.#allocations.writesFor(target, { next, old: current })
    const linked = linking && (await linking)
    const written = await this.#storage.put(next, { target, expect, linked })
    return written.ok ? written.stored : undefined
  }
}

interface CommitContext {
  readonly current: UnstructuredObject
  readonly stored: StoredObject
  readonly options: UpdateOptions
}

/**
 * An update that creates the object.
 *
 * @throws {ApiError} `Conflict`, when it names the object to replace by uid.
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

/** The result of a dry run. */
async function dryRunResult(
  next: UnstructuredObject,
  { revision }: StoredObject,
  resource: Resource,
): Promise<StoredObject> {
  return new StoredObject(new Unstamped(await toStored(next, resource)).stamped(revision), revision)
}

/**
 * Whether the stored bytes are what would be written now. An object that was written under an earlier CRD is written
 * again even without a change: that is how objects move from one stored version to the next.
 */
async function isStoredAs(next: UnstructuredObject, stored: StoredObject, resource: Resource): Promise<boolean> {
  if (isFresh(stored, resource)) return true
  return sameContent(await toStored(next, resource), stored.object)
}

function checkUid({ metadata: { uid } }: ObjectDraft, current: UnstructuredObject, { group, plural }: Resource): void {
  if (uid === undefined || uid === '' || uid === current.metadata.uid) return
  throw uidConflict({ group, kind: plural, name: current.metadata.name ?? '' }, String(uid), current.metadata.uid ?? '')
}

/** The resource version of the new object must be the current one; some kinds allow updates without one. */
function checkVersion(
  { metadata }: ObjectDraft,
  current: UnstructuredObject,
  { group, plural, strategy: rules }: Resource,
): void {
  const subject: NamedSubject = { group, kind: plural, name: current.metadata.name ?? '' }
  const version = metadata['resourceVersion'] ?? ''
  if (version === '' || version === '0') {
    if (rules.unconditionalUpdate) {
      metadata.resourceVersion = current.metadata.resourceVersion ?? ''
      return
    }
    throw invalid(subject, [
      fieldError.invalid(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
    ])
  }
  if (version !== current.metadata.resourceVersion) throw staleVersion(subject)
}

/** The current object has another uid. */
function uidConflict(subject: NamedSubject, uid: string, present: string): ApiError {
  return conflict(
    subject,
    `StorageError: invalid object, Code: 4, Key: ${subject.name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${present}`,
  )
}

/** Whether nothing holds a deleted object any more after this write. */
function isLastWrite(
  { metadata, ...rest }: UnstructuredObject,
  old: UnstructuredObject,
  { strategy: rules }: Resource,
): boolean {
  if (old.metadata.deletionTimestamp === undefined || (metadata.finalizers?.length ?? 0) > 0) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false
  return !rules.deletion?.blocksDeletion({ metadata, ...rest })
}

/** Whether nothing has to be written: only the times of managed fields differ, if anything. */
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
