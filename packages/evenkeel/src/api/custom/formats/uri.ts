/**
 * Whether a text is a URI as a request line may hold it: absolute, or a path that begins with a slash.
 */
import { isIpv6 } from './addresses.ts'

export function isUri(text: string): boolean {
  if (text === '' || hasControl(text)) return false
  if (text === '*') return true
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? ''
  if (text.startsWith(':')) return false
  const [rest = ''] = text.slice(scheme.length).split('?', 1)
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//')) return isEscaped(rest)
  const end = rest.indexOf('/', 2)
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end)
  return isAuthority(authority, scheme) && isEscaped(end < 0 ? '' : rest.slice(end))
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/** Every percent sign begins two hexadecimal digits. */
function isEscaped(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text)
}

function isAuthority(authority: string, scheme: string): boolean {
  const at = authority.lastIndexOf('@')
  if (at < 0) return isHost(authority, scheme)
  const user = authority.slice(0, at)
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user) && isHost(authority.slice(at + 1), scheme)
}

function isHost(host: string, scheme: string): boolean {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    return end >= 0 && isPort(host.slice(end + 1)) && isLiteral(host.slice(1, end))
  }
  if (host.includes('[')) return false
  // Databases write several hosts with ports here; the web does not.
  const colon = /^https?:$/i.test(scheme) ? host.indexOf(':') : host.lastIndexOf(':')
  if (colon >= 0 && !isPort(host.slice(colon))) return false
  return isHostText(host)
}

function isLiteral(literal: string): boolean {
  const [address = '', ...zone] = literal.split('%25')
  return isIpv6(address) && isEscaped(zone.join('%25'))
}

function isPort(text: string): boolean {
  return /^(?::\d*)?$/.test(text)
}

/** Bytes of other scripts may be escaped, those of ASCII may not; a few signs are not allowed at all. */
function isHostText(text: string): boolean {
  return !/[ \\^`{|}#/?@%]/.test(text.replace(/%[89a-f][0-9a-f]/gi, '')) && isEscaped(text)
}
