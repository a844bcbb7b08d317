/**
 * The checks of the Pod Security level `restricted`: what a pod has to give up, beside the level `baseline`. Reasons and
 * details are those of kube-apiserver.
 */
import { numberIn, objectIn, objectsIn, optionalObjectIn, textIn, textsIn, valueIn, type JsonObject } from '#api'
import {
  badSetters,
  containersOf,
  contextOf,
  isForbiddenSeccomp,
  named,
  plural,
  quoted,
  seccompProfile as seccompBaseline,
  seccompType,
  sorted,
} from './pod-security-baseline.ts'
import type { PodCheck } from './pod-security-checks.ts'

export const allowPrivilegeEscalation: PodCheck = (pod) => {
  const bad = containersOf(pod).filter((one) => valueIn(contextOf(one), 'allowPrivilegeEscalation') !== false)
  return bad.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${named(bad)} must set securityContext.allowPrivilegeEscalation=false`,
      }
}

export const capabilities: PodCheck = (pod) => {
  const listed = (container: JsonObject, list: string): readonly string[] =>
    textsIn(objectIn(contextOf(container), 'capabilities'), list)
  const forbidden = (container: JsonObject): string[] =>
    listed(container, 'add').filter((name) => name !== 'NET_BIND_SERVICE')
  const keeping = containersOf(pod).filter((one) => !listed(one, 'drop').includes('ALL'))
  const adding = containersOf(pod).filter((one) => forbidden(one).length > 0)
  const details = [
    ...(keeping.length > 0 ? [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [
          `${named(adding)} must not include ${quoted(sorted(adding.flatMap(forbidden)))} in securityContext.capabilities.add`,
        ]
      : []),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const allowedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

const forbiddenVolumes = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
]

export const volumeTypes: PodCheck = ({ spec }) => {
  const has = (volume: JsonObject) => (type: string) => optionalObjectIn(volume, type) !== undefined
  const bad = objectsIn(spec, 'volumes').filter((volume) => !allowedVolumes.some(has(volume)))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => forbiddenVolumes.find(has(volume)) ?? 'unknown'))
  const names = quoted(bad.map((volume) => textIn(volume, 'name')))
  const who = `${plural(bad.length, 'volume')} ${names} ${plural(bad.length, 'uses', 'use')}`
  return {
    reason: 'restricted volume types',
    detail: `${who} ${plural(types.length, 'restricted volume type')} ${quoted(types)}`,
  }
}

export const runAsNonRoot: PodCheck = (pod) => {
  const reason = 'runAsNonRoot != true'
  const setters = badSetters(pod, (context) => valueIn(context, 'runAsNonRoot') === false)
  if (setters.length > 0)
    return { reason, detail: `${setters.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  if (valueIn(contextOf(pod.spec), 'runAsNonRoot') === true) return undefined
  const silent = containersOf(pod).filter((one) => typeof valueIn(contextOf(one), 'runAsNonRoot') !== 'boolean')
  return silent.length === 0
    ? undefined
    : { reason, detail: `pod or ${named(silent)} must set securityContext.runAsNonRoot=true` }
}

export const runAsUser: PodCheck = (pod) => {
  const setters = badSetters(pod, (context) => numberIn(context, 'runAsUser') === 0)
  return setters.length === 0
    ? undefined
    : { reason: 'runAsUser=0', detail: `${setters.join(' and ')} must not set runAsUser=0` }
}

export const seccompProfile: PodCheck = (pod) => {
  const explicit = seccompBaseline(pod)
  if (explicit !== undefined) return explicit
  const ofPod = seccompType(contextOf(pod.spec))
  if (ofPod !== undefined && !isForbiddenSeccomp(ofPod)) return undefined
  const silent = containersOf(pod).filter((one) => seccompType(contextOf(one)) === undefined)
  return silent.length === 0
    ? undefined
    : {
        reason: 'seccompProfile',
        detail: `pod or ${named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      }
}
