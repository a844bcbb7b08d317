/**
 * POST on a collection, and a PUT or an apply that finds no object and may create it.
 *
 * A request reads top to bottom: decode the body, apply defaults, mutating admission, system fields, the namespace,
 * validation, validating admission, commit. A lost race starts again with a fresh draft; mutating admission is not
 * repeated.
 */
import {
  alreadyExists,
  ApiError,
  forbidden,
  formatTime,
  generateNameConflict,
  type FieldError,
  parseJson,
  stringifyJson,
} from '#api'
import type { Clock, Random } from '#base'
import type { ObjectDraft, WriteContext } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import type { NamespaceLifecycle } from '../admission/namespace-lifecycle.ts'
import type { Admission, WriteAdmission, WriteRequest } from '../admission/write-admission.ts'
import { userInfo } from '../auth/user.ts'
import { managerName, type FieldManager } from '../registry/field-manager.ts'
import type { ServiceAllocations } from '../registry/service-allocations.ts'
import { applyDefaults, beforeCreate, prepareMetadataForCreate } from '../registry/strategy.ts'
import { validateNew } from '../registry/validation.ts'
import { pauseLarge, type RequestContext, type ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import { toStored } from '../storage/codec.ts'
import type { Storage, WriteResult } from '../storage/storage.ts'
import { StoredObject, Unstamped } from '../storage/stored-object.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

/** How often a generated name is tried, and how often the namespace may change during the create. */
const attemptsMax = 8
/** How often other Services may take the address that was chosen. In each round one of them succeeds. */
const allocationAttemptsMax = 100

interface CreateServices {
  readonly storage: Storage
  readonly admission: Admission
  readonly namespaces: NamespaceLifecycle
  readonly allocations: ServiceAllocations
  readonly fieldManager: FieldManager
  readonly clock: Clock
  readonly random: Random
}

interface CreateOptions {
  readonly context: WriteRequest
  readonly target: ResourceRef
  readonly dryRun: boolean
  /** The field manager of the new object; absent when the draft has its managed fields already. */
  readonly manager?: string
}

export class CreateHandler {
  readonly #storage: Storage
  readonly #admission: Admission
  readonly #namespaces: NamespaceLifecycle
  readonly #allocations: ServiceAllocations
  readonly #fieldManager: FieldManager
  readonly #clock: Clock
  readonly #random: Random

  constructor({ storage, admission, namespaces, allocations, fieldManager, clock, random }: CreateServices) {
    this.#storage = storage
    this.#admission = admission
    this.#namespaces = namespaces
    this.#allocations = allocations
    this.#fieldManager = fieldManager
    this.#clock = clock
    this.#random = random
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource)
    const options = readWriteOptions(context.query, 'CreateOptions')
    const format = bodyFormat(context, { custom: resource.custom })
    const bytes = await readBody(context.request)
    const wanted = async (): Promise<ObjectDraft> => {
      const parsed = await parseObject(bytes, format, { kind: resource.kind, request: context.request })
      await pauseLarge(context.request)
      return shapeObject(parsed, resource, {
        fieldValidation: options.fieldValidation,
        warnings: context.warnings,
      })
    }
    const manager = managerName(options.fieldManager, context.request.headers['user-agent'])
    const stored = await this.create(wanted, { context, target, dryRun: options.dryRun, manager })
    return replyStored(context, stored, { status: 201, resource, choice, clock: this.#clock })
  }

  /**
   * Takes an object through defaults, admission and validation into the store. `wanted` returns a fresh draft each time.
   *
   * @throws {ApiError} `AlreadyExists`, `Invalid`, `NotFound` or `Forbidden` (its namespace), `InternalError`.
   */
  async create(wanted: () => ObjectDraft | Promise<ObjectDraft>, options: CreateOptions): Promise<StoredObject> {
    const { target } = options
    const first = await this.#withManagedFields(await wanted(), options)
    const admission = this.#admission.forWrite('CREATE', {
      ...options,
      target: { ...target, name: String(first.metadata['name'] ?? '') },
    })
    if (admission) await this.#mutate(first, admission, options)
    // Mutating admission is not repeated after a lost race.
    const text = admission && stringifyJson(first)
    for (let attempt = 1; ; attempt++) {
      const object =
        attempt === 1
          ? first
          : text === undefined
            ? await this.#withManagedFields(await wanted(), options)
            : (parseJson(text) as ObjectDraft)
      const generated = !object.metadata['name'] && Boolean(object.metadata['generateName'])
      const result = await this.#tryCreate(object, admission, options)
      if (result.ok) return result.stored
      const name = result.name
      const taken = result.key === this.#storage.keyOf(target, name)
      const limit = target.resource.strategy.allocated && !taken ? allocationAttemptsMax : attemptsMax
      if (attempt < limit && (generated || !taken)) {
        await this.#allocations.catchUp(target)
        continue
      }
      throw createConflict(result, { target, name, generated })
    }
  }

  /** The draft with its defaults and its managed fields. */
  async #withManagedFields(object: ObjectDraft, { context, target, manager }: CreateOptions): Promise<ObjectDraft> {
    await pauseLarge(context.request)
    refuseClosed(target, String(object.metadata['name'] ?? ''))
    applyDefaults(object, target.resource)
    const tracking =
      manager === undefined ? undefined : this.#fieldManager.track(object, undefined, { manager, target })
    if (tracking) await tracking
    return object
  }

  /** Checks the namespace first: without it no plugin has to look at the object. */
  async #mutate(object: ObjectDraft, admission: WriteAdmission, { context, target }: CreateOptions): Promise<void> {
    prepareMetadataForCreate(object, { context, target })
    await this.#namespaces.requireActive(target, String(object.metadata['name'] ?? ''))
    await admission.mutate(object)
  }

  async #tryCreate(
    object: ObjectDraft,
    admission: WriteAdmission | undefined,
    { context, target, dryRun }: CreateOptions,
  ): Promise<WriteResult & { readonly name: string }> {
    const refusals: FieldError[] = []
    const write = {
      ...writeContext(context, target, this.#clock),
      ...(await allocationContext(target, this.#allocations, refusals)),
    }
    beforeCreate(object, { context, target, random: this.#random, write })
    const name = String(object.metadata['name'] ?? '')
    const checks = await this.#namespaces.requireActive(target, name)
    await target.resource.strategy.loadValidators?.(object)
    await pauseLarge(context.request)
    validateNew(object, target, { refusals })
    await pauseLarge(context.request)
    if (admission) await admission.validate(object)
    if (dryRun) return this.#dryRun(object, name, target)
    refuseVersion(object)
    const linking = this.#allocations.writesFor(target, { next: object })
    const linked = linking && (await linking)
    return { name, ...(await this.#storage.put(object, { target, expect: 0, checks, linked })) }
  }

  async #dryRun(
    object: ObjectDraft,
    name: string,
    target: ResourceRef,
  ): Promise<WriteResult & { readonly name: string }> {
    const current = await this.#storage.get(name, target)
    if (current) {
      const entry = { key: '', value: current.bytes, revision: current.revision, created: 0 }
      return { name, ok: false, key: this.#storage.keyOf(target, name), current: entry }
    }
    const unstamped = new Unstamped(await toStored(object, target.resource))
    return { name, ok: true, stored: new StoredObject(unstamped.unversioned(), 0) }
  }
}

/** The context of a write for the strategy of its kind. */
export function writeContext(
  { warnings, user }: WriteRequest,
  { subresource }: ResourceRef,
  clock: Clock,
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

/** For kinds that allocate from shared ranges: what is free, and where to add errors. */
export async function allocationContext(
  target: ResourceRef,
  allocations: ServiceAllocations,
  refusals: FieldError[],
): Promise<Pick<WriteContext, 'allocations' | 'refuse'>> {
  if (target.resource.strategy.allocated === undefined) return {}
  const free = await allocations.forWrite(target)
  return {
    ...(free && { allocations: free }),
    refuse: (error) => {
      refusals.push(error)
    },
  }
}

function refuseClosed({ resource: { group, plural, strategy: rules } }: ResourceRef, name: string): void {
  const closed = rules.createForbidden?.()
  if (closed !== undefined) throw forbidden({ group, kind: plural, name }, closed)
}

/**
 * Checked last, as upstream does in its store: a dry run or an invalid object does not get this error. What is not a number
 * is ignored, as upstream.
 */
function refuseVersion({ metadata }: ObjectDraft): void {
  if (/^0*[1-9]\d*$/.test(String(metadata['resourceVersion'] ?? '')))
    throw new ApiError('InternalError', 'resourceVersion should not be set on objects to be created')
  delete metadata['resourceVersion']
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
