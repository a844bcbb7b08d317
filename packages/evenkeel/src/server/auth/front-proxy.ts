/**
 * The front proxy authenticator: a proxy authenticates the user and sends the name in headers.
 *
 * The headers count only on a connection with a certificate of the proxies' own authority, for one of the allowed
 * names. On every other connection they are ignored. The listener passes each value on exactly as it was sent.
 */
import { setOwn } from '#api'
import type { WireHeaders } from '#wire'
import type { Authenticator } from '../request-context.ts'
import type { FrontProxyOptions } from './authentication-options.ts'
import type { ClientCertificates } from './client-certificates.ts'
import { withAuthenticatedGroup } from './user.ts'

interface FrontProxyAuthenticatorOptions extends Omit<FrontProxyOptions, 'caPem'> {
  readonly certificates: ClientCertificates
}

/**
 * Authenticates requests by the headers of a front proxy.
 *
 * @throws {RangeError} for a header whose values are not kept apart.
 */
export function frontProxyAuthenticator({
  certificates,
  allowedNames = [],
  usernameHeaders = ['X-Remote-User'],
  groupHeaders = ['X-Remote-Group'],
  uidHeaders = ['X-Remote-Uid'],
  extraHeaderPrefixes = ['X-Remote-Extra-'],
}: FrontProxyAuthenticatorOptions): Authenticator {
  const [users, groups, uids, extras] = [usernameHeaders, groupHeaders, uidHeaders, extraHeaderPrefixes].map(
    checked,
  ) as [string[], string[], string[], string[]]
  return ({ request: { peer, headers } }) => {
    if (!users.some((header) => headers[header] !== undefined)) return undefined
    const proxy = certificates.check(peer)
    if (!proxy || (allowedNames.length > 0 && !allowedNames.includes(proxy.commonName))) return undefined
    const [name = ''] = valuesOf(headers, users)
    if (name === '') return undefined
    const [uid = ''] = valuesOf(headers, uids)
    const extra = extras.map((prefix) => extraFromHeaders(headers, prefix)).find((found) => found !== undefined)
    return withAuthenticatedGroup({
      name,
      groups: valuesOf(headers, groups),
      ...(uid !== '' && { uid }),
      ...(extra && { extra }),
    })
  }
}

/** Header names in lower case. */
function checked(names: readonly string[]): string[] {
  return names.map((name) => {
    if (!/^x-remote-/i.test(name))
      throw new RangeError(`headers of a front proxy must begin with X-Remote-, got ${JSON.stringify(name)}`)
    return name.toLowerCase()
  })
}

/** The values of identity headers, without empty ones. */
function valuesOf(headers: WireHeaders, names: readonly string[]): string[] {
  return names.flatMap((name) => headers[name]?.split('\n').filter((one) => one !== '') ?? [])
}

/** The values of headers with a prefix; the decoded rest of each name is the key. */
export function extraFromHeaders(
  headers: WireHeaders,
  prefix: string,
): Readonly<Record<string, readonly string[]>> | undefined {
  let extra: Record<string, string[]> | undefined
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(prefix)) continue
    extra ??= {}
    const key = decodeKey(name.slice(prefix.length))
    const before = Object.hasOwn(extra, key) ? (extra[key] ?? []) : []
    setOwn(extra, key, [...before, ...value.split('\n')])
  }
  return extra
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
