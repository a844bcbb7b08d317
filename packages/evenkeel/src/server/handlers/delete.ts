/**
 * DELETE of one object.
 *
 * Finalizers (also those that the propagation policy adds), a grace period and a rule of the kind can hold an object: it
 * gets a deletion timestamp and stays. Otherwise it is removed at once.
 */
import {
  conflict,
  deepEqual,
  foregroundFinalizer,
  formatTime,
  notFound,
  orphanFinalizer,
  parseTime,
  type Status,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import type { Clock } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import { refuseProtectedNamespace } from '../admission/namespace-lifecycle.ts'
import type { Admission, WriteAdmission } from '../admission/write-admission.ts'
import type { ServiceAllocations } from '../registry/service-allocations.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyDocument, replyStored, successStatus } from '../response.ts'
import { completeWithDefaults, inStorageVersion, prepareConversions, toServed } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import { StoredObject, Unstamped } from '../storage/stored-object.ts'
import { readOptionsBody } from './request-body.ts'
import { deleteOptionsObject, readDeleteOptions, type DeleteOptions } from './write-options.ts'

interface DeleteServices {
  readonly storage: Storage
  readonly admission: Admission
  readonly allocations: ServiceAllocations
  readonly clock: Clock
}

interface DeleteObjectOptions extends DeleteOptions {
  /** Absent when the server itself deletes. */
  readonly admission?: WriteAdmission | undefined
  /** The object as a list has just read it. When it has changed since, it is read again. */
  readonly listed?: StoredObject
}

interface DeleteResult {
  /** The last state of the object, or its state with a deletion timestamp. */
  readonly stored: StoredObject
  readonly gone: boolean
}

/** How often another writer may win. */
const attemptsMax = 100

export class DeleteHandler {
  readonly #storage: Storage
  readonly #admission: Admission
  readonly #allocations: ServiceAllocations
  readonly #clock: Clock

  constructor({ storage, admission, allocations, clock }: DeleteServices) {
    this.#storage = storage
    this.#admission = admission
    this.#allocations = allocations
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource)
    const options = readDeleteOptions(context.query, await readOptionsBody(context))
    const { stored, gone } = await this.delete(target, {
      ...options,
      admission: this.admissionFor(context, target, options),
    })
    warnAboutOrphans(context, options, resource)
    if (!gone || resource.strategy.returnsDeleted) {
      const status = !gone && options.orphanDependents === false ? 202 : 200
      return replyStored(context, stored, { status, resource, choice, clock: this.#clock })
    }
    return replyDocument(context, deletedStatus(stored, resource), {
      choice: { format: choice.format },
    })
  }

  /** The admission of a deletion; undefined when no plugin handles it. */
  admissionFor(context: RequestContext, target: ResourceRef, options: DeleteOptions): WriteAdmission | undefined {
    const { dryRun } = options
    return this.#admission.forWrite('DELETE', { context, target, dryRun, options: deleteOptionsObject(options) })
  }

  /**
   * Deletes an object, or gives it a deletion timestamp.
   *
   * @throws {ApiError} `NotFound`, `Conflict` (preconditions), `Forbidden`.
   */
  async delete(target: ResourceRef, options: DeleteObjectOptions): Promise<DeleteResult> {
    const {
      resource: { group, plural },
      name,
    } = target
    refuseProtectedNamespace(target, name)
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const stored = (attempt === 0 ? options.listed : undefined) ?? (await this.#storage.get(name, target))
      if (stored === undefined) throw notFound({ group, kind: plural, name })
      const preparing = prepareConversions([stored], target.resource)
      if (preparing) await preparing
      checkPreconditions(stored, options, target)
      const result = await this.#tryDelete(stored, target, options)
      if (result !== undefined) return result
    }
    throw conflict(
      { group, kind: plural, name },
      'the object kept changing while it was being deleted; please try again',
    )
  }

  /** The result, or undefined after a lost race. */
  async #tryDelete(
    stored: StoredObject,
    target: ResourceRef,
    options: DeleteObjectOptions,
  ): Promise<DeleteResult | undefined> {
    const { resource } = target
    const quick = options.admission === undefined ? quickPlan(stored, { resource, options }) : undefined
    if (quick === 'erase') return this.#erase(stored, target, options)
    if (quick === 'leave') return { stored, gone: false }
    const form = inStorageVersion(resource)
    const preparing = prepareConversions([stored], form)
    if (preparing) await preparing
    const object = toServed(stored, form)
    // Only the rule of a kind changes more than the metadata: all else is shared.
    const makeDraft = (): ObjectDraft =>
      resource.strategy.deletion
        ? (parseJson(stringifyJson(object)) as ObjectDraft)
        : ({ ...object, metadata: { ...object.metadata } } as ObjectDraft)
    const plan = planDeletion(object, makeDraft, { resource, options, nowMs: this.#clock.now() })
    const expect = stored.revision
    if (plan === 'waits') return { stored, gone: false }
    await options.admission?.validate(undefined, toServed(stored, resource))
    if (plan === 'leave') return { stored, gone: false }
    if (plan === 'erase') return this.#erase(stored, target, options)
    if (options.dryRun) return { stored: new StoredObject(new Unstamped(plan).stamped(expect), expect), gone: false }
    const written = await this.#storage.put(completeWithDefaults(plan, stored, form), {
      target: { ...target, resource: form },
      expect,
    })
    return written.ok ? { stored: written.stored, gone: false } : undefined
  }

  async #erase(
    stored: StoredObject,
    target: ResourceRef,
    { dryRun }: DeleteObjectOptions,
  ): Promise<DeleteResult | undefined> {
    const linking = target.resource.strategy.allocated && this.#allocations.writesFor(target, { old: stored.object })
    const linked = linking && (await linking)
    const expect = stored.revision
    const isGone = dryRun || (await this.#storage.delete(target.name, { target, expect, linked })).ok
    return isGone ? { stored, gone: true } : undefined
  }
}

/**
 * The effect of most deletions, by two fields of the metadata, so that a large object is not parsed: nothing holds the
 * object, or its deletion has begun and nothing changes. Undefined: the whole object decides.
 */
function quickPlan(
  stored: StoredObject,
  { resource, options }: Omit<DeletionPlanContext, 'nowMs'>,
): 'erase' | 'leave' | undefined {
  const { deletion, graceSeconds } = resource.strategy
  if (deletion !== undefined || graceSeconds !== undefined) return undefined
  const present = stored.metadataField('finalizers') ?? []
  const next = finalizersFor(present, { resource, options })
  if (next.length === 0) return 'erase'
  return stored.metadataField('deletionTimestamp') !== undefined && deepEqual(next, present) ? 'leave' : undefined
}

interface DeletionPlanContext {
  readonly resource: Resource
  readonly options: DeleteOptions
  readonly nowMs: number
}

/**
 * The effect of a deletion: the object is already terminating (`waits`), nothing changes (`leave`), it is removed
 * (`erase`), or it is written with its deletion timestamp.
 */
function planDeletion(
  object: UnstructuredObject,
  makeDraft: () => ObjectDraft,
  { resource, options, nowMs }: DeletionPlanContext,
): 'waits' | 'leave' | 'erase' | ObjectDraft {
  const { metadata } = object
  const finalizers = finalizersFor(metadata.finalizers ?? [], { resource, options })
  const held = finalizers.length > 0 || (resource.strategy.deletion?.blocksDeletion(object) ?? false)
  // Most objects: then the draft, a second copy, is not needed.
  if (!held && resource.strategy.graceSeconds === undefined) return 'erase'
  const draft = makeDraft()
  if (finalizers.length > 0) draft.metadata['finalizers'] = finalizers
  else delete draft.metadata['finalizers']
  const graceful = planGrace(draft, object, { resource, options, nowMs })
  if (!held && graceful === 'now') return 'erase'
  if (graceful === 'pending' && !changed(draft, object)) return 'waits'
  if (metadata.deletionTimestamp === undefined) markDeleted(draft, { resource, nowMs })
  return changed(draft, object) ? draft : 'leave'
}

/** Sets the grace period; returns whether the object is deleted now, is now terminating, or was terminating before. */
function planGrace(
  draft: ObjectDraft,
  { metadata, ...rest }: UnstructuredObject,
  { resource: { strategy: rules }, options, nowMs }: DeletionPlanContext,
): 'now' | 'given' | 'pending' {
  const graceful = rules.graceSeconds
  if (graceful === undefined) return 'now'
  const { deletionTimestamp, deletionGracePeriodSeconds: present = 0 } = metadata
  if (deletionTimestamp !== undefined) {
    if (present === 0) return 'now'
    const asked = options.gracePeriodSeconds
    if (asked === undefined || asked >= present) return 'pending'
    const shortened = Math.max(nowMs, (parseTime(deletionTimestamp) ?? nowMs) + (asked - present) * 1000)
    setDeletion(draft, shortened, asked !== 0 && shortened === nowMs ? 1 : asked)
    return asked === 0 ? 'now' : 'given'
  }
  const seconds = graceful({ metadata, ...rest }, options.gracePeriodSeconds)
  if (seconds <= 0) return 'now'
  setDeletion(draft, nowMs + seconds * 1000, seconds)
  countDeletion(draft)
  return 'given'
}

function markDeleted(
  draft: ObjectDraft,
  { resource: { strategy: rules }, nowMs }: Omit<DeletionPlanContext, 'options'>,
): void {
  if (draft.metadata['deletionTimestamp'] === undefined) {
    setDeletion(draft, nowMs, 0)
    countDeletion(draft)
  }
  rules.deletion?.markDeleting(draft)
}

function setDeletion({ metadata }: ObjectDraft, atMs: number, seconds: number): void {
  metadata['deletionTimestamp'] = formatTime(atMs)
  metadata['deletionGracePeriodSeconds'] = seconds
}

// A deletion increments the generation.
function countDeletion({ metadata }: ObjectDraft): void {
  if (typeof metadata['generation'] === 'number') metadata['generation'] += 1
}

/** The finalizers after a deletion request: the two of the propagation policy are added or removed. */
function finalizersFor(
  present: readonly string[],
  {
    resource: { strategy: rules },
    options: { orphanDependents, propagationPolicy: propagation },
  }: Omit<DeletionPlanContext, 'nowMs'>,
): string[] {
  const others = present.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer)
  if (rules.dependents === 'none') return others
  const said = orphanDependents === undefined ? propagation : orphanDependents ? 'Orphan' : 'Background'
  const kept = present.includes(orphanFinalizer)
    ? 'Orphan'
    : present.includes(foregroundFinalizer)
      ? 'Foreground'
      : undefined
  const policy = said ?? kept ?? (rules.dependents === 'orphan' ? 'Orphan' : 'Background')
  if (policy === 'Orphan') return [...others, orphanFinalizer]
  return policy === 'Foreground' ? [...others, foregroundFinalizer] : others
}

function changed(draft: ObjectDraft, object: UnstructuredObject): boolean {
  return !deepEqual(draft, object)
}

function checkPreconditions(
  stored: StoredObject,
  { uid, resourceVersion }: DeleteOptions,
  { resource: { group, kind, plural, strategy: rules }, name }: ResourceRef,
): void {
  if (uid === undefined && resourceVersion === undefined) return
  const metadata = { uid: stored.metadataField('uid'), resourceVersion: stored.metadataField('resourceVersion') }
  const subject = { group, kind, name }
  if (uid !== undefined && uid !== metadata.uid) {
    // Namespaces have their own deletion process and error texts.
    if (rules.deletion)
      throw conflict(
        { ...subject, kind: plural },
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`,
      )
    throw conflict(
      subject,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ''}). The object might have been modified`,
    )
  }
}

function deletedStatus(stored: StoredObject, { group, plural }: Resource): Status {
  const [name = '', uid = ''] = [stored.metadataField('name'), stored.metadataField('uid')]
  return successStatus({ name, ...(group && { group }), kind: plural, uid })
}

function warnAboutOrphans(
  { warnings }: RequestContext,
  { propagationPolicy: propagation, orphanDependents }: DeleteOptions,
  { strategy: { orphanWarning } }: Resource,
): void {
  if (orphanWarning !== undefined && propagation === undefined && orphanDependents === undefined)
    warnings.add(orphanWarning)
}
