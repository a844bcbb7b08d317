/**
 * Tokens of an OpenID issuer.
 *
 * What costs nothing is looked at first (whose token it is, for whom, until when), so that only tokens that could be
 * good make anybody fetch keys. Nothing of it counts before the signature is verified.
 */
import type { JsonObject } from '#api'
import type { Clock, Logger } from '#base'
import { audiencesOf } from '../accounts/account-claims.ts'
import type { HttpsJsonOptions } from '../ask-outside.ts'
import { TokenCache } from '../bearer/remembered.ts'
import { commonAudiences } from '../bearer/token.ts'
import type { TokenAuthenticator, RejectedToken, TokenReviewRequest, TokenReviewResult } from '../bearer/token.ts'
import { algorithmNames } from '../jwt/algorithms.ts'
import { isSignedBy, parseJwt } from '../jwt/jwt.ts'
import type { Jwt } from '../jwt/jwt.ts'
import { claimReaders } from './claim-readers.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { userOfClaims } from './oidc-claims.ts'
import type { OidcIssuer } from './oidc-issuer.ts'

interface OidcContext extends HttpsJsonOptions {
  readonly clock: Clock
  readonly log: Logger
  /** For whom a token is that an issuer made for its clients: this server. */
  readonly audiences: readonly string[]
}

/** How long a verified token is believed without looking again: keys may be withdrawn. */
const tokenCacheMs = 10_000
const notBeforeLeewayMs = 300_000

/** @throws {RangeError} when the issuer is not described properly. */
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
