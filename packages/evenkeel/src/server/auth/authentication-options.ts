/**
 * How a server is told who may call it, beside the administrator.
 */
import type { Authenticator, User } from '../request-context.ts'

export interface AuthenticationOptions {
  /**
   * Bearer tokens and whom they stand for. Whoever reads this text is that user.
   *
   * @default none
   */
  tokens?: Readonly<Record<string, User>>
  /**
   * A file of such tokens in the form of `kube-apiserver --token-auth-file`, read once at start.
   *
   * @default none
   */
  tokenFile?: string
  /**
   * Further authorities whose client certificates are believed (`CN` is the user, each `O` a group), in PEM; the
   * server's own is one of them always. Only with TLS.
   *
   * @default none
   */
  clientCaPems?: readonly string[]
  /** Tokens of service accounts. */
  serviceAccounts?: ServiceAccountOptions
  /**
   * Those who issue tokens for people, by OpenID Connect.
   *
   * @default none
   */
  oidc?: readonly OidcIssuer[]
  /**
   * Somebody to ask about tokens that nobody here knows, by a TokenReview.
   *
   * @default nobody
   */
  webhook?: TokenWebhookOptions
  /**
   * Proxies that say in `X-Remote-…` headers who is calling.
   *
   * @default none: the headers mean nothing
   */
  frontProxy?: FrontProxyOptions
  /**
   * Whether callers without any credentials are let in as `system:anonymous`, wherever that may go. Without it they
   * get `/healthz`, `/livez` and `/readyz`, and 401 everywhere else.
   *
   * @default false
   */
  anonymous?: boolean
  /**
   * Functions that know callers in other ways; asked last.
   *
   * @default none
   */
  authenticators?: readonly Authenticator[]
}

export interface ServiceAccountOptions {
  /**
   * What tokens name as their issuer. Of several the first is written, all are believed.
   *
   * @default 'https://kubernetes.default.svc.cluster.local'
   */
  issuer?: string | readonly string[]
  /**
   * For whom tokens are when nobody is named; who shows one to this server must have one of these.
   *
   * @default the issuers
   */
  audiences?: readonly string[]
  /**
   * Keys in PEM, RSA or ECDSA. The first must be private: it signs. The others, private or public, are believed.
   *
   * @default those of the identity, or one that lives as long as the server
   */
  keys?: readonly string[]
  /**
   * Where others find the public keys.
   *
   * @default `/openid/v1/jwks` of this server
   */
  jwksUri?: string
  /**
   * The longest life of a token, in seconds; 0 for no limit.
   *
   * @default 0
   */
  maxTokenExpirationSeconds?: number
  /**
   * Tokens that are mounted into pods live for a year, with a warning after the hour they asked for.
   *
   * @default true
   */
  extendTokenExpiration?: boolean
}

export interface FrontProxyOptions {
  /** The authority of proxies, in PEM. It should sign nothing else. */
  readonly caPem: string
  /**
   * Common names of proxies.
   *
   * @default every certificate of the authority
   */
  readonly allowedNames?: readonly string[]
}

export interface TokenWebhookOptions {
  /** An https address; a TokenReview is posted to it. */
  readonly url: string
  /**
   * The authorities to trust, in PEM.
   *
   * @default those that Node trusts
   */
  readonly caPem?: string
  /**
   * How long an answer holds, in milliseconds.
   *
   * @default 120_000
   */
  readonly cacheMs?: number
}

/**
 * How an OpenID issuer is described: what its tokens must say, and which of their words make a user.
 */
export interface OidcIssuer {
  /** As tokens name it: an https address. Keys are found through `/.well-known/openid-configuration` below it. */
  readonly url: string
  /**
   * Where that document really is.
   *
   * @default below the issuer's address
   */
  readonly discoveryUrl?: string
  /**
   * The authorities to trust, in PEM.
   *
   * @default those that Node trusts
   */
  readonly caPem?: string
  /** Tokens must be for one of these: the id of the client that people log in with. */
  readonly audiences: readonly [string, ...string[]]
  /** @default { claim: 'sub' } */
  readonly username?: OidcPrefixedClaim
  /** @default none */
  readonly groups?: OidcPrefixedClaim
  /**
   * The user's uid.
   *
   * @default none
   */
  readonly uid?: OidcClaimOrExpression
  /**
   * What is kept as the user's extra, by the key it is kept under (`example.com/tenant`).
   *
   * @default none
   */
  readonly extra?: Readonly<Record<string, OidcClaimOrExpression>>
  /**
   * Claims that a token must have, with exactly this value.
   *
   * @default none
   */
  readonly requiredClaims?: Readonly<Record<string, string>>
  /**
   * What must be true of `claims`.
   *
   * @default none
   */
  readonly claimValidationRules?: readonly OidcValidationRule[]
  /**
   * What must be true of `user` (`username`, `uid`, `groups`, `extra`).
   *
   * @default none
   */
  readonly userValidationRules?: readonly OidcValidationRule[]
  /**
   * What tokens may be signed with: `RS256`, `ES256`, …
   *
   * @default all that there are, none of which is `none` or a shared secret
   */
  readonly algorithms?: readonly string[]
}

/** A claim as it is, or what an expression makes of all `claims`. */
export type OidcClaimOrExpression =
  | { readonly claim: string; readonly expression?: undefined }
  | { readonly expression: string; readonly claim?: undefined }

export type OidcPrefixedClaim = OidcClaimOrExpression & {
  /**
   * Put before each name that comes from a claim, so that nobody can be called what somebody here is called.
   *
   * @default the address of the issuer and `#` for users, unless the claim is `email`; nothing for groups
   */
  readonly prefix?: string
}

/** An expression in CEL that must give true. */
export interface OidcValidationRule {
  readonly expression: string
  /**
   * What is said when it does not.
   *
   * @default the expression
   */
  readonly message?: string
}
