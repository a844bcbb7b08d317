/**
 * The walk of POST on a collection, and of a PUT that finds nothing and may create.
 */
import { ApiError, alreadyExists, forbidden, formatTime, generateNameConflict } from '#api'
import type { FieldError, JsonObject, UnstructuredObject } from '#api'
import type { WireResponse } from '#wire'
import { admissionOf } from '../admission/write-admission.ts'
import type { WriteAdmission, Writer } from '../admission/write-admission.ts'
import { admitInto } from '../admit.ts'
import { userInfo } from '../authentication/person.ts'
import type { Call, Rooms, Target } from '../call.ts'
import { toStored } from '../convert.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import { managerName, track } from '../resources/manage.ts'
import { applyDefaults, mutateNew, settleNew } from '../mutate.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { fetchCurrent, keyOfTarget, persist } from '../persist.ts'
import type { Written } from '../persist.ts'
import { chooseForm, replyStored } from '../reply.ts'
import type { ObjectDraft, WriteContext } from '../resources/resource.ts'
import { StoredObject, Unstamped } from '../storage/bytes.ts'
import { keyPrefix } from '../storage/keys.ts'
import { validateNew } from '../validate.ts'

/** How often a generated name is tried, and how often a namespace may change under us. */
const attemptsMax = 8

export async function create(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource)
  const options = readWriteOptions(call.query, 'CreateOptions')
  const format = bodyFormat(call.request, resource.custom ? ['json', 'yaml'] : undefined)
  const bytes = await readBody(call.request)
  const wanted = async (): Promise<ObjectDraft> =>
    shapeObject(await parseObject(bytes, format, resource.kind), resource, {
      fieldValidation: options.fieldValidation,
      warnings: call.warnings,
    })
  const manager = managerName(options.fieldManager, call.request.headers['user-agent'])
  const stored = await createObject(wanted, { call, target, rooms, dryRun: options.dryRun, manager })
  return replyStored(call, stored, { status: 201, resource, choice, rooms })
}

interface CreateOptions {
  readonly call: Writer
  readonly target: Target
  readonly rooms: Rooms
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
  options: CreateOptions,
): Promise<StoredObject> {
  const { target, rooms } = options
  const first = await tracked(await wanted(), options)
  const admission = admissionOf('CREATE', {
    ...options,
    target: { ...target, name: String(first.metadata['name'] ?? '') },
  })
  if (admission) await mutateFirst(first, admission, options)
  // Whoever changed it is not asked again when a race is lost.
  const text = admission && JSON.stringify(first)
  for (let attempt = 1; ; attempt++) {
    const object =
      attempt === 1
        ? first
        : text === undefined
          ? await tracked(await wanted(), options)
          : (JSON.parse(text) as ObjectDraft)
    const generated = !object.metadata['name'] && Boolean(object.metadata['generateName'])
    const result = await createOnce(object, admission, options)
    if (result.ok) return result.stored
    const name = result.name
    const taken = result.key === keyOfTarget(target, name, rooms)
    if (attempt < attemptsMax && (generated || !taken)) continue
    throw lost(result, { target, name, generated })
  }
}

/** What is wanted, complete, and with who manages it. */
async function tracked(object: ObjectDraft, { target, rooms, manager }: CreateOptions): Promise<ObjectDraft> {
  refuseClosed(target, String(object.metadata['name'] ?? ''))
  applyDefaults(object, target.resource)
  const tracking = manager === undefined ? undefined : track(object, undefined, { manager, target, rooms })
  if (tracking) await tracking
  return object
}

/** Nobody is asked about something that has no place to be. */
async function mutateFirst(
  object: ObjectDraft,
  admission: WriteAdmission,
  { call, target, rooms }: CreateOptions,
): Promise<void> {
  settleNew(object, { call, target })
  await admitInto(target, String(object.metadata['name'] ?? ''), rooms)
  await admission.mutate(object)
}

async function createOnce(
  object: ObjectDraft,
  admission: WriteAdmission | undefined,
  { call, target, rooms, dryRun }: CreateOptions,
): Promise<Written & { readonly name: string }> {
  const refusals: FieldError[] = []
  const context = { ...writeContext(call, target, rooms), ...(await othersOf(target, rooms, refusals)) }
  mutateNew(object, { call, target, rooms, context })
  const name = String(object.metadata['name'] ?? '')
  const checks = await admitInto(target, name, rooms)
  await target.resource.rules.ready?.(object as unknown as UnstructuredObject)
  validateNew(object as unknown as UnstructuredObject, target, { refusals })
  if (admission) await admission.validate(object as unknown as UnstructuredObject)
  if (!dryRun) {
    refuseVersion(object)
    return { name, ...(await persist(object as JsonObject, { rooms, target, expect: 0, checks })) }
  }
  const current = await fetchCurrent(name, { rooms, target })
  if (current)
    return {
      name,
      ok: false,
      key: keyOfTarget(target, name, rooms),
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
  { warnings, user }: Writer,
  { subresource }: Target,
  { clock }: Pick<Rooms, 'clock'>,
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
export async function othersOf(
  { resource, namespace, name }: Target,
  { store, cluster }: Rooms,
  refusals: FieldError[],
): Promise<Pick<WriteContext, 'others' | 'refuse'>> {
  if (!resource.rules.looksAtOthers) return {}
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

function refuseClosed({ resource: { group, plural, rules } }: Target, name: string): void {
  const closed = rules.closed?.()
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

function lost(
  { current }: Extract<Written, { ok: false }>,
  { target: { resource }, name, generated }: { target: Target; name: string; generated: boolean },
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
