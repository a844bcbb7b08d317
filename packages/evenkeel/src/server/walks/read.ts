/**
 * The walk of GET on one object.
 */
import { notFound, parseRequestedVersion } from '#api'
import type { WireResponse } from '#wire'
import { badRequest } from '#api'
import type { Call, Rooms, Target } from '../call.ts'
import { guarded, keyOfTarget, refusal } from '../persist.ts'
import { chooseForm, replyStored } from '../reply.ts'
import { StoredObject } from '../storage/bytes.ts'

export async function read(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const choice = chooseForm(call, target.resource)
  const stored = await readObject(target, rooms, { notOlderThan: call.query.get('resourceVersion') ?? '' })
  return replyStored(call, stored, { resource: target.resource, choice, rooms })
}

/**
 * The object a target names.
 *
 * @throws {ApiError} `NotFound`; `Timeout`, when a version is asked for that we have not reached.
 */
export async function readObject(
  target: Target,
  rooms: Rooms,
  { notOlderThan = '' }: { notOlderThan?: string } = {},
): Promise<StoredObject> {
  const {
    resource: { group, plural },
    name,
  } = target
  const result = await guarded(target, 'get', () => rooms.store.get(keyOfTarget(target, name, rooms)))
  if (!result.ok) throw refusal(result)
  requireReached(notOlderThan, result.revision)
  if (result.entry === undefined) throw notFound({ group, kind: plural, name })
  return new StoredObject(result.entry.value, result.entry.revision)
}

/**
 * Refuses to answer from a state that is older than the client has seen.
 *
 * @throws {ApiError} `BadRequest` for what is no version, `Timeout` for one that we have not reached.
 */
export function requireReached(version: string, head: number): void {
  if (version === '' || version === '0') return
  if (parseRequestedVersion(version) === undefined)
    throw badRequest(`invalid resource version ${JSON.stringify(version)}: it must be a whole number`)
  if (Number(version) > head)
    throw refusal({ ok: false, reason: 'ahead', revision: head }, { requested: Number(version) })
}
