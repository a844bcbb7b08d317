/**
 * Everything a server knows callers by, put together.
 *
 * They are asked in this order, and the first that knows the caller decides: a proxy's word, a client certificate, a
 * bearer token (static, of a service account, of an OpenID issuer, by webhook), and what the embedder brings.
 */
import type { Clock, Logger, Random } from '#base'
import type { HttpsConnection, HttpsOptions } from '#wire'
import type { Authenticator } from '../authenticate.ts'
import type { ServerContext } from '../call.ts'
import type { Identity } from '../identity/identity.ts'
import { ChangedRequest } from '../requests/changed-request.ts'
import type { Informer } from '../views/view.ts'
import { ServiceAccountKeys } from './accounts/account-keys.ts'
import { ServiceAccountTokens } from './accounts/account-tokens.ts'
import { findObject } from './accounts/token-request.ts'
import type { TokenRequestOptions } from './accounts/token-request.ts'
import { BearerTokenAuthenticator } from './bearer/bearer.ts'
import { staticTokens } from './bearer/static-tokens.ts'
import type { StaticToken } from './bearer/static-tokens.ts'
import { readTokenFile } from './bearer/token-file.ts'
import type { TokenAuthenticator } from './bearer/token.ts'
import { certificateAuthenticator, ClientCertificates } from './certificates/client-certificate.ts'
import { frontProxyAuthenticator } from './certificates/front-proxy.ts'
import type { AuthenticationOptions } from './options.ts'
import { administrator } from './person.ts'

export interface Authentication {
  /** All kinds of bearer tokens: for callers, and for reviews. */
  readonly tokens: BearerTokenAuthenticator
  readonly serviceAccounts: TokenRequestOptions
  /** Where the keys of service accounts are, if not here. */
  readonly jwksUri: string | undefined
  /** For callers over sockets, in the order in which they are asked. */
  readonly authenticators: readonly Authenticator[]
  readonly anonymous: boolean
  /** Whose client certificates the listener asks for, in PEM. */
  readonly authoritiesPem: string
}

interface AuthenticationContext {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Of a server that listens. */
  readonly identity: Identity | undefined
  /** The view of service accounts. */
  readonly accounts: Informer
  /** There once the server is. */
  server(): ServerContext
  connect?: ((destination: HttpsOptions) => HttpsConnection) | undefined
  readonly stopping: AbortSignal
}

const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

/** @throws {RangeError} for keys, certificates and addresses that are none. */
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
    frontProxyAuthenticator({
      certificates: new ClientCertificates([frontProxy.caPem], clock),
      allowedNames: frontProxy.allowedNames ?? [],
    })
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
    authoritiesPem: [...ofUsers, ...(frontProxy ? [frontProxy.caPem] : [])].join('\n'),
  }
}

function makeServiceAccountTokens(
  { serviceAccounts: { issuer = defaultIssuer, audiences, keys } = {} }: AuthenticationOptions,
  { clock, random, identity, accounts, server }: AuthenticationContext,
): ServiceAccountTokens {
  const [first = defaultIssuer, ...others] = typeof issuer === 'string' ? [issuer] : issuer
  return new ServiceAccountTokens({
    keys: new ServiceAccountKeys(keys ?? identity?.accountKeys ?? []),
    issuers: [first, ...others],
    audiences: audiences ?? [first, ...others],
    objects: {
      serviceAccount: (namespace, name) => accounts.get(name, { namespace }),
      find: (plural, namespace, name) => findObject(plural, { server: server(), namespace, name }),
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
  // Those who ask others are loaded when there is somebody to ask: most servers start without them.
  const outside = { ...context, audiences: accounts.audiences }
  return [
    staticTokens([...given, ...inFile, ...own], accounts.audiences),
    accounts.authenticator,
    ...(await Promise.all(
      oidc.map(async (issuer) => (await import('./oidc/oidc-tokens.ts')).oidcTokens(issuer, outside)),
    )),
    ...(webhook ? [(await import('./bearer/token-webhook.ts')).tokenWebhook(webhook, outside)] : []),
  ]
}

/** Code of others is shown requests whose signals are Node's. */
function withReadOnlyRequest(authenticator: Authenticator): Authenticator {
  return (info) => authenticator({ ...info, request: new ChangedRequest(info.request) })
}
