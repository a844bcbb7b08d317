/**
 * The claims of service account tokens, under the names that Kubernetes uses.
 *
 * There are two forms. A bound token has the name and uid of its service account, expires, and may be bound to another
 * object: it is invalid once that object is deleted. A legacy token is stored in a Secret, has few claims, and is valid
 * until the Secret is deleted.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '#api'
import { formatServiceAccount, parseServiceAccount, type ServiceAccountName } from './user.ts'

/** An object by name and uid. */
export interface ClaimReference {
  readonly name: string
  readonly uid: string
}

export interface BoundClaims {
  readonly namespace: string
  readonly account: ClaimReference
  readonly pod?: ClaimReference
  readonly secret?: ClaimReference
  /** For information only: the node of the Pod. */
  readonly node?: ClaimReference
  readonly audiences: readonly string[]
  /** Seconds since 1970, as are all times here. */
  readonly issuedAt: number
  readonly notBefore: number
  readonly expires: number
  readonly id: string
  /** The time after which the client should have requested a new token. */
  readonly warnAfter?: number
}

export interface SecretClaims {
  readonly namespace: string
  readonly account: ClaimReference
  readonly secretName: string
}

export const secretIssuer = 'kubernetes/serviceaccount'

export function formatBoundClaims(
  { namespace, account, pod, secret, node, audiences, issuedAt, notBefore, expires, id, warnAfter }: BoundClaims,
  issuer: string,
): JsonObject {
  const objects = {
    ...(pod && { pod: formatReference(pod) }),
    ...(secret && { secret: formatReference(secret) }),
    ...(node && { node: formatReference(node) }),
  }
  return {
    aud: [...audiences],
    exp: expires,
    iat: issuedAt,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...objects,
      serviceaccount: formatReference(account),
      ...(warnAfter !== undefined && { warnafter: warnAfter }),
    },
    nbf: notBefore,
    sub: formatServiceAccount({ namespace, name: account.name }),
  }
}

/** The claims of a bound token with a verified signature; undefined for another form. */
export function readBoundClaims(claims: JsonObject): BoundClaims | undefined {
  const about = claims['kubernetes.io']
  const { aud, exp, iat, nbf, jti } = claims
  if (!isJsonObject(about) || typeof about['namespace'] !== 'string' || typeof exp !== 'number') return undefined
  const account = readReference(about['serviceaccount'])
  const warnAfter = about['warnafter']
  const [pod, secret, node] = [
    readReference(about['pod']),
    readReference(about['secret']),
    readReference(about['node']),
  ]
  if (!account) return undefined
  return {
    namespace: about['namespace'],
    account,
    ...(pod && { pod }),
    ...(secret && { secret }),
    ...(node && { node }),
    audiences: audiencesOf(aud),
    expires: exp,
    issuedAt: numberOf(iat),
    notBefore: numberOf(nbf),
    id: typeof jti === 'string' ? jti : '',
    ...(typeof warnAfter === 'number' && { warnAfter }),
  }
}

const claimNames = {
  account: 'kubernetes.io/serviceaccount/service-account.name',
  accountUid: 'kubernetes.io/serviceaccount/service-account.uid',
  secret: 'kubernetes.io/serviceaccount/secret.name',
  namespace: 'kubernetes.io/serviceaccount/namespace',
} as const

export function formatSecretClaims({ namespace, account, secretName }: SecretClaims): JsonObject {
  return {
    iss: secretIssuer,
    [claimNames.namespace]: namespace,
    [claimNames.secret]: secretName,
    [claimNames.account]: account.name,
    [claimNames.accountUid]: account.uid,
    sub: formatServiceAccount({ namespace, name: account.name }),
  }
}

/** The claims of a legacy token with a verified signature. */
export function readSecretClaims(claims: JsonObject): SecretClaims | undefined {
  const [namespace, secretName, name, uid] = [
    claimNames.namespace,
    claimNames.secret,
    claimNames.account,
    claimNames.accountUid,
  ].map((key) => claims[key])
  const subject: ServiceAccountName | undefined = parseServiceAccount(
    typeof claims['sub'] === 'string' ? claims['sub'] : '',
  )
  if (
    typeof namespace !== 'string' ||
    typeof secretName !== 'string' ||
    typeof name !== 'string' ||
    typeof uid !== 'string'
  )
    return undefined
  if (subject?.namespace !== namespace || subject.name !== name || secretName === '' || uid === '') return undefined
  return { namespace, account: { name, uid }, secretName }
}

/** A list, or a single audience. */
export function audiencesOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

function readReference(value: JsonValue | undefined): ClaimReference | undefined {
  if (!isJsonObject(value)) return undefined
  const { name, uid = '' } = value
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined
}

/** Empty values are omitted. */
function formatReference({ name, uid }: ClaimReference): JsonObject {
  return uid === '' ? { name } : { name, uid }
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
