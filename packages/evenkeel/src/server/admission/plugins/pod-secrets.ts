/**
 * Which Secrets a pod uses, and whether its service account lists them.
 *
 * An account with the annotation `kubernetes.io/enforce-mountable-secrets` allows only the secrets that it lists. Mirror
 * pods may use none.
 */
import { objectIn, objectsIn, optionalObjectIn, textIn, type JsonObject, type UnstructuredObject } from '#api'

export function isMirrorPod({ metadata: { annotations = {} } }: Pick<UnstructuredObject, 'metadata'>): boolean {
  return Object.hasOwn(annotations, 'kubernetes.io/config.mirror')
}

/** Why a mirror pod is refused. */
export function mirrorPodComplaint(pod: UnstructuredObject): string | undefined {
  const spec = objectIn(pod, 'spec')
  if (textIn(spec, 'serviceAccountName') !== '') return 'a mirror pod may not reference service accounts'
  if (secretsOf(spec).some((name) => name !== '')) return 'a mirror pod may not reference secrets'
  const projectsToken = objectsIn(spec, 'volumes').some((volume) =>
    projections(volume).some((source) => optionalObjectIn(source, 'serviceAccountToken') !== undefined),
  )
  return projectsToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined
}

/** Why a pod is refused whose account limits its secrets. */
export function secretComplaint(account: UnstructuredObject, pod: UnstructuredObject): string | undefined {
  const { name: owner = '' } = account.metadata
  const spec = objectIn(pod, 'spec')
  const allowed = namesIn(account, 'secrets')
  const tail = `is not allowed because service account ${owner} does not reference that secret`
  for (const volume of objectsIn(spec, 'volumes')) {
    const source = optionalObjectIn(volume, 'secret')
    const name = textIn(source, 'secretName')
    if (source && !allowed.has(name)) return `volume with secret.secretName="${name}" ${tail}`
  }
  const used = [
    ...usesOf(objectsIn(spec, 'initContainers'), 'init container'),
    ...usesOf(objectsIn(spec, 'containers'), 'container'),
  ]
  const forbidden = used.find(({ secret }) => !allowed.has(secret))
  if (forbidden) return `${forbidden.text} ${tail}`
  const pullSecrets = namesIn(account, 'imagePullSecrets')
  const pulled = objectsIn(spec, 'imagePullSecrets').map((secret) => textIn(secret, 'name'))
  const index = pulled.findIndex((name) => !pullSecrets.has(name))
  if (index < 0) return undefined
  return `imagePullSecrets[${index}].name="${pulled[index] ?? ''}" is not allowed because service account ${owner} does not reference that imagePullSecret`
}

/** The same for ephemeral containers, which are added later. */
export function ephemeralSecretComplaint(account: UnstructuredObject, pod: UnstructuredObject): string | undefined {
  const allowed = namesIn(account, 'secrets')
  const containers = objectsIn(objectIn(pod, 'spec'), 'ephemeralContainers')
  const forbidden = usesOf(containers, 'ephemeral container').find(({ secret }) => !allowed.has(secret))
  return (
    forbidden &&
    `${forbidden.text} is not allowed because service account ${account.metadata.name ?? ''} does not reference that secret`
  )
}

function namesIn(account: UnstructuredObject, key: string): ReadonlySet<string> {
  return new Set(objectsIn(account, key).map((reference) => textIn(reference, 'name')))
}

interface SecretUse {
  readonly secret: string
  /** `container a with envVar B referencing secret.secretName="c"` */
  readonly text: string
}

/** The secrets in the environment of containers. */
function usesOf(containers: readonly JsonObject[], word: string): SecretUse[] {
  return containers.flatMap((container) => {
    const who = `${word} ${textIn(container, 'name')}`
    const uses: SecretUse[] = []
    for (const variable of objectsIn(container, 'env')) {
      const reference = optionalObjectIn(objectIn(variable, 'valueFrom'), 'secretKeyRef')
      const secret = textIn(reference, 'name')
      const text = `${who} with envVar ${textIn(variable, 'name')} referencing secret.secretName="${secret}"`
      if (reference) uses.push({ secret, text })
    }
    for (const source of objectsIn(container, 'envFrom')) {
      const reference = optionalObjectIn(source, 'secretRef')
      const secret = textIn(reference, 'name')
      if (reference) uses.push({ secret, text: `${who} with envFrom referencing secret.secretName="${secret}"` })
    }
    return uses
  })
}

const containerLists = ['initContainers', 'containers', 'ephemeralContainers']

/** All secrets that a pod names directly. */
function secretsOf(spec: JsonObject): string[] {
  return [
    ...objectsIn(spec, 'imagePullSecrets').map((secret) => textIn(secret, 'name')),
    ...containerLists.flatMap((list) => usesOf(objectsIn(spec, list), '').map(({ secret }) => secret)),
    ...objectsIn(spec, 'volumes').flatMap(volumeSecrets),
  ]
}

const volumesWithReference = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos']

function volumeSecrets(volume: JsonObject): string[] {
  return [
    textIn(objectIn(volume, 'azureFile'), 'secretName'),
    textIn(objectIn(volume, 'secret'), 'secretName'),
    textIn(objectIn(objectIn(volume, 'csi'), 'nodePublishSecretRef'), 'name'),
    ...volumesWithReference.map((type) => textIn(objectIn(objectIn(volume, type), 'secretRef'), 'name')),
    ...projections(volume).map((source) => textIn(objectIn(source, 'secret'), 'name')),
  ]
}

function projections(volume: JsonObject): readonly JsonObject[] {
  return objectsIn(objectIn(volume, 'projected'), 'sources')
}
