/**
 * Room 3: who is calling?
 *
 * Before: `route` read the path. After: `authorize` asks whether they may. Authenticators are asked in turn; the first
 * that knows the caller decides. Nobody is anonymous except on the paths that say whether the server is well.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { unauthorized } from '#api'
import type { JsonObject } from '#api'
import type { Call, Routed, User } from './call.ts'

/** Says who is calling, or undefined when it does not know the credentials. */
export type Authenticator = (routed: Routed) => User | undefined | Promise<User | undefined>

/** Paths anybody may ask: they say only whether the server is well. */
const openPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** The user behind the token of an installation. */
export const administrator: User = { name: 'evenkeel-admin', groups: ['system:masters', 'system:authenticated'] }

/**
 * Adds who is calling.
 *
 * @throws {ApiError} `Unauthorized`
 */
export async function authenticate(routed: Routed, authenticators: readonly Authenticator[]): Promise<Call> {
  for (const authenticator of authenticators) {
    const asked = authenticator(routed)
    const user = asked instanceof Promise ? await asked : asked
    if (user) return withUser(routed, user)
  }
  // Who shows credentials that nobody knows is told so, everywhere.
  if (openPaths.test(routed.path) && routed.request.headers['authorization'] === undefined) return withUser(routed, anonymous)
  throw unauthorized()
}

// Written out: this runs for every request, and spreading an object is several times as slow.
function withUser({ request, path, query, place, verb, warnings }: Routed, user: User): Call {
  return { request, path, query, place, verb, warnings, user }
}

/** Knows one bearer token. Comparing hashes takes the same time whatever was sent. */
export function tokenAuthenticator(token: string, user: User = administrator): Authenticator {
  const expected = digest(token)
  let last: { readonly header: string, readonly known: boolean } | undefined
  return ({ request: { headers } }) => {
    const header = headers['authorization']
    if (header === undefined) return undefined
    // A client sends the same header with every request of a connection: the verdict on that very text stands.
    if (last === undefined || last.header !== header) last = { header, known: timingSafeEqual(digest(bearer(header)), expected) }
    return last.known ? user : undefined
  }
}

/** A user as objects name one. */
export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return { username: name, ...uid !== undefined && { uid }, groups: [...groups], ...extra && { extra: extra as unknown as JsonObject } }
}

function bearer(header: string): string {
  const [scheme = '', token = ''] = header.trim().split(/\s+/)
  return scheme.toLowerCase() === 'bearer' ? token : ''
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
