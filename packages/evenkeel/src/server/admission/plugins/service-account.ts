/**
 * ServiceAccount: a new pod runs with an account of its namespace, `default` if it names none. The account must exist. Its
 * pull secrets and a volume with a token are added to the pod.
 *
 * A controller creates the account `default` with each namespace. A pod that is created at once waits for it, at most
 * {@link defaultAccountWaitMs}. Mirror pods are written by a kubelet: they are left as they are and may not use accounts or
 * secrets. Texts are those of kube-apiserver.
 */
import {
  ApiError,
  generateName,
  notFound,
  objectIn,
  objectsIn,
  textIn,
  valueIn,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import { LightAbortController, onAbort, randomInt, sleep, type Clock, type Random } from '#base'
import { draftsIn, ensureDraft, type ObjectDraft } from '@evenkeel/builtins'
import type { Informer, Informers } from '../../informers.ts'
import type { CoreObjects } from '../../registry/core-objects.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionPlugin } from '../admission.ts'
import { ephemeralSecretComplaint, isMirrorPod, mirrorPodComplaint, secretComplaint } from './pod-secrets.ts'

interface ServiceAccountServices {
  readonly informers: Informers
  readonly objects: CoreObjects
  readonly clock: Clock
  readonly random: Random
}

const defaultName = 'default'
const defaultAccountWaitMs = 1500
const tokenVolumePrefix = 'kube-api-access-'
const tokenMountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

export function serviceAccountPlugin(services: ServiceAccountServices): AdmissionPlugin {
  const accounts = new ServiceAccounts(services)
  return {
    name: 'ServiceAccount',
    resources: new Set(['/pods']),
    handles: ({ operation, target: { subresource } }) =>
      operation === 'CREATE'
        ? subresource === undefined
        : operation === 'UPDATE' && subresource?.name === 'ephemeralcontainers',
    async mutate(draft, admitted) {
      if (admitted.operation === 'CREATE') {
        if (!isMirrorPod(draft)) await completePod(draft, { accounts, admitted, random: services.random })
        await checkPod(draft, accounts, admitted)
      }
      return false
    },
    async validate(object, admitted) {
      if (object === undefined) return
      if (admitted.operation === 'CREATE') await checkPod(object, accounts, admitted)
      else await checkEphemeralContainers(object, accounts, admitted)
    },
  }
}

interface CompletePodOptions {
  readonly accounts: ServiceAccounts
  readonly admitted: AdmissionAttributes
  readonly random: Random
}

async function completePod(pod: ObjectDraft, { accounts, admitted, random }: CompletePodOptions): Promise<void> {
  const spec = ensureDraft(pod, 'spec')
  const name = textIn(spec, 'serviceAccountName') || defaultName
  // The deprecated name of the field shows the same value.
  spec['serviceAccountName'] = name
  spec['serviceAccount'] = name
  const account = await accounts.require(name, pod, admitted)
  if (isAutomounted(spec, account)) mountToken(pod, random)
  const pullSecrets = objectsIn(account, 'imagePullSecrets')
  if (objectsIn(spec, 'imagePullSecrets').length === 0 && pullSecrets.length > 0)
    spec['imagePullSecrets'] = pullSecrets.map((secret) => ({ name: textIn(secret, 'name') }))
}

/** The choice of the pod counts first, then that of the account. */
function isAutomounted(spec: JsonObject, account: UnstructuredObject): boolean {
  const choice = valueIn(spec, 'automountServiceAccountToken') ?? valueIn(account, 'automountServiceAccountToken')
  return choice !== false
}

/** Adds the token volume, and a mount to each container that has nothing at its path. */
function mountToken(pod: ObjectDraft, random: Random): void {
  const spec = ensureDraft(pod, 'spec')
  const volumes = objectsIn(spec, 'volumes')
  const present = volumes.map((volume) => textIn(volume, 'name')).find((name) => name.startsWith(tokenVolumePrefix))
  const name = present ?? generateName(tokenVolumePrefix, (below) => randomInt(random, below))
  let isNeeded = false
  for (const container of [...draftsIn(spec, 'initContainers'), ...draftsIn(spec, 'containers')]) {
    const mounts = objectsIn(container, 'volumeMounts')
    if (mounts.some((mount) => textIn(mount, 'mountPath') === tokenMountPath)) continue
    container['volumeMounts'] = [...mounts, { name, readOnly: true, mountPath: tokenMountPath }]
    isNeeded = true
  }
  if (isNeeded && present === undefined) spec['volumes'] = [...volumes, { name, projected: tokenProjection() }]
}

/** The lifetime is a special value: tokens with it may be used longer, with a warning. */
const tokenExpirationSeconds = 3607

function tokenProjection(): JsonObject {
  return {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenExpirationSeconds, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  }
}

/** @throws {ApiError} `Forbidden` */
async function checkPod(
  pod: UnstructuredObject,
  accounts: ServiceAccounts,
  admitted: AdmissionAttributes,
): Promise<void> {
  const account = isMirrorPod(pod) ? undefined : await accounts.of(pod, admitted)
  const complaint = account === undefined ? mirrorPodComplaint(pod) : restricted(account, secretComplaint, pod)
  if (complaint !== undefined) throw admissionForbidden(admitted, pod, complaint)
}

/** @throws {ApiError} `Forbidden`, or 500 for a secret that the account does not list, as kube-apiserver. */
async function checkEphemeralContainers(
  pod: UnstructuredObject,
  accounts: ServiceAccounts,
  admitted: AdmissionAttributes,
): Promise<void> {
  const complaint = restricted(await accounts.of(pod, admitted), ephemeralSecretComplaint, pod)
  if (complaint !== undefined) throw new ApiError('Unknown', complaint)
}

/** Only an account with this annotation limits which secrets its pods use. */
function restricted(
  account: UnstructuredObject,
  complain: (account: UnstructuredObject, pod: UnstructuredObject) => string | undefined,
  pod: UnstructuredObject,
): string | undefined {
  const choice = account.metadata.annotations?.['kubernetes.io/enforce-mountable-secrets'] ?? ''
  return /^(?:1|t|T|true|TRUE|True)$/.test(choice) ? complain(account, pod) : undefined
}

/** Finds accounts, and waits for a `default` that is about to be created. */
class ServiceAccounts {
  readonly #informer: Informer
  readonly #objects: CoreObjects
  readonly #clock: Clock
  /** Pods that wait for the account `default` of their namespace. */
  readonly #waiting = new Set<{ readonly namespace: string; readonly found: LightAbortController }>()

  constructor({ informers, objects, clock }: ServiceAccountServices) {
    this.#informer = informers.forResource('', 'serviceaccounts')
    this.#objects = objects
    this.#clock = clock
    this.#informer.addEventHandler((_, next) => {
      if (next?.metadata.name !== defaultName) return
      for (const { namespace, found } of this.#waiting) if (namespace === next.metadata.namespace) found.abort()
    })
  }

  /** @throws {ApiError} `Forbidden` */
  async of(pod: UnstructuredObject, admitted: AdmissionAttributes): Promise<UnstructuredObject> {
    const name = textIn(objectIn(pod, 'spec'), 'serviceAccountName')
    if (name !== '') return this.require(name, pod, admitted)
    const subject = `${admitted.target.namespace}/${pod.metadata.name ?? ''}`
    throw admissionForbidden(admitted, pod, `no service account specified for pod ${subject}`)
  }

  /** @throws {ApiError} `Forbidden` */
  async require(
    name: string,
    pod: Pick<UnstructuredObject, 'metadata'>,
    admitted: AdmissionAttributes,
  ): Promise<UnstructuredObject> {
    const { namespace } = admitted.target
    const found = this.#informer.get(name, { namespace }) ?? (await this.#find(name, admitted))
    if (found) return found
    const { message } = notFound({ kind: 'serviceaccount', name })
    throw admissionForbidden(admitted, pod, `error looking up service account ${namespace}/${name}: ${message}`)
  }

  /** The informer may be behind, after a write to another server. */
  async #find(
    name: string,
    { target: { namespace }, signal }: AdmissionAttributes,
  ): Promise<UnstructuredObject | undefined> {
    const read = (): Promise<UnstructuredObject | undefined> => this.#objects.find('serviceaccounts', namespace, name)
    const found = await read()
    if (found !== undefined || name !== defaultName) return found
    await this.#waitForDefault(namespace, signal)
    return this.#informer.get(name, { namespace }) ?? (await read())
  }

  async #waitForDefault(namespace: string, signal: AbortSignal | undefined): Promise<void> {
    const waiter = { namespace, found: new LightAbortController() }
    this.#waiting.add(waiter)
    const forget = onAbort(signal, (reason) => {
      waiter.found.abort(reason)
    })
    await sleep(this.#clock, defaultAccountWaitMs, { signal: waiter.found.signal }).catch(() => undefined)
    forget()
    this.#waiting.delete(waiter)
  }
}
