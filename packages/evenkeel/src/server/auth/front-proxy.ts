/**
 * The front proxy authenticator: a proxy authenticates the user and sends the name in headers.
 *
 * The headers count only on a connection with a certificate of the proxies' own authority, for one of the allowed
 * names. On every other connection they are ignored. The listener passes each value on exactly as it was sent.
 */
import { setOwn } from '#api'
import type { WireHeaders } from '#wire'
import type { Authenticator } from '../request-context.ts'
import type { ClientCertificates } from './client-certificates.ts'
import { withAuthenticatedGroup } from './user.ts'

interface FrontProxyAuthenticatorOptions {
  readonly certificates: ClientCertificates
  /** Allowed common names of proxies; an empty list allows every certificate of their authority. */
  readonly allowedNames: readonly string[]
}

/** Authenticates requests by the headers of a front proxy. */
export function frontProxyAuthenticator({ certificates, allowedNames }: FrontProxyAuthenticatorOptions): Authenticator {
  return ({ request: { peer, headers } }) => {
    if (headers['x-remote-user'] === undefined) return undefined
    const proxy = certificates.check(peer)
    if (!proxy || (allowedNames.length > 0 && !allowedNames.includes(proxy.commonName))) return undefined
    const [name = ''] = valuesOf(headers['x-remote-user'])
    if (name === '') return undefined
    const [uid = ''] = valuesOf(headers['x-remote-uid'])
    const extra = extraFromHeaders(headers, 'x-remote-extra-')
    return withAuthenticatedGroup({
      name,
      groups: valuesOf(headers['x-remote-group']),
      ...(uid !== '' && { uid }),
      ...(extra && { extra }),
    })
  }
}

/** The values of a repeated identity header, without empty ones. */
function valuesOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split('\n').filter((one) => one !== '')
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
