/**
 * Everything a server knows callers by, put together.
 *
 * They are asked in this order, and the first that knows the caller decides: a proxy's word, a client certificate, a
 * bearer token (static, of a service account, of an OpenID issuer, by webhook), and what the embedder brings.
 */
import type { Clock, Logger, Random } from '#base'
import type { Connection, HttpsOptions } from '#wire'
import type { Authenticator } from '../authenticate.ts'
import type { Rooms } from '../call.ts'
import type { Identity } from '../identity/identity.ts'
import { ChangedRequest } from '../requests/changed-request.ts'
import type { View } from '../views/view.ts'
import { AccountKeys } from './accounts/account-keys.ts'
import { AccountTokens } from './accounts/account-tokens.ts'
import { find } from './accounts/token-request.ts'
import type { TokenRequestOptions } from './accounts/token-request.ts'
import { BearerTokens } from './bearer/bearer.ts'
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
  readonly tokens: BearerTokens
  readonly accounts: TokenRequestOptions
  /** Where the keys of service accounts are, if not here. */
  readonly keysUrl: string | undefined
  /** For callers over sockets, in the order in which they are asked. */
  readonly authenticators: readonly Authenticator[]
  readonly anonymous: boolean
  /** Whose client certificates the listener asks for, in PEM. */
  readonly authoritiesPem: string
}

interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Of a server that listens. */
  readonly identity: Identity | undefined
  /** The view of service accounts. */
  readonly accounts: View
  /** There once the server is. */
  rooms(): Rooms
  connect?: ((destination: HttpsOptions) => Connection) | undefined
  readonly stopping: AbortSignal
}

const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

/** @throws {RangeError} for keys, certificates and addresses that are none. */
export async function makeAuthentication(
  options: AuthenticationOptions,
  surroundings: Surroundings,
): Promise<Authentication> {
  const { clock, identity } = surroundings
  const { serviceAccounts = {}, frontProxy, clientAuthorities = [], authenticators = [] } = options
  const accounts = makeAccounts(options, surroundings)
  const tokens = new BearerTokens(await tokenKinds(options, { accounts, surroundings }), accounts.audiences)
  const ofUsers = [...(identity ? [identity.authority.certificatePem] : []), ...clientAuthorities]
  const proxies =
    frontProxy &&
    frontProxyAuthenticator({
      certificates: new ClientCertificates([frontProxy.caPem], clock),
      allowedNames: frontProxy.allowedNames ?? [],
    })
  return {
    tokens,
    accounts: {
      tokens: accounts,
      lifeSecondsMax: serviceAccounts.lifeSecondsMax ?? 0,
      extend: serviceAccounts.extendMounted ?? true,
    },
    keysUrl: serviceAccounts.keysUrl,
    authenticators: [
      ...(proxies ? [proxies] : []),
      certificateAuthenticator(new ClientCertificates(ofUsers, clock)),
      tokens.authenticator,
      ...authenticators.map(shownRequests),
    ],
    anonymous: options.anonymous ?? false,
    authoritiesPem: [...ofUsers, ...(frontProxy ? [frontProxy.caPem] : [])].join('\n'),
  }
}

function makeAccounts(
  { serviceAccounts: { issuer = defaultIssuer, audiences, keys } = {} }: AuthenticationOptions,
  { clock, random, identity, accounts, rooms }: Surroundings,
): AccountTokens {
  const [first = defaultIssuer, ...others] = typeof issuer === 'string' ? [issuer] : issuer
  return new AccountTokens({
    keys: new AccountKeys(keys ?? identity?.accountKeys ?? []),
    issuers: [first, ...others],
    audiences: audiences ?? [first, ...others],
    objects: {
      account: (namespace, name) => accounts.get(name, { namespace }),
      find: (plural, namespace, name) => find(plural, { rooms: rooms(), namespace, name }),
    },
    clock,
    random,
  })
}

async function tokenKinds(
  { tokens = {}, tokenFile, oidc = [], webhook }: AuthenticationOptions,
  { accounts, surroundings }: { accounts: AccountTokens; surroundings: Surroundings },
): Promise<TokenAuthenticator[]> {
  const { identity } = surroundings
  const given: StaticToken[] = Object.entries(tokens).map(([token, user]) => ({ token, user }))
  const inFile = tokenFile === undefined ? [] : await readTokenFile(tokenFile)
  const own = identity ? [{ token: identity.token, user: administrator }] : []
  // Those who ask others are loaded when there is somebody to ask: most servers start without them.
  const outside = { ...surroundings, audiences: accounts.audiences }
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
function shownRequests(authenticator: Authenticator): Authenticator {
  return (routed) => authenticator({ ...routed, request: new ChangedRequest(routed.request) })
}
