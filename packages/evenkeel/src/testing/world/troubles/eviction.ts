/**
 * A namespace is being deleted: everything in it goes, and nothing new can be made there until nothing is left.
 */
import type { Point } from '../../life/effect.ts'
import type { World } from '../world.ts'
import type { Trouble } from './trouble.ts'

export async function evict(world: World, namespace: string): Promise<Trouble> {
  const direct = world.direct('somebody')
  await world.as('somebody', `deletes the namespace ${namespace}`, async () => {
    for (const object of [...world.chronicle.objects.values()]) {
      if (object.metadata.namespace === namespace && object.metadata.deletionTimestamp === undefined)
        await direct.delete(object, { propagationPolicy: 'Background' })
    }
  })
  // Nothing new can be made until nothing of it is left: whoever cannot go without making something never goes.
  const isOver = (): boolean =>
    ![...world.chronicle.objects.values()].some(
      ({ metadata, kind }) =>
        metadata.namespace === namespace && metadata.deletionTimestamp !== undefined && kind !== 'Event',
    )
  return {
    lasts: 'itself',
    fate: (point) =>
      makesNew(point, world, namespace) && !isOver()
        ? {
            type: 'refuse',
            status: 403,
            reason: 'Forbidden',
            cause: 'NamespaceTerminating',
            message: `${point.about} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
          }
        : undefined,
  }
}

function makesNew(
  { asked, request }: Pick<Point, 'asked' | 'request'>,
  { chronicle }: World,
  namespace: string,
): boolean {
  if (
    !asked?.isWrite ||
    asked.namespace !== namespace ||
    asked.subresource !== '' ||
    asked.verb === 'delete' ||
    asked.verb === 'deletecollection'
  )
    return false
  if (asked.verb === 'create') return true
  // Of all patches only an apply makes what is not there.
  return (
    request?.headers['content-type']?.startsWith('application/apply-patch') === true &&
    !chronicle.objects.has(
      `/default/${asked.group === '' ? 'core' : asked.group}/${asked.resource}/${namespace}/${asked.name}`,
    )
  )
}
