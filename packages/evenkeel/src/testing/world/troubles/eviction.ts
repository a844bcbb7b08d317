/**
 * A namespace is being deleted: everything in it goes, and nothing new can be made there until nothing is left.
 */
import type { Interaction } from '../../life/effect.ts'
import type { World } from '../world.ts'
import type { Fault } from './trouble.ts'

export async function terminateNamespace(world: World, namespace: string): Promise<Fault> {
  const direct = world.directClient('somebody')
  await world.actAs('somebody', `deletes the namespace ${namespace}`, async () => {
    for (const object of [...world.history.objects.values()]) {
      if (object.metadata.namespace === namespace && object.metadata.deletionTimestamp === undefined)
        await direct.delete(object, { propagationPolicy: 'Background' })
    }
  })
  // Nothing new can be made until nothing of it is left: whoever cannot go without making something never goes.
  const isOver = (): boolean =>
    ![...world.history.objects.values()].some(
      ({ metadata, kind }) =>
        metadata.namespace === namespace && metadata.deletionTimestamp !== undefined && kind !== 'Event',
    )
  return {
    endsAt: 'itself',
    decide: (point) =>
      createsObject(point, world, namespace) && !isOver()
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

function createsObject(
  { requestInfo, request }: Pick<Interaction, 'requestInfo' | 'request'>,
  { history }: World,
  namespace: string,
): boolean {
  if (
    !requestInfo?.isWrite ||
    requestInfo.namespace !== namespace ||
    requestInfo.subresource !== '' ||
    requestInfo.verb === 'delete' ||
    requestInfo.verb === 'deletecollection'
  )
    return false
  if (requestInfo.verb === 'create') return true
  // Of all patches only an apply makes what is not there.
  return (
    request?.headers['content-type']?.startsWith('application/apply-patch') === true &&
    !history.objects.has(
      `/default/${requestInfo.group === '' ? 'core' : requestInfo.group}/${requestInfo.resource}/${namespace}/${requestInfo.name}`,
    )
  )
}
