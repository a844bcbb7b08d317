/**
 * How a server is told who may call it, beside the administrator.
 */
import type { Authenticator } from '../authenticate.ts'
import type { User } from '../call.ts'
import type { OidcIssuer } from './oidc/oidc-issuer.ts'

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
