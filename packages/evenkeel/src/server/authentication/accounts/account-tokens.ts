/**
 * Tokens of service accounts: made here, and known again.
 *
 *   signature, issuer   verified once and remembered by the digest of the token
 *   audience, times     looked at with every request
 *   account and object  looked up with every request: what was deleted lets nobody in, at once
 *
 * Invariant: nothing that can change is remembered.
 */
import type { JsonObject } from '#api'
import { randomUuid } from '#base'
import type { Clock, Random } from '#base'
import { commonAudiences, wrongAudience } from '../bearer/token.ts'
import type { TokenAuthenticator, TokenReviewResult } from '../bearer/token.ts'
import { isSignedBy, parseJwt } from '../jwt/jwt.ts'
import type { Jwt } from '../jwt/jwt.ts'
import {
  formatBoundClaims,
  formatSecretClaims,
  readBoundClaims,
  readSecretClaims,
  secretIssuer,
} from './account-claims.ts'
import type { BoundClaims, SecretClaims } from './account-claims.ts'
import type { ServiceAccountKeys } from './account-keys.ts'
import { checkBoundToken, checkSecretToken } from './check-account.ts'
import type { ServiceAccountGetter } from './check-account.ts'

interface ServiceAccountTokensOptions {
  readonly keys: ServiceAccountKeys
  /** The first is written into tokens, all are believed. */
  readonly issuers: readonly [string, ...string[]]
  /** For whom tokens are that nobody asked for somebody else. */
  readonly audiences: readonly string[]
  readonly objects: ServiceAccountGetter
  readonly clock: Clock
  readonly random: Random
}

/** What a signature was verified for. */
type VerifiedToken = { readonly bound: BoundClaims } | { readonly secret: SecretClaims } | { readonly error: string }

/** What is wanted of a new token. */
export type NewServiceAccountToken = Pick<
  BoundClaims,
  'namespace' | 'account' | 'pod' | 'secret' | 'node' | 'audiences'
> & {
  readonly lifeSeconds: number
  readonly warnAfterSeconds?: number
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

  /** A new token, good from now on. */
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

  /** The token that belongs into a Secret: the same each time it is made with the same key, and without an end. */
  issueForSecret(claims: SecretClaims): string {
    return this.#options.keys.sign(formatSecretClaims(claims))
  }

  /** Knows tokens that were made here, or by others with the same keys. */
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
    // Only what is really signed is remembered: otherwise anybody could drive out the others.
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
