/**
 * Whether what a token of a service account hangs on is still there.
 *
 * An object of the same name but another uid is another object: the token was not made for it. Something that is being
 * deleted counts as gone a minute after its time, as long as clocks may differ.
 */
import { timingSafeEqual } from 'node:crypto'
import { getOwn, isJsonObject, notFound, parseTime } from '#api'
import type { UnstructuredObject } from '#api'
import type { User } from '../../call.ts'
import type { RejectedToken } from '../bearer/token.ts'
import {
  serviceAccountGroups,
  authenticatedGroup,
  credentialKey,
  formatServiceAccount,
  nodeNameKey,
} from '../person.ts'
import type { BoundClaims, ClaimReference, SecretClaims } from './account-claims.ts'

/** Where objects are looked up. */
export interface ServiceAccountGetter {
  /** As it was a moment ago, at once: it is asked with every request. */
  serviceAccount(namespace: string, name: string): UnstructuredObject | undefined
  /** As it is now. */
  find(
    plural: 'pods' | 'secrets' | 'nodes' | 'serviceaccounts',
    namespace: string,
    name: string,
  ): Promise<UnstructuredObject | undefined>
}

const leewayMs = 60_000

/** The user of a bound token. */
export function checkBoundToken(
  claims: BoundClaims,
  { objects, nowMs }: { objects: ServiceAccountGetter; nowMs: number },
): User | RejectedToken | Promise<User | RejectedToken> {
  if (nowMs - leewayMs > claims.expires * 1000) return { error: 'service account token has expired' }
  if (nowMs + leewayMs < claims.notBefore * 1000) return { error: 'service account token is not valid yet' }
  if (nowMs + leewayMs < claims.issuedAt * 1000) return { error: 'service account token is issued in the future' }
  const { namespace, account } = claims
  const hangsOn = boundObjectOf(claims)
  const seen = objects.serviceAccount(namespace, account.name)
  // An account that another server has just made is not known here yet: then nobody is turned away without looking.
  if (seen?.metadata.uid !== account.uid || hangsOn) return recheckInStore(claims, { objects, nowMs, hangsOn })
  return serviceAccountProblem(seen, claims, nowMs) ?? boundUser(claims)
}

async function recheckInStore(
  claims: BoundClaims,
  { objects, nowMs, hangsOn }: { objects: ServiceAccountGetter; nowMs: number; hangsOn: BoundObject | undefined },
): Promise<User | RejectedToken> {
  const problem = serviceAccountProblem(await findServiceAccount(claims, objects), claims, nowMs)
  if (problem) return problem
  const gone =
    hangsOn &&
    boundObjectProblem(await objects.find(hangsOn.plural, hangsOn.namespace, hangsOn.object.name), hangsOn, nowMs)
  return gone ?? boundUser(claims)
}

async function findServiceAccount(
  { namespace, account: { name, uid } }: Pick<BoundClaims, 'namespace' | 'account'>,
  objects: ServiceAccountGetter,
): Promise<UnstructuredObject | undefined> {
  const seen = objects.serviceAccount(namespace, name)
  return seen?.metadata.uid === uid ? seen : objects.find('serviceaccounts', namespace, name)
}

/** The user of a token that lies in a Secret. */
export async function checkSecretToken(
  { namespace, account, secretName }: SecretClaims,
  { objects, token }: { objects: ServiceAccountGetter; token: string },
): Promise<User | RejectedToken> {
  const secret = await objects.find('secrets', namespace, secretName)
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return { error: 'Token has been invalidated' }
  if (!holds(secret, token)) return { error: "Token does not match server's copy" }
  const problem = serviceAccountProblem(
    await findServiceAccount({ namespace, account }, objects),
    { namespace, account },
    Number.POSITIVE_INFINITY,
  )
  if (problem) return problem
  if ((getOwn(secret.metadata.labels ?? {}, 'kubernetes.io/legacy-token-invalid-since') ?? '') !== '')
    return {
      error: `the token in secret ${namespace}/${secretName} for service account ${namespace}/${account.name} has been marked invalid`,
    }
  return {
    name: formatServiceAccount({ namespace, name: account.name }),
    uid: account.uid,
    groups: [...serviceAccountGroups(namespace), authenticatedGroup],
  }
}

interface BoundObject {
  readonly plural: 'pods' | 'secrets' | 'nodes'
  readonly kind: string
  readonly namespace: string
  readonly object: ClaimReference
}

function boundObjectOf({ namespace, pod, secret, node }: BoundClaims): BoundObject | undefined {
  if (secret) return { plural: 'secrets', kind: 'secret', namespace, object: secret }
  if (pod) return { plural: 'pods', kind: 'pod', namespace, object: pod }
  return node && { plural: 'nodes', kind: 'node', namespace: '', object: node }
}

function serviceAccountProblem(
  found: UnstructuredObject | undefined,
  { namespace, account: { name, uid } }: Pick<BoundClaims, 'namespace' | 'account'>,
  nowMs: number,
): RejectedToken | undefined {
  if (!found) return { error: notFound({ kind: 'serviceaccounts', name }).message }
  if (found.metadata.uid !== uid)
    return { error: `service account UID (${found.metadata.uid ?? ''}) does not match claim (${uid})` }
  return isGone(found, nowMs) ? { error: `service account ${namespace}/${name} has been deleted` } : undefined
}

function boundObjectProblem(
  found: UnstructuredObject | undefined,
  { kind, object }: BoundObject,
  nowMs: number,
): RejectedToken | undefined {
  if (!found || isGone(found, nowMs)) return { error: 'service account token has been invalidated' }
  if (found.metadata.uid === object.uid) return undefined
  return {
    error: `${kind} UID (${found.metadata.uid ?? ''}) does not match service account ${kind} ref claim (${object.uid})`,
  }
}

function isGone({ metadata: { deletionTimestamp } }: UnstructuredObject, nowMs: number): boolean {
  return deletionTimestamp !== undefined && (parseTime(deletionTimestamp) ?? 0) < nowMs - leewayMs
}

function holds(secret: UnstructuredObject, token: string): boolean {
  const data = (secret as { readonly data?: unknown }).data
  const kept = isJsonObject(data) ? getOwn(data, 'token') : undefined
  const [one, other] = [Buffer.from(typeof kept === 'string' ? kept : '', 'base64'), Buffer.from(token)]
  return one.byteLength === other.byteLength && timingSafeEqual(one, other)
}

function boundUser({ namespace, account, pod, node, id }: BoundClaims): User {
  const extra = {
    ...(id !== '' && { [credentialKey]: [`JTI=${id}`] }),
    ...(pod && {
      'authentication.kubernetes.io/pod-name': [pod.name],
      'authentication.kubernetes.io/pod-uid': [pod.uid],
    }),
    ...(node && {
      [nodeNameKey]: [node.name],
      ...(node.uid !== '' && { 'authentication.kubernetes.io/node-uid': [node.uid] }),
    }),
  }
  return {
    name: formatServiceAccount({ namespace, name: account.name }),
    uid: account.uid,
    groups: [...serviceAccountGroups(namespace), authenticatedGroup],
    extra,
  }
}
