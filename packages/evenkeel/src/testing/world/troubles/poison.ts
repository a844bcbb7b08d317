/**
 * One object that cannot be served: whatever is made for it is refused, for good. The others must not notice.
 */
import { isJsonObject, parseApiVersion } from '#api'
import type { UnstructuredObject } from '#api'
import type { ObjectPlace } from '../../faults/deviation.ts'
import type { Point } from '../../life/effect.ts'
import { bodyOf } from '../../rules/request-body.ts'
import { asNew, poisonLabel } from '../deeds.ts'
import type { World } from '../world.ts'
import type { Trouble } from './trouble.ts'

/** Part of the name of the one, and of everything that is made for it. */
export const poisonName = 'cannot-be-served'

export async function poison(world: World, place: ObjectPlace): Promise<Trouble | undefined> {
  const direct = world.direct('somebody')
  const object = direct.find(place)
  if (!object) return undefined
  const { metadata, ...rest } = asNew(object)
  const name = `${place.name}-${poisonName}`
  const made = {
    ...rest,
    metadata: { ...metadata, name, annotations: { ...metadata.annotations, [poisonLabel]: 'yes' } },
  } as UnstructuredObject
  await world.as('somebody', `creates ${place.kind} ${name}, for which everything is refused`, () =>
    direct.create(made, direct.besideOf(object)),
  )
  return {
    lasts: 'healing',
    fate: (point) =>
      isFor(point, { ...place, name, uid: direct.find({ ...place, name })?.metadata.uid ?? name })
        ? { type: 'refuse', status: 422, reason: 'Invalid' }
        : undefined,
    async end() {
      const now = direct.find({ ...place, name })
      if (now) await world.as('somebody', `deletes ${place.kind} ${name}`, () => direct.delete(now))
    },
  }
}

/** Whether something is made for the one; what is said about the object itself is taken. */
function isFor(
  { type, asked, call, request, life }: Parameters<NonNullable<Trouble['fate']>>[0],
  { apiVersion = '', namespace, name, uid }: ObjectPlace & { uid: string },
): boolean {
  if (type !== 'effect') return false
  if (call) return JSON.stringify(call.parameters).includes(name) || JSON.stringify(call.parameters).includes(uid)
  // A child may have the name of its parent; what it cannot have as well is its place.
  if (
    !asked ||
    (asked.name === name && asked.namespace === namespace && asked.group === parseApiVersion(apiVersion).group)
  )
    return false
  const [, id = ''] = /reconcile\/(\S+)/.exec(request?.headers['user-agent'] ?? '') ?? []
  return (
    asked.name.includes(poisonName) ||
    ownersIn(request).includes(uid) ||
    (life.manager?.ledger.find(id)?.key ?? '').includes(poisonName)
  )
}

function ownersIn(request: Point['request']): string {
  const body = request && bodyOf(request)
  return isJsonObject(body) && isJsonObject(body['metadata'])
    ? JSON.stringify([body['metadata']['name'], body['metadata']['generateName'], body['metadata']['ownerReferences']])
    : ''
}
