/**
 * OpenID Connect: tokens of an issuer, the mapping of their claims to a user, and the keys of the issuer.
 *
 * Cheap checks come first (issuer, audience, expiry), so that only a plausible token makes the server fetch keys. No
 * claim counts before the signature is verified.
 *
 * Invariants: an issuer cannot produce a user of this server. Names that begin with `system:` are reserved; a token for
 * such a user is refused, and such groups are dropped. At most one fetch of keys is in flight, and one starts at most
 * every ten seconds, so tokens with invented keys do not load the issuer. Fetched keys stay valid while the issuer is
 * unreachable.
 */
import {
  getOwn,
  isJsonObject,
  loadClaimsEngine,
  setOwn,
  type ClaimsExpression,
  type JsonObject,
  type JsonValue,
} from '#api'
import type { Clock, Logger } from '#base'
import type { User } from '../request-context.ts'
import type { OidcClaimOrExpression, OidcIssuer, OidcValidationRule } from './authentication-options.ts'
import {
  commonAudiences,
  TokenCache,
  type RejectedToken,
  type TokenAuthenticator,
  type TokenReviewRequest,
  type TokenReviewResult,
} from './bearer-tokens.ts'
import { HttpsJsonClient, httpsUrl, type HttpsJsonOptions } from '../webhooks/https-json-client.ts'
import { algorithmNames, isSignedBy, parseJwt, readKeySet, type Jwt, type PublicKey } from './jwt.ts'
import { audiencesOf } from './service-account-claims.ts'
import { userInfo } from './user.ts'

interface OidcContext extends HttpsJsonOptions {
  readonly clock: Clock
  readonly log: Logger
  /** The audience of tokens for this server. */
  readonly audiences: readonly string[]
}

/** How long a verified token is cached; keys may be withdrawn. */
const tokenCacheMs = 10_000
const notBeforeLeewayMs = 300_000

/** @throws {RangeError} for an invalid configuration of the issuer. */
export async function oidcTokens(issuer: OidcIssuer, context: OidcContext): Promise<TokenAuthenticator> {
  const { clock, audiences: own } = context
  const algorithms = issuer.algorithms ?? algorithmNames
  const unknown = algorithms.find((name) => !algorithmNames.includes(name))
  if (unknown !== undefined)
    throw new RangeError(`tokens are signed with one of ${algorithmNames.join(', ')}, got ${JSON.stringify(unknown)}`)
  const [keys, readers] = [new IssuerKeys(issuer, context), await claimReaders(issuer)]
  const remembered = new TokenCache(clock)
  const verify = async (jwt: Jwt, question: TokenReviewRequest): Promise<TokenReviewResult | undefined> => {
    const problem = algorithms.includes(jwt.algorithm)
      ? claimsProblem(jwt.claims, { issuer, nowMs: clock.now() })
      : rejectedToken(`id token signed with unsupported algorithm ${jwt.algorithm}`)
    if (problem) return problem
    if (!(await keys.find(jwt.keyId)).some((key) => isSignedBy(jwt, key)))
      return rejectedToken('failed to verify signature')
    const user = userOfClaims(jwt.claims, { issuer, readers })
    if ('error' in user) return user
    const common = commonAudiences(question.audiences, own)
    if (common.length === 0) return undefined
    const verdict = { user, audiences: common }
    remembered.set(question, verdict, Math.min(clock.now() + tokenCacheMs, Number(jwt.claims['exp']) * 1000))
    return verdict
  }
  return (question) => {
    const known = remembered.get(question)
    if (known) return known.verdict
    const jwt = parseJwt(question.token)
    return jwt?.claims['iss'] === issuer.url ? verify(jwt, question) : undefined
  }
}

function claimsProblem(
  { aud, exp, nbf }: JsonObject,
  { issuer, nowMs }: { issuer: OidcIssuer; nowMs: number },
): RejectedToken | undefined {
  const has = audiencesOf(aud)
  if (!has.some((one) => issuer.audiences.includes(one)))
    return rejectedToken(`expected audience in ${JSON.stringify(issuer.audiences)} got ${JSON.stringify(has)}`)
  if (typeof exp !== 'number' || nowMs >= exp * 1000) return rejectedToken('token is expired')
  if (nbf !== undefined && !(typeof nbf === 'number' && nowMs + notBeforeLeewayMs >= nbf * 1000))
    return rejectedToken('token is not valid yet')
  return undefined
}

function rejectedToken(why: string): RejectedToken {
  return { error: `oidc: ${why}` }
}

// From verified claims to a user.

/** The user of verified claims, or the error. */
export function userOfClaims(
  claims: JsonObject,
  { issuer, readers }: { issuer: OidcIssuer; readers: ClaimReaders },
): User | RejectedToken {
  try {
    const missing = Object.entries(issuer.requiredClaims ?? {}).find(
      ([claim, value]) => getOwn(claims, claim) !== value,
    )
    if (missing) return rejectedClaims(`required claim ${missing[0]} not present or not of the required value`)
    checkRules(readers.claimValidationRules, claims)
    const uid = textOf(readers.uid, claims)
    const user = {
      name: nameOf(claims, { issuer, readers }),
      groups: groupsOf(claims, { issuer, readers }),
      ...(uid !== '' && { uid }),
      ...extraOf(claims, readers),
    }
    checkRules(readers.userValidationRules, { uid: '', groups: [], extra: {}, ...userInfo(user) })
    return user
  } catch (error) {
    if (error instanceof ClaimsError) return rejectedClaims(error.message)
    throw error
  }
}

/** An error in the claims of a token. */
class ClaimsError extends Error {
  override readonly name = 'ClaimsError'
}

function checkRules(rules: readonly CompiledClaimRule[], variable: JsonObject): void {
  for (const { holds, message } of rules) {
    const { value, error } = holds.evaluate(variable)
    if (error !== undefined || value !== true)
      throw new ClaimsError(`validation expression '${holds.text}' failed: ${error ?? message}`)
  }
}

function nameOf(
  claims: JsonObject,
  { issuer: { url, username }, readers }: { issuer: OidcIssuer; readers: ClaimReaders },
): string {
  const { claim, prefix } = { claim: username ? username.claim : 'sub', prefix: username?.prefix }
  const found = textOf(readers.username, claims)
  if (found === '')
    throw new ClaimsError(
      claim === undefined
        ? 'the username expression gave no text'
        : `parse username claims ${JSON.stringify(claim)}: claim not present`,
    )
  if (claim === 'email' && getOwn(claims, 'email_verified') !== undefined && getOwn(claims, 'email_verified') !== true)
    throw new ClaimsError('email not verified')
  const usual = claim === 'email' || claim === undefined ? '' : `${url}#`
  const name = `${prefix ?? usual}${found}`
  if (isReserved(name)) throw new ClaimsError(`username ${JSON.stringify(name)} is reserved`)
  return name
}

function groupsOf(
  claims: JsonObject,
  { issuer: { groups }, readers }: { issuer: OidcIssuer; readers: ClaimReaders },
): string[] {
  return textsOf(valueOf(readers.groups, claims))
    .map((name) => `${groups?.prefix ?? ''}${name}`)
    .filter((name) => !isReserved(name))
}

function isReserved(name: string): boolean {
  return name.startsWith('system:')
}

function extraOf(claims: JsonObject, { extra }: ClaimReaders): Pick<User, 'extra'> {
  const made: Record<string, string[]> = {}
  for (const [key, read] of extra) {
    const values = textsOf(valueOf(read, claims))
    if (values.length > 0) setOwn(made, key, values)
  }
  return Object.keys(made).length > 0 ? { extra: made } : {}
}

function textOf(read: ClaimReader | undefined, claims: JsonObject): string {
  const value = valueOf(read, claims)
  return typeof value === 'string' ? value : ''
}

function valueOf(read: ClaimReader | undefined, claims: JsonObject): JsonValue | undefined {
  const found = read?.(claims)
  if (found?.error !== undefined) throw new ClaimsError(found.error)
  return found?.value
}

/** A list, or a single text. */
function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one !== '') : []
}

function rejectedClaims(why: string): RejectedToken {
  return { error: `oidc: ${why}` }
}

// Readers for the parts of a user: a claim by name, or an expression that is compiled once.

/** Reads one part; undefined when it is missing. */
export type ClaimReader = (
  claims: JsonObject,
) => { readonly value?: JsonValue | undefined; readonly error?: undefined } | { readonly error: string }

export interface CompiledClaimRule {
  readonly holds: ClaimsExpression
  readonly message: string
}

export interface ClaimReaders {
  readonly username: ClaimReader
  readonly groups: ClaimReader | undefined
  readonly uid: ClaimReader | undefined
  readonly extra: readonly (readonly [key: string, read: ClaimReader])[]
  readonly claimValidationRules: readonly CompiledClaimRule[]
  readonly userValidationRules: readonly CompiledClaimRule[]
}

/** @throws {RangeError} for an invalid expression, and for one that uses an unverified email address as user name. */
export async function claimReaders(issuer: OidcIssuer): Promise<ClaimReaders> {
  const {
    username = { claim: 'sub' },
    groups,
    uid,
    extra = {},
    claimValidationRules: claimRules = [],
    userValidationRules: userRules = [],
  } = issuer
  checkEmail(issuer)
  const rules = (all: readonly OidcValidationRule[], about: 'claims' | 'user'): Promise<CompiledClaimRule[]> =>
    Promise.all(
      all.map(async ({ expression, message = expression }) => {
        return { holds: (await loadClaimsEngine()).compile(expression, { variable: about, isRule: true }), message }
      }),
    )
  return {
    username: await makeReader(username),
    groups: groups && (await makeReader(groups)),
    uid: uid && (await makeReader(uid)),
    extra: await Promise.all(
      Object.entries(extra).map(async ([key, value]) => [key, await makeReader(value)] as const),
    ),
    claimValidationRules: await rules(claimRules, 'claims'),
    userValidationRules: await rules(userRules, 'user'),
  }
}

async function makeReader({ claim, expression }: OidcClaimOrExpression): Promise<ClaimReader> {
  if (claim !== undefined) return (claims) => ({ value: getOwn(claims, claim) })
  const compiled = (await loadClaimsEngine()).compile(expression, { variable: 'claims' })
  return (claims) => compiled.evaluate(claims)
}

/** An expression that uses the email address as user name must also check `email_verified`. */
function checkEmail({ username, extra = {}, claimValidationRules: claimRules = [] }: OidcIssuer): void {
  const expression = username?.expression
  if (expression === undefined || !/\bclaims\.email\b/.test(expression)) return
  const all = [
    expression,
    ...Object.values(extra).map((value) => value.expression ?? ''),
    ...claimRules.map((rule) => rule.expression),
  ]
  if (!all.some((text) => /\bclaims\.\??email_verified\b/.test(text)))
    throw new RangeError(
      'claims.email_verified must be used in the username expression, in extra or in a claim rule when claims.email is the username',
    )
}

// The keys of an issuer: fetched for its first token, and again when a token names an unknown key.

interface IssuerKeysContext extends HttpsJsonOptions {
  readonly clock: Clock
  readonly log: Logger
}

const fetchEveryMs = 10_000

export class IssuerKeys {
  readonly #issuer: OidcIssuer
  readonly #context: IssuerKeysContext
  readonly #calls: HttpsJsonClient
  readonly #discovery: URL
  #keys: readonly PublicKey[] = []
  #nextFetchMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined

  /** @throws {RangeError} when an address is not https. */
  constructor(issuer: OidcIssuer, context: IssuerKeysContext) {
    this.#issuer = issuer
    this.#context = context
    this.#calls = new HttpsJsonClient({ ...context, caPem: issuer.caPem })
    httpsUrl(issuer.url, 'the url of an OpenID issuer')
    this.#discovery = httpsUrl(
      issuer.discoveryUrl ?? `${issuer.url.replace(/\/$/, '')}/.well-known/openid-configuration`,
      'the discoveryUrl of an OpenID issuer',
    )
  }

  /** The possible signing keys of a token. */
  async find(id: string): Promise<readonly PublicKey[]> {
    const known = this.#named(id)
    if (known.length > 0) return known
    await this.#fetch()
    return this.#named(id)
  }

  #named(id: string): readonly PublicKey[] {
    return id === '' ? this.#keys : this.#keys.filter((key) => key.id === id)
  }

  #fetch(): Promise<void> {
    const { clock } = this.#context
    if (!this.#fetching && clock.monotonic() < this.#nextFetchMs) return Promise.resolve()
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined
      this.#nextFetchMs = clock.monotonic() + fetchEveryMs
    })
    return this.#fetching
  }

  async #fetchNow(): Promise<void> {
    try {
      const keysUrl = this.#keysUrl(await this.#calls.request(this.#discovery))
      this.#keys = readKeySet(await this.#calls.request(keysUrl))
    } catch (error) {
      this.#context.log.error('cannot fetch the keys of an OpenID Connect issuer', {
        issuer: this.#issuer.url,
        error,
      })
    }
  }

  #keysUrl(document: JsonValue): URL {
    const { issuer, jwks_uri: address } = isJsonObject(document) ? document : {}
    if (issuer !== this.#issuer.url) throw new Error('the document found at the issuer is of another issuer')
    return httpsUrl(typeof address === 'string' ? address : '', 'jwks_uri')
  }
}
