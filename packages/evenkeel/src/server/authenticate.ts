/**
 * Room 3: who is calling?
 *
 * Before: `route` read the path. After: `authorize` asks whether they may. Authenticators are asked in turn; the first
 * that knows the caller decides. Nobody is anonymous, unless the server was told otherwise, except on the paths that
 * say whether the server is well. Who shows credentials that nobody knows is told so, everywhere.
 */
import { unauthorized } from '#api'
import { anonymous } from './authentication/person.ts'
import type { RequestContext, RequestInfo, User } from './call.ts'

/** Says who is calling, or undefined when it does not know the credentials. */
export type Authenticator = (info: RequestInfo) => User | undefined | Promise<User | undefined>

/** Paths anybody may ask: they say only whether the server is well. */
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/

/**
 * Adds who is calling.
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
    if (user) return withUser(info, user)
  }
  if ((isOpen || openPaths.test(info.path)) && !showsCredentials(info)) return withUser(info, anonymous)
  throw unauthorized()
}

function showsCredentials({ request: { headers, peer } }: RequestInfo): boolean {
  return headers['authorization'] !== undefined || peer?.certificate !== undefined || peer?.certificateRefused === true
}

// Written out: this runs for every request, and spreading an object is several times as slow.
function withUser(
  { request, path, query, resourcePath: place, verb, warnings }: RequestInfo,
  user: User,
): RequestContext {
  return { request, path, query, resourcePath: place, verb, warnings, user }
}
