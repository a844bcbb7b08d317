/**
 * Room 3: who is calling?
 *
 * Before: `route` read the path. After: `authorize` asks whether they may. Authenticators are asked in turn; the first
 * that knows the caller decides. Nobody is anonymous, unless the server was told otherwise, except on the paths that
 * say whether the server is well. Who shows credentials that nobody knows is told so, everywhere.
 */
import { unauthorized } from '#api'
import { anonymous } from './authentication/person.ts'
import type { Call, Routed, User } from './call.ts'

/** Says who is calling, or undefined when it does not know the credentials. */
export type Authenticator = (routed: Routed) => User | undefined | Promise<User | undefined>

/** Paths anybody may ask: they say only whether the server is well. */
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/

/**
 * Adds who is calling.
 *
 * @throws {ApiError} `Unauthorized`
 */
export async function authenticate(
  routed: Routed,
  authenticators: readonly Authenticator[],
  { anonymous: isOpen = false }: { anonymous?: boolean } = {},
): Promise<Call> {
  for (const authenticator of authenticators) {
    const asked = authenticator(routed)
    const user = asked instanceof Promise ? await asked : asked
    if (user) return withUser(routed, user)
  }
  if ((isOpen || openPaths.test(routed.path)) && !showsCredentials(routed)) return withUser(routed, anonymous)
  throw unauthorized()
}

function showsCredentials({ request: { headers, peer } }: Routed): boolean {
  return headers['authorization'] !== undefined || peer?.certificate !== undefined || peer?.certificateRefused === true
}

// Written out: this runs for every request, and spreading an object is several times as slow.
function withUser({ request, path, query, place, verb, warnings }: Routed, user: User): Call {
  return { request, path, query, place, verb, warnings, user }
}
