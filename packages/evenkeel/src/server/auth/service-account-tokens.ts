/**
 * Service account tokens: issued and authenticated here.
 *
 *   signature, issuer   verified once, cached by the digest of the token
 *   audience, times     checked with every request
 *   account and object  looked up with every request: a deleted one invalidates the token at once
 *
 * An object with the same name and another uid is another object: the token is not bound to it. An object that is being
 * deleted counts as deleted one minute after its deletion time, to allow for clock skew.
 *
 * Invariant: nothing that can change is cached.
 */
import { timingSafeEqual } from 'node:crypto'
import { getOwn, isJsonObject, notFound, parseTime, type JsonObject, type UnstructuredObject } from '#api'
import { randomUuid, type Clock, type Random } from '#base'
import type { User } from '../request-context.ts'
import {
  commonAudiences,
  wrongAudience,
  type RejectedToken,
  type TokenAuthenticator,
  type TokenReviewResult,
} from './bearer-tokens.ts'
import { isSignedBy, parseJwt, type Jwt } from './jwt.ts'
import {
  formatBoundClaims,
  formatSecretClaims,
  readBoundClaims,
  readSecretClaims,
  secretIssuer,
  type BoundClaims,
  type ClaimReference,
  type SecretClaims,
} from './service-account-claims.ts'
import type { ServiceAccountKeys } from './service-account-keys.ts'
import { authenticatedGroup, credentialKey, formatServiceAccount, nodeNameKey, serviceAccountGroups } from './user.ts'

interface ServiceAccountTokensOptions {
  readonly keys: ServiceAccountKeys
  /** The first is written into tokens; all are accepted. */
  readonly issuers: readonly [string, ...string[]]
  /** The audiences of tokens that are requested without any. */
  readonly audiences: readonly string[]
  readonly objects: ServiceAccountGetter
  readonly clock: Clock
  readonly random: Random
}

/** The claims of a token with a verified signature. */
type VerifiedToken = { readonly bound: BoundClaims } | { readonly secret: SecretClaims } | { readonly error: string }

/** The parameters of a new token. */
export type NewServiceAccountToken = Pick<
  BoundClaims,
  'namespace' | 'account' | 'pod' | 'secret' | 'node' | 'audiences'
> & {
  readonly lifeSeconds: number
  readonly warnAfterSeconds?: number
}

/** The policy for TokenRequests. */
export interface TokenRequestPolicy {
  readonly tokens: ServiceAccountTokens
  /** The longest lifetime of a token, whatever is requested; 0 for no limit. */
  readonly maxExpirationSeconds: number
  /** Tokens of Pods with the usual lifetime of an hour live longer, for programs that never reload them. */
  readonly extendExpiration: boolean
}

const verifiedTokensMax = 4096

export class ServiceAccountTokens {
  readonly #options: ServiceAccountTokensOptions
  readonly #signed = new Map<string, VerifiedToken>()

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options
  }

  get keys(): ServiceAccountKeys {
    return this.#options.keys
  }

  get issuer(): string {
    return this.#options.issuers[0]
  }

  get audiences(): readonly string[] {
    return this.#options.audiences
  }

  /** A new token, valid from now on. */
  issue({ lifeSeconds, warnAfterSeconds, ...claims }: NewServiceAccountToken): string {
    const { clock, random, keys } = this.#options
    const now = Math.floor(clock.now() / 1000)
    const times = {
      issuedAt: now,
      notBefore: now,
      expires: now + lifeSeconds,
      ...(warnAfterSeconds !== undefined && { warnAfter: now + warnAfterSeconds }),
    }
    return keys.sign(formatBoundClaims({ ...claims, ...times, id: randomUuid(random) }, this.issuer))
  }

  /** The token for a Secret: deterministic for the same key, and without expiry. */
  issueForSecret(claims: SecretClaims): string {
    return this.#options.keys.sign(formatSecretClaims(claims))
  }

  /** Authenticates tokens that were signed with these keys, here or by another server. */
  get authenticator(): TokenAuthenticator {
    return ({ token, digest, audiences }) => {
      const signed = this.#signed.get(digest) ?? this.#read(token, digest)
      if (signed === undefined) return undefined
      if ('error' in signed) return signed
      const has =
        'bound' in signed && signed.bound.audiences.length > 0 ? signed.bound.audiences : this.#options.audiences
      const common = commonAudiences(audiences, has)
      return common.length === 0 ? wrongAudience(has, audiences) : this.#check(signed, { token, common })
    }
  }

  #check(
    signed: Exclude<VerifiedToken, { error: string }>,
    { token, common }: { token: string; common: readonly string[] },
  ): TokenReviewResult | Promise<TokenReviewResult> {
    const { objects, clock } = this.#options
    const checked =
      'bound' in signed
        ? checkBoundToken(signed.bound, { objects, nowMs: clock.now() })
        : checkSecretToken(signed.secret, { objects, token })
    if (checked instanceof Promise)
      return checked.then((result) => ('error' in result ? result : { user: result, audiences: common }))
    return 'error' in checked ? checked : { user: checked, audiences: common }
  }

  #read(token: string, digest: string): VerifiedToken | undefined {
    const jwt = parseJwt(token)
    if (!jwt || !this.#isOurs(jwt.claims)) return undefined
    const signed = this.#verify(jwt)
    // Only verified tokens are cached; otherwise forged ones could evict them.
    if (!('error' in signed)) this.#remember(digest, signed)
    return signed
  }

  #isOurs({ iss }: JsonObject): boolean {
    return typeof iss === 'string' && (iss === secretIssuer || this.#options.issuers.includes(iss))
  }

  #verify(jwt: Jwt): VerifiedToken {
    const keys = this.#options.keys.find(jwt.keyId)
    if (keys.length === 0) return { error: 'invalid signature, no keys found' }
    if (!keys.some((key) => isSignedBy(jwt, key))) return { error: 'invalid signature' }
    if (jwt.claims['iss'] === secretIssuer) {
      const secret = readSecretClaims(jwt.claims)
      return secret ? { secret } : { error: 'sub claim is invalid' }
    }
    const bound = readBoundClaims(jwt.claims)
    return bound ? { bound } : { error: 'service account token claims could not be validated' }
  }

  #remember(digest: string, signed: VerifiedToken): void {
    const [oldest] = this.#signed.keys()
    if (this.#signed.size >= verifiedTokensMax && oldest !== undefined) this.#signed.delete(oldest)
    this.#signed.set(digest, signed)
  }
}

// Whether the objects that a token is bound to still exist.

/** Looks up the objects of tokens. */
export interface ServiceAccountGetter {
  /** From the informer, without waiting: it is read with every request. */
  serviceAccount(namespace: string, name: string): UnstructuredObject | undefined
  /** The current object, from the store. */
  find(
    plural: 'pods' | 'secrets' | 'nodes' | 'serviceaccounts',
    namespace: string,
    name: string,
  ): Promise<UnstructuredObject | undefined>
}

const leewayMs = 60_000

/** The user of a bound token. */
function checkBoundToken(
  claims: BoundClaims,
  { objects, nowMs }: { objects: ServiceAccountGetter; nowMs: number },
): User | RejectedToken | Promise<User | RejectedToken> {
  if (nowMs - leewayMs > claims.expires * 1000) return { error: 'service account token has expired' }
  if (nowMs + leewayMs < claims.notBefore * 1000) return { error: 'service account token is not valid yet' }
  if (nowMs + leewayMs < claims.issuedAt * 1000) return { error: 'service account token is issued in the future' }
  const { namespace, account } = claims
  const hangsOn = boundObjectOf(claims)
  const seen = objects.serviceAccount(namespace, account.name)
  // The informer may lag behind an account that another server has just created: check the store before a refusal.
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

/** The user of a legacy token from a Secret. */
async function checkSecretToken(
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
