/**
 * Authentication options: credentials that the server accepts beside the administrator's.
 */
import type { Authenticator, User } from '../request-context.ts'

export interface AuthenticationOptions {
  /**
   * Static bearer tokens and their users. A token is a credential: keep it secret.
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
   * Further certificate authorities for client certificates (`CN` is the user, each `O` a group), in PEM. The server's
   * own authority is always trusted. Only with TLS.
   *
   * @default none
   */
  clientCaPems?: readonly string[]
  /** Tokens of service accounts. */
  serviceAccounts?: ServiceAccountOptions
  /**
   * OpenID Connect issuers.
   *
   * @default none
   */
  oidc?: readonly OidcIssuer[]
  /**
   * A webhook that authenticates tokens unknown to this server, by TokenReview.
   *
   * @default none
   */
  webhook?: TokenWebhookOptions
  /**
   * Proxies that authenticate users and send their names in `X-Remote-…` headers.
   *
   * @default none: the headers are ignored
   */
  frontProxy?: FrontProxyOptions
  /**
   * Whether requests without credentials are authenticated as `system:anonymous` and then authorized like any other. If
   * not, they may read `/healthz`, `/livez` and `/readyz` and get 401 everywhere else.
   *
   * @default false
   */
  anonymous?: boolean
  /**
   * Authenticators of the embedding program; they run last.
   *
   * @default none
   */
  authenticators?: readonly Authenticator[]
}

export interface ServiceAccountOptions {
  /**
   * The issuer of service account tokens. The first is written into new tokens; all are accepted.
   *
   * @default 'https://kubernetes.default.svc.cluster.local'
   */
  issuer?: string | readonly string[]
  /**
   * The audiences of tokens that are requested without one. A token must have one of them to authenticate here.
   *
   * @default the issuers
   */
  audiences?: readonly string[]
  /**
   * Keys in PEM, RSA or ECDSA. The first must be private: it signs. The others, private or public, only verify.
   *
   * @default those of the identity, or one that lives as long as the server
   */
  keys?: readonly string[]
  /**
   * The address of the public keys.
   *
   * @default `/openid/v1/jwks` of this server
   */
  jwksUri?: string
  /**
   * The longest lifetime of a token, in seconds; 0 for no limit.
   *
   * @default 0
   */
  maxTokenExpirationSeconds?: number
  /**
   * Tokens that are mounted into Pods are valid for a year, with a warning after the requested hour.
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
  /**
   * Headers with the name of the user; the first that a request has counts. All header names begin with `X-Remote-`:
   * the values of other headers may be joined on their way.
   *
   * @default ['X-Remote-User']
   */
  readonly usernameHeaders?: readonly string[]
  /** Headers with the groups of the user. @default ['X-Remote-Group'] */
  readonly groupHeaders?: readonly string[]
  /** Headers with the uid of the user. @default ['X-Remote-Uid'] */
  readonly uidHeaders?: readonly string[]
  /** Prefixes of headers with extra values; the rest of the name is the key. @default ['X-Remote-Extra-'] */
  readonly extraHeaderPrefixes?: readonly string[]
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
   * How long a result is cached, in milliseconds.
   *
   * @default 120_000
   */
  readonly cacheMs?: number
}

/** An OpenID Connect issuer: the required claims of its tokens, and the mapping of claims to a user. */
export interface OidcIssuer {
  /** The issuer as in its tokens: an https address. Its keys are found through `/.well-known/openid-configuration`. */
  readonly url: string
  /**
   * The address of that document, if it differs.
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
  /** A token must have one of these audiences: the OAuth client id. */
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
   * The user's extra values by key (`example.com/tenant`).
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
   * Rules about `claims`.
   *
   * @default none
   */
  readonly claimValidationRules?: readonly OidcValidationRule[]
  /**
   * Rules about `user` (`username`, `uid`, `groups`, `extra`).
   *
   * @default none
   */
  readonly userValidationRules?: readonly OidcValidationRule[]
  /**
   * Accepted signature algorithms: `RS256`, `ES256`, …
   *
   * @default all supported ones; `none` and shared secrets are not supported
   */
  readonly algorithms?: readonly string[]
}

/** A claim, or a CEL expression over all `claims`. */
export type OidcClaimOrExpression =
  | { readonly claim: string; readonly expression?: undefined }
  | { readonly expression: string; readonly claim?: undefined }

export type OidcPrefixedClaim = OidcClaimOrExpression & {
  /**
   * A prefix for each name from a claim, so that an issuer cannot produce the name of a user of another source.
   *
   * @default the address of the issuer and `#` for users, unless the claim is `email`; nothing for groups
   */
  readonly prefix?: string
}

/** A CEL expression that must be true. */
export interface OidcValidationRule {
  readonly expression: string
  /**
   * The error when it is false.
   *
   * @default the expression
   */
  readonly message?: string
}
