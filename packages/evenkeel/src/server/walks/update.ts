/**
 * Room 6: the walk of PUT. What is there now, and what takes its place?
 *
 * Before: `decode` made the body an object. After: {@link guaranteedUpdate} computes, validates and commits, and comes back here
 * when somebody else was faster. Kinds that allow it are created when there is nothing to replace.
 */
import { badRequest } from '#api'
import type { WireResponse } from '#wire'
import { authorizeCreation } from '../authorize.ts'
import type { RequestContext, ServerContext, ResourceRef } from '../call.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import { managerName } from '../resources/manage.ts'
import { applyDefaults } from '../mutate.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { negotiateResponse, replyStored } from '../reply.ts'
import type { ObjectDraft } from '../resources/resource.ts'
import type { StoredObject } from '../storage/bytes.ts'
import { createObject } from './create.ts'
import { guaranteedUpdate, uidConflict } from './modify.ts'

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
