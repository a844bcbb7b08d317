/**
 * The walk of GET on one object.
 */
import { badRequest, notFound, parseRequestedVersion } from '#api'
import type { WireResponse } from '#wire'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import { revisionError, storageKey, withStorageErrors } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'

export async function getResource(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const choice = negotiateResponse(call, target.resource)
  const stored = await getObject(target, server, { notOlderThan: call.query.get('resourceVersion') ?? '' })
  return replyStored(call, stored, { resource: target.resource, choice, server })
}

/**
 * The object a target names.
 *
 * @throws {ApiError} `NotFound`; `Timeout`, when a version is asked for that we have not reached.
 */
export async function getObject(
  target: ResourceRef,
  server: ServerContext,
  { notOlderThan = '' }: { notOlderThan?: string } = {},
): Promise<StoredObject> {
  const {
    resource: { group, plural },
    name,
  } = target
  const result = await withStorageErrors(target, 'get', () => server.store.get(storageKey(target, name, server)))
  if (!result.ok) throw revisionError(result)
  requireRevision(notOlderThan, result.revision)
  if (result.entry === undefined) throw notFound({ group, kind: plural, name })
  return new StoredObject(result.entry.value, result.entry.revision)
}

/**
 * Refuses to answer from a state that is older than the client has seen.
 *
 * @throws {ApiError} `BadRequest` for what is no version, `Timeout` for one that we have not reached.
 */
export function requireRevision(version: string, head: number): void {
  if (version === '' || version === '0') return
  if (parseRequestedVersion(version) === undefined)
    throw badRequest(`invalid resource version ${JSON.stringify(version)}: it must be a whole number`)
  if (Number(version) > head)
    throw revisionError({ ok: false, reason: 'ahead', revision: head }, { requested: Number(version) })
}
