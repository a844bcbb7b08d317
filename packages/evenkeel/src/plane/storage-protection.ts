/**
 * Lets deleted storage objects go once they are not used any more: removes the finalizers that the admission plugin
 * StorageObjectInUseProtection adds.
 *
 *   PersistentVolumeClaim    used by a pod that has a node
 *   PersistentVolume         used while it is bound
 *   VolumeAttributesClass    used by a claim or a volume
 *
 * Pods are not watched: there are many, and deleted claims that are in use are few. Such an object is looked at again after
 * a while, with a doubling delay.
 */
import {
  declareKind,
  isConflict,
  isNotFound,
  objectIn,
  objectsIn,
  textIn,
  type Stored,
  type UnstructuredObject,
} from '#api'
import type { BaseContext, ControllerDeclaration, Predicate } from '#controller'

const claimKind = declareKind<UnstructuredObject>({ group: '', version: 'v1', kind: 'PersistentVolumeClaim' })
const volumeKind = declareKind<UnstructuredObject>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  scope: 'Cluster',
})
const attributesClassKind = declareKind<UnstructuredObject>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  scope: 'Cluster',
  statusSubresource: false,
})
const podKind = declareKind<UnstructuredObject>({ group: '', version: 'v1', kind: 'Pod' })

export function claimProtectionController(): ControllerDeclaration<StorageKind> {
  return protectionController({
    name: 'pvc-protection-controller',
    kind: claimKind,
    finalizer: 'kubernetes.io/pvc-protection',
    async isUsed({ metadata: { name, namespace = '' } }, { client, signal }) {
      const { items } = await client.list(podKind, { namespace, signal, live: true })
      return items.some((pod) => usesClaim(pod, name))
    },
  })
}

/** A pod without a node has not started, and a kubelet does not start one whose claim is being deleted. */
function usesClaim(pod: Stored<UnstructuredObject>, claim: string): boolean {
  const spec = objectIn(pod, 'spec')
  if (textIn(spec, 'nodeName') === '') return false
  return objectsIn(spec, 'volumes').some(
    (volume) =>
      textIn(objectIn(volume, 'persistentVolumeClaim'), 'claimName') === claim ||
      (volume['ephemeral'] !== undefined &&
        `${pod.metadata.name}-${textIn(volume, 'name')}` === claim &&
        !isShutDown(pod)),
  )
}

/** A kubelet is done with it, or it was deleted by force. */
function isShutDown({ metadata }: Stored<UnstructuredObject>): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
}

export function volumeProtectionController(): ControllerDeclaration<StorageKind> {
  return protectionController({
    name: 'pv-protection-controller',
    kind: volumeKind,
    finalizer: 'kubernetes.io/pv-protection',
    isUsed: (volume) => Promise.resolve(textIn(objectIn(volume, 'status'), 'phase') === 'Bound'),
  })
}

export function attributesClassProtectionController(): ControllerDeclaration<StorageKind> {
  return protectionController({
    name: 'volumeattributesclass-protection-controller',
    kind: attributesClassKind,
    finalizer: 'kubernetes.io/vac-protection',
    async isUsed({ metadata: { name } }, { client, signal }) {
      const names = (object: UnstructuredObject): string[] => [
        textIn(objectIn(object, 'spec'), 'volumeAttributesClassName'),
        textIn(objectIn(object, 'status'), 'currentVolumeAttributesClassName'),
        textIn(objectIn(objectIn(object, 'status'), 'modifyVolumeStatus'), 'targetVolumeAttributesClassName'),
      ]
      for (const kind of [claimKind, volumeKind]) {
        const { items } = await client.list(kind, { signal, live: true })
        if (items.some((object) => names(object).includes(name))) return true
      }
      return false
    },
  })
}

type StorageKind = typeof claimKind

interface Protection {
  readonly name: string
  readonly kind: StorageKind
  readonly finalizer: string
  isUsed(object: Stored<UnstructuredObject>, context: BaseContext): Promise<boolean>
}

/** The first delay before an object in use is looked at again, and the longest. */
const [recheckMs, recheckMaxMs] = [250, 30_000]

function protectionController({
  name: controller,
  kind,
  finalizer,
  isUsed,
}: Protection): ControllerDeclaration<StorageKind> {
  // How often an object was found in use. A loss causes an early look, nothing else.
  const looks = new Map<string, number>()
  return {
    name: controller,
    for: kind,
    predicates: [isTerminating(finalizer)],
    async reconcileKey({ name, namespace = '' }, context) {
      const { client, signal } = context
      const key = `${namespace}/${name}`
      const object = await client.find(kind, { name, namespace }, { live: true, signal })
      const { deletionTimestamp, finalizers = [] } = object?.metadata ?? {}
      if (!object || deletionTimestamp === undefined || !finalizers.includes(finalizer)) {
        looks.delete(key)
        return undefined
      }
      if (await isUsed(object, context)) {
        const count = looks.get(key) ?? 0
        looks.set(key, count + 1)
        return { afterMs: Math.min(recheckMs * 2 ** Math.min(count, 20), recheckMaxMs) }
      }
      looks.delete(key)
      await release(object, finalizer, context)
      return undefined
    },
  }
}

async function release(
  object: Stored<UnstructuredObject>,
  finalizer: string,
  { client, signal }: BaseContext,
): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter((one) => one !== finalizer)
  try {
    await client.update({ ...object, metadata: { ...object.metadata, finalizers } }, { signal })
  } catch (error) {
    // After a conflict the newer object comes as an event.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

function isTerminating(finalizer: string): Predicate {
  return (event) => {
    const { metadata } = event.object
    return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer)
  }
}
