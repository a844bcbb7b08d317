/**
 * The verbs that write, each one request: create, update, patch, apply, delete.
 */
import {
  createMergePatch,
  isJsonObject,
  setControllerReference,
  type JsonObject,
  type JsonPatchOperation,
  type JsonValue,
  type KubeObject,
  type Owner,
  asJson,
  asKubeObject,
} from '#api'
import {
  isObjectMissing,
  locate,
  nameMissingKind,
  withDefaults,
  write,
  type ClientCore,
  type WriteCall,
} from './core.ts'
import {
  applyParameters,
  deleteBody,
  selectionParameters,
  writeParameters,
  type ApplyOptions,
  type CreateOptions,
  type DeleteAllOptions,
  type DeleteOptions,
  type PatchFromOptions,
  type PatchOptions,
  type PatchType,
  type WriteOptions,
} from './request-options.ts'
import { nameOf, type KindLike } from './resource.ts'

/** A write to an object or to a part of it. */
interface WriteTarget {
  readonly object: KubeObject
  readonly subresource?: string
}

/** What a patch may be: an object for `merge` and `strategic`, operations for `json`. */
export type PatchBody = JsonObject | readonly JsonPatchOperation[] | object

export async function createObject(
  core: ClientCore,
  { object, subresource }: WriteTarget,
  given: CreateOptions & { body?: KubeObject },
): Promise<KubeObject> {
  const { owner, body, ...options } = withDefaults(core, given)
  const owned = withOwner(object, owner)
  const located = await locate(core, object, { key: object.metadata, subresource, signal: options.signal })
  return await send(core, {
    ...located,
    verb: 'create',
    method: 'POST',
    parameters: writeParameters(options),
    body: body ?? withNamespace(owned, located.location.namespace),
    options,
  })
}

export async function updateObject(
  core: ClientCore,
  { object, subresource }: WriteTarget,
  given: WriteOptions & { body?: KubeObject },
): Promise<KubeObject> {
  const { body = object, ...options } = withDefaults(core, given)
  const located = await locate(core, object, { key: nameOf(object), subresource, signal: options.signal })
  return await send(core, {
    ...located,
    verb: 'update',
    method: 'PUT',
    parameters: writeParameters(options),
    body: withNamespace(body, located.location.namespace),
    options,
  })
}

const patchTypes: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

export async function patchObject(
  core: ClientCore,
  { object, subresource }: WriteTarget,
  given: PatchOptions & { patch: PatchBody },
): Promise<KubeObject> {
  const { patch, type = 'merge', ...options } = withDefaults(core, given)
  if (Array.isArray(patch) !== (type === 'json'))
    throw new RangeError(
      `a patch of type ${type} is ${type === 'json' ? 'a list of operations' : 'an object'}: say which type it is`,
    )
  const located = await locate(core, object, { key: nameOf(object), subresource, signal: options.signal })
  return await send(core, {
    ...located,
    verb: 'patch',
    method: 'PATCH',
    parameters: writeParameters(options),
    body: patch as JsonValue,
    contentType: patchTypes[type],
    options,
  })
}

/** Patches an object from one state to another; nothing is sent when they are equal. */
export async function patchDifference(
  core: ClientCore,
  { object: from, subresource }: WriteTarget,
  given: PatchFromOptions & { to: KubeObject },
): Promise<KubeObject> {
  const { to, optimisticLock = true, ...options } = given
  const patch = createMergePatch(asJson(from), asJson(to)) as JsonObject
  if (Object.keys(patch).length === 0) return from
  return await patchObject(
    core,
    { object: from, ...(subresource !== undefined && { subresource }) },
    { ...options, patch: optimisticLock ? withLock(patch, from) : patch },
  )
}

export async function applyObject(
  core: ClientCore,
  { object, subresource }: WriteTarget,
  given: ApplyOptions,
): Promise<KubeObject> {
  const { owner, ...options } = withDefaults(core, given)
  if (!options.fieldManager)
    throw new RangeError(
      `apply of ${object.kind} ${object.metadata.name ?? ''} needs a fieldManager: give one to the call or to the client`,
    )
  const owned = withOwner(object, owner)
  const located = await locate(core, object, { key: nameOf(object), subresource, signal: options.signal })
  return await send(core, {
    ...located,
    verb: 'apply',
    method: 'PATCH',
    parameters: applyParameters(options),
    body: withNamespace(owned, located.location.namespace),
    contentType: 'application/apply-patch+yaml',
    options,
  })
}

/** Deletes one object; returns it while it waits for its finalizers, undefined when it is deleted. */
export async function deleteObject(
  core: ClientCore,
  object: KubeObject,
  { ignoreNotFound = false, ...given }: DeleteOptions & { ignoreNotFound?: boolean },
): Promise<KubeObject | undefined> {
  const options = withDefaults(core, given)
  const located = await locate(core, object, { key: nameOf(object), signal: options.signal })
  try {
    const answer = await sendAny(core, {
      ...located,
      verb: 'delete',
      method: 'DELETE',
      body: deleteBody(options),
      options,
    })
    return isTerminating(answer) ? asKubeObject(answer) : undefined
  } catch (error) {
    if (ignoreNotFound && isObjectMissing(error)) return undefined
    throw error
  }
}

export async function deleteObjects(core: ClientCore, kind: KindLike, given: DeleteAllOptions): Promise<void> {
  const options = withDefaults(core, given)
  const resource = await core.mapper.resolve(kind, options)
  if (resource.namespaced && options.namespace === undefined) {
    throw new RangeError(
      `deleteAllOf needs a namespace for ${resource.plural}: servers delete collections one namespace at a time`,
    )
  }
  await sendAny(core, {
    resource,
    location: { namespace: options.namespace },
    verb: 'deleteAllOf',
    method: 'DELETE',
    parameters: selectionParameters(options),
    body: deleteBody(options),
    options,
  })
}

async function send(core: ClientCore, call: WriteCall): Promise<KubeObject> {
  return asKubeObject(await sendAny(core, call))
}

async function sendAny(core: ClientCore, call: WriteCall): Promise<JsonObject> {
  try {
    return await write(core, call)
  } catch (error) {
    throw nameMissingKind(error, call.resource)
  }
}

/** The response to a delete is a Status, or the last state of the object. */
function isTerminating(answer: JsonObject): boolean {
  const { kind, metadata } = answer
  if (kind === 'Status' || !isJsonObject(metadata)) return false
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = metadata
  return (
    deletionTimestamp !== undefined &&
    ((Array.isArray(finalizers) && finalizers.length > 0) || Number(deletionGracePeriodSeconds ?? 0) > 0)
  )
}

/** The object with its controller. @throws {RangeError} when the owner is being deleted. */
export function withOwner<T extends KubeObject>(object: T, owner: Owner | undefined): T {
  if (owner === undefined) return object
  if (owner.metadata.deletionTimestamp) {
    const child = `${object.kind} ${object.metadata.name ?? object.metadata.generateName ?? ''}`
    throw new RangeError(
      `cannot create ${child}: its owner ${owner.kind} ${owner.metadata.name} is being deleted; check metadata.deletionTimestamp of the owner first`,
    )
  }
  return setControllerReference(owner, object)
}

function withNamespace<T extends KubeObject>(object: T, namespace: string | undefined): T {
  return namespace === undefined || object.metadata.namespace
    ? object
    : { ...object, metadata: { ...object.metadata, namespace } }
}

function withLock(patch: JsonObject, { kind, metadata: { name, resourceVersion } }: KubeObject): JsonObject {
  if (!resourceVersion)
    throw new RangeError(
      `${kind} ${name ?? ''} has no resourceVersion to lock by: read it first, or pass optimisticLock: false`,
    )
  const { metadata } = patch
  return { ...patch, metadata: { ...(isJsonObject(metadata) && metadata), resourceVersion } }
}
