/**
 * The authentication stage: who sends a request.
 *
 * Authenticators run in this order, and the first that knows the credentials decides: front proxy, client certificate,
 * bearer token (static, service account, OpenID Connect, webhook), and those of the embedder. Anonymous requests are
 * refused unless the server allows them, except on the health paths. Unknown credentials are refused everywhere.
 */
import { unauthorized } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { HttpsConnection, HttpsOptions } from '#wire'
import type { Informer } from '../informers.ts'
import type { CoreObjects } from '../registry/core-objects.ts'
import {
  ChangedRequest,
  type Authenticator,
  type RequestContext,
  type RequestInfo,
  type User,
} from '../request-context.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import { BearerTokenAuthenticator, type TokenAuthenticator } from './bearer-tokens.ts'
import { certificateAuthenticator, ClientCertificates } from './client-certificates.ts'
import { frontProxyAuthenticator } from './front-proxy.ts'
import type { Identity } from './identity.ts'
import { ServiceAccountKeys } from './service-account-keys.ts'
import { ServiceAccountTokens, type TokenRequestPolicy } from './service-account-tokens.ts'
import { readTokenFile, staticTokens, type StaticToken } from './static-tokens.ts'
import { administrator, anonymous } from './user.ts'

export interface Authentication {
  /** All kinds of bearer tokens, for requests and for reviews. */
  readonly tokens: BearerTokenAuthenticator
  readonly serviceAccounts: TokenRequestPolicy
  /** The address of the service account keys, if not this server. */
  readonly jwksUri: string | undefined
  /** Authenticators for requests from sockets, in their order. */
  readonly authenticators: readonly Authenticator[]
  readonly anonymous: boolean
  /** The authorities of client certificates for the listener, in PEM. */
  readonly authoritiesPem: string
  /** The authorities of users among them. */
  readonly clientCaPem: string
}

interface AuthenticationContext {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The identity of a server that listens. */
  readonly identity: Identity | undefined
  /** The informer of service accounts. */
  readonly accounts: Informer
  /** Reads the objects that tokens are bound to. */
  readonly objects: CoreObjects
  connect?: ((destination: HttpsOptions) => HttpsConnection) | undefined
  readonly stopping: AbortSignal
}

const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

/** @throws {RangeError} for invalid keys, certificates and addresses. */
export async function makeAuthentication(
  options: AuthenticationOptions,
  context: AuthenticationContext,
): Promise<Authentication> {
  const { clock, identity } = context
  const { serviceAccounts = {}, frontProxy, clientCaPems: clientAuthorities = [], authenticators = [] } = options
  const accounts = makeServiceAccountTokens(options, context)
  const tokens = new BearerTokenAuthenticator(
    await tokenAuthenticators(options, { accounts, context }),
    accounts.audiences,
  )
  const ofUsers = [...(identity ? [identity.authority.certificatePem] : []), ...clientAuthorities]
  const proxies =
    frontProxy &&
    frontProxyAuthenticator({ ...frontProxy, certificates: new ClientCertificates([frontProxy.caPem], clock) })
  return {
    tokens,
    serviceAccounts: {
      tokens: accounts,
      maxExpirationSeconds: serviceAccounts.maxTokenExpirationSeconds ?? 0,
      extendExpiration: serviceAccounts.extendTokenExpiration ?? true,
    },
    jwksUri: serviceAccounts.jwksUri,
    authenticators: [
      ...(proxies ? [proxies] : []),
      certificateAuthenticator(new ClientCertificates(ofUsers, clock)),
      tokens.authenticator,
      ...authenticators.map(withReadOnlyRequest),
    ],
    anonymous: options.anonymous ?? false,
    clientCaPem: ofUsers.join('\n'),
    authoritiesPem: [...ofUsers, ...(frontProxy ? [frontProxy.caPem] : [])].join('\n'),
  }
}

function makeServiceAccountTokens(
  { serviceAccounts: { issuer = defaultIssuer, audiences, keys } = {} }: AuthenticationOptions,
  { clock, random, identity, accounts, objects }: AuthenticationContext,
): ServiceAccountTokens {
  const [first = defaultIssuer, ...others] = typeof issuer === 'string' ? [issuer] : issuer
  return new ServiceAccountTokens({
    keys: new ServiceAccountKeys(keys ?? identity?.accountKeys ?? []),
    issuers: [first, ...others],
    audiences: audiences ?? [first, ...others],
    objects: {
      serviceAccount: (namespace, name) => accounts.get(name, { namespace }),
      find: (plural, namespace, name) => objects.find(plural, namespace, name),
    },
    clock,
    random,
  })
}

async function tokenAuthenticators(
  { tokens = {}, tokenFile, oidc = [], webhook }: AuthenticationOptions,
  { accounts, context }: { accounts: ServiceAccountTokens; context: AuthenticationContext },
): Promise<TokenAuthenticator[]> {
  const { identity } = context
  const given: StaticToken[] = Object.entries(tokens).map(([token, user]) => ({ token, user }))
  const inFile = tokenFile === undefined ? [] : await readTokenFile(tokenFile)
  const own = identity ? [{ token: identity.token, user: administrator }] : []
  // Authenticators with remote services are loaded only when they are configured: most servers have none.
  const outside = { ...context, audiences: accounts.audiences }
  return [
    staticTokens([...given, ...inFile, ...own], accounts.audiences),
    accounts.authenticator,
    ...(await Promise.all(oidc.map(async (issuer) => (await import('./oidc.ts')).oidcTokens(issuer, outside)))),
    ...(webhook ? [(await import('./token-webhook.ts')).tokenWebhook(webhook, outside)] : []),
  ]
}

/** Authenticators of the embedder get requests with native signals. */
function withReadOnlyRequest(authenticator: Authenticator): Authenticator {
  return (info) => authenticator({ ...info, request: new ChangedRequest(info.request) })
}

/** Paths that need no authentication: they report only the health of the server. */
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/

/**
 * Adds the user to a request.
 *
 * @throws {ApiError} `Unauthorized`
 */
export async function authenticate(
  info: RequestInfo,
  authenticators: readonly Authenticator[],
  { anonymous: isOpen = false }: { anonymous?: boolean } = {},
): Promise<RequestContext> {
  for (const authenticator of authenticators) {
    const asked = authenticator(info)
    const user = asked instanceof Promise ? await asked : asked
    if (!user) continue
    info.request.peer?.onAuthenticated?.(user.name)
    return withUser(info, user)
  }
  if ((isOpen || openPaths.test(info.path)) && !showsCredentials(info)) return withUser(info, anonymous)
  throw unauthorized()
}

function showsCredentials({ request: { headers, peer } }: RequestInfo): boolean {
  return headers['authorization'] !== undefined || peer?.certificate !== undefined || peer?.certificateRefused === true
}

// Written out: this runs for every request, and spreading an object is several times as slow.
function withUser(
  { request, path, query, resourcePath: place, verb, formats, warnings, dueMs, isStream }: RequestInfo,
  user: User,
): RequestContext {
  const context = { request, path, query, resourcePath: place, verb, formats, warnings, user }
  if (dueMs === undefined && isStream === undefined) return context
  return { ...context, ...(dueMs !== undefined && { dueMs }), ...(isStream && { isStream }) }
}
