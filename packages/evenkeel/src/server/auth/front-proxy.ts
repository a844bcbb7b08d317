/**
 * A proxy in front of the server that has found out who is calling, and says so in headers.
 *
 * Its word counts only on a connection with a certificate of the proxies' own authority, for one of the given names.
 * From everybody else the headers mean nothing, and the listener hands each value over as it was sent.
 */
import { setOwn } from '#api'
import type { WireHeaders } from '#wire'
import type { Authenticator } from '../request-context.ts'
import type { ClientCertificates } from './client-certificates.ts'
import { withAuthenticatedGroup } from './user.ts'

interface FrontProxyAuthenticatorOptions {
  readonly certificates: ClientCertificates
  /** Common names of proxies; none lets every certificate of their authority speak. */
  readonly allowedNames: readonly string[]
}

/** Knows callers by what a proxy says of them. */
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

/** Values of a repeated header that says who is meant, without empty ones. */
function valuesOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split('\n').filter((one) => one !== '')
}

/** What headers of a prefix say: the rest of their names, decoded, are the keys. */
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
