/**
 * One object that cannot be served: whatever is made for it is refused, for good. The others must not notice.
 */
import { isJsonObject, parseApiVersion } from '#api'
import type { UnstructuredObject } from '#api'
import type { ObjectReference } from '../../faults/deviation.ts'
import type { Interaction } from '../../life/effect.ts'
import { bodyOf } from '../../rules/request-body.ts'
import { asNew, poisonLabel } from '../deeds.ts'
import type { World } from '../world.ts'
import type { Fault } from './trouble.ts'

/** Part of the name of the one, and of everything that is made for it. */
export const poisonName = 'cannot-be-served'

export async function poisonFault(world: World, place: ObjectReference): Promise<Fault | undefined> {
  const direct = world.directClient('somebody')
  const object = direct.find(place)
  if (!object) return undefined
  const { metadata, ...rest } = asNew(object)
  const name = `${place.name}-${poisonName}`
  const made = {
    ...rest,
    metadata: { ...metadata, name, annotations: { ...metadata.annotations, [poisonLabel]: 'yes' } },
  } as UnstructuredObject
  await world.actAs('somebody', `creates ${place.kind} ${name}, for which everything is refused`, () =>
    direct.create(made, direct.collectionPathOf(object)),
  )
  return {
    endsAt: 'healing',
    decide: (point) =>
      isFor(point, { ...place, name, uid: direct.find({ ...place, name })?.metadata.uid ?? name })
        ? { type: 'refuse', status: 422, reason: 'Invalid' }
        : undefined,
    async end() {
      const now = direct.find({ ...place, name })
      if (now) await world.actAs('somebody', `deletes ${place.kind} ${name}`, () => direct.delete(now))
    },
  }
}

/** Whether something is made for the one; what is said about the object itself is taken. */
function isFor(
  { type, requestInfo, call, request, process: life }: Parameters<NonNullable<Fault['decide']>>[0],
  { apiVersion = '', namespace, name, uid }: ObjectReference & { uid: string },
): boolean {
  if (type !== 'effect') return false
  if (call) return JSON.stringify(call.parameters).includes(name) || JSON.stringify(call.parameters).includes(uid)
  // A child may have the name of its parent; what it cannot have as well is its place.
  if (
    !requestInfo ||
    (requestInfo.name === name &&
      requestInfo.namespace === namespace &&
      requestInfo.group === parseApiVersion(apiVersion).group)
  )
    return false
  const [, id = ''] = /reconcile\/(\S+)/.exec(request?.headers['user-agent'] ?? '') ?? []
  return (
    requestInfo.name.includes(poisonName) ||
    ownersIn(request).includes(uid) ||
    (life.manager?.ledger.find(id)?.key ?? '').includes(poisonName)
  )
}

function ownersIn(request: Interaction['request']): string {
  const body = request && bodyOf(request)
  return isJsonObject(body) && isJsonObject(body['metadata'])
    ? JSON.stringify([body['metadata']['name'], body['metadata']['generateName'], body['metadata']['ownerReferences']])
    : ''
}
