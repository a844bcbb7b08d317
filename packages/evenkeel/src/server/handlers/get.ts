/**
 * GET of one object.
 */
import { badRequest, notFound, parseRequestedVersion } from '#api'
import type { Clock } from '#base'
import type { WireResponse } from '#wire'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyStored } from '../response.ts'
import { revisionError, withStorageErrors, type Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'

export class GetHandler {
  readonly #storage: Storage
  readonly #clock: Clock

  constructor({ storage, clock }: { readonly storage: Storage; readonly clock: Clock }) {
    this.#storage = storage
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    refuseExport(context)
    const choice = negotiateResponse(context, target.resource)
    const stored = await getObject(target, this.#storage, { notOlderThan: context.query.get('resourceVersion') ?? '' })
    return replyStored(context, stored, { resource: target.resource, choice, clock: this.#clock })
  }
}

/** @throws {ApiError} `BadRequest`: a client that wants an export must not take a whole object for one. */
function refuseExport({ query }: RequestContext): void {
  const wanted = query.get('export')
  if (wanted !== null && !['false', '0'].includes(wanted.toLowerCase()))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

/**
 * The object of a target.
 *
 * @throws {ApiError} `NotFound`; `Timeout` for a requested version that the store has not reached.
 */
export async function getObject(
  target: ResourceRef,
  storage: Storage,
  { notOlderThan = '' }: { notOlderThan?: string } = {},
): Promise<StoredObject> {
  const {
    resource: { group, plural },
    name,
  } = target
  const result = await withStorageErrors(target, 'get', () => storage.store.get(storage.keyOf(target, name)))
  if (!result.ok) throw revisionError(result)
  requireRevision(notOlderThan, result.revision)
  if (result.entry === undefined) throw notFound({ group, kind: plural, name })
  return new StoredObject(result.entry.value, result.entry.revision)
}

/**
 * Refuses to answer from a state that is older than the version the client has seen.
 *
 * @throws {ApiError} `BadRequest` for an invalid version, `Timeout` for one that the store has not reached.
 */
export function requireRevision(version: string, head: number): void {
  if (version === '' || version === '0') return
  if (parseRequestedVersion(version) === undefined)
    throw badRequest(`invalid resource version ${JSON.stringify(version)}: it must be a whole number`)
  if (Number(version) > head)
    throw revisionError({ ok: false, reason: 'ahead', revision: head }, { requested: Number(version) })
}
