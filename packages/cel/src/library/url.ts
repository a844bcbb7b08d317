/**
 * URLs and their parts.
 */
import { EntryMap, ListValue } from '../collections.ts'
import { member, overload, type Library } from '../environment.ts'
import { quote } from '../primitives/text.ts'
import { boolType, listOf, mapOf, objectType, stringType } from '../types.ts'
import { EvaluationError, Opaque, type Value } from '../values.ts'
import { isIpv6 } from './ip.ts'

export const urlType = objectType('kubernetes.URL')

class UrlValue extends Opaque {
  readonly typeName = 'kubernetes.URL'
  readonly url: ParsedUrl

  constructor(url: ParsedUrl) {
    super()
    this.url = url
  }

  equals(other: Opaque): boolean {
    return other instanceof UrlValue && this.toString() === other.toString()
  }

  override toString(): string {
    const { scheme, opaque, hasAuthority, user, host, path, query, fragment } = this.url
    const start = scheme === '' ? '' : `${scheme}:`
    const authority = !hasAuthority ? '' : `//${user === undefined ? '' : `${user}@`}${host}`
    const rest = opaque === '' ? authority + escapedPath(path) : opaque
    return `${start}${rest}${query === undefined ? '' : `?${query}`}${fragment === undefined ? '' : `#${fragment}`}`
  }
}

const part = (id: string, read: (url: ParsedUrl) => string) => [
  member(id, [urlType], { to: stringType, run: ({ url }: UrlValue) => read(url) }),
]

export const url: Library = {
  url: [overload('string_to_url', [stringType], { to: urlType, run: readUrl })],
  isURL: [
    overload('is_url_string', [stringType], {
      to: boolType,
      run: (text: string) => typeof parseRequestUrl(text) !== 'string',
    }),
  ],
  getScheme: part('url_get_scheme', ({ scheme }) => scheme),
  getHost: part('url_get_host', ({ host }) => host),
  getHostname: part('url_get_hostname', ({ host }) => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1')),
  getPort: part('url_get_port', ({ host }) => /:(\d*)$/.exec(host)?.[1] ?? ''),
  getEscapedPath: part('url_get_escaped_path', ({ path }) => escapedPath(path)),
  getQuery: [member('url_get_query', [urlType], { to: mapOf(stringType, listOf(stringType)), run: queryOf })],
}

function readUrl(text: string): UrlValue | EvaluationError {
  const problem = parseRequestUrl(text)
  const parsed = typeof problem === 'string' ? problem : parseUrl(text)
  return typeof parsed === 'string'
    ? new EvaluationError(`URL parse error during conversion from string: ${parsed}`)
    : new UrlValue(parsed)
}

/** Invalid pairs and pairs with a semicolon are left out, as in Go. */
function queryOf({ url: { query = '' } }: UrlValue): Value {
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const [name = '', ...rest] = pair.split('=')
    const [key, value] = [unescapeUrl(name, { plusIsSpace: true }), unescapeUrl(rest.join('='), { plusIsSpace: true })]
    if (key === undefined || value === undefined) continue
    values.set(key, [...(values.get(key) ?? []), value])
  }
  return EntryMap.from([...values].map(([key, found]) => [key, ListValue.of(found)]))
}

/** A URL parsed as in Go, not as in browsers: nothing is normalized, and the same URLs are invalid. */
interface ParsedUrl {
  readonly scheme: string
  /** The part after the colon of a URL such as `mailto:a@b`. */
  readonly opaque: string
  /** Whether `//` follows the scheme, also with an empty host. */
  readonly hasAuthority: boolean
  readonly user: string | undefined
  /** With the port, unescaped. */
  readonly host: string
  /** As written. */
  readonly path: string
  readonly query: string | undefined
  readonly fragment: string | undefined
}

/** A URL with a scheme or an absolute path, or the error message of Go. */
export function parseRequestUrl(text: string): ParsedUrl | string {
  const parsed = text === '' ? 'empty url' : parse(text, true)
  return typeof parsed === 'string' ? `parse ${quote(text)}: ${parsed}` : parsed
}

/** Like {@link parseRequestUrl}, but removes the fragment first. */
function parseUrl(text: string): ParsedUrl | string {
  const hash = text.indexOf('#')
  const parsed = parse(hash < 0 ? text : text.slice(0, hash), false)
  if (typeof parsed === 'string') return `parse ${quote(text)}: ${parsed}`
  return { ...parsed, fragment: hash < 0 ? undefined : text.slice(hash + 1) }
}

/** Decodes escapes such as `%41`; undefined for an invalid escape. */
export function unescapeUrl(text: string, { plusIsSpace = false }: { plusIsSpace?: boolean } = {}): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined
  const plain = plusIsSpace ? text.replaceAll('+', ' ') : text
  return plain.replace(/(?:%[0-9a-fA-F]{2})+/g, (escapes) => {
    const bytes = Uint8Array.from(escapes.slice(1).split('%'), (hex) => parseInt(hex, 16))
    return new TextDecoder().decode(bytes)
  })
}

/** The path as written if that is valid, otherwise escaped. */
export function escapedPath(path: string): string {
  if (path === '*' || /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/]|%[0-9a-fA-F]{2})*$/.test(path)) return path
  return escape(unescapeUrl(path) ?? path)
}

function escape(text: string): string {
  return text.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]+/g, (part) =>
    [...new TextEncoder().encode(part)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}

function parse(text: string, viaRequest: boolean): ParsedUrl | string {
  if ([...text].some((character) => character < ' ' || character === '\x7f'))
    return 'net/url: invalid control character in URL'
  if (text.startsWith(':')) return 'missing protocol scheme'
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase() ?? ''
  const rest = scheme === '' ? text : text.slice(scheme.length + 1)
  const mark = rest.indexOf('?')
  const body = mark < 0 ? rest : rest.slice(0, mark)
  const query = mark < 0 ? undefined : rest.slice(mark + 1)
  const common = { scheme, query, fragment: undefined, opaque: '', user: undefined, host: '', hasAuthority: false }
  if (!body.startsWith('/') && text !== '*') {
    if (scheme !== '') return { ...common, opaque: body, path: '' }
    if (viaRequest) return 'invalid URI for request'
    if (body.split('/', 1)[0]!.includes(':')) return 'first path segment in URL cannot contain colon'
  }
  const hasAuthority = body.startsWith('//') && (scheme !== '' || (!viaRequest && !body.startsWith('///')))
  if (!hasAuthority) return withPath({ ...common, path: body })
  const end = body.indexOf('/', 2)
  const authority = parseAuthority(body.slice(2, end < 0 ? undefined : end))
  return typeof authority === 'string'
    ? authority
    : withPath({ ...common, ...authority, hasAuthority: true, path: end < 0 ? '' : body.slice(end) })
}

function withPath(url: ParsedUrl): ParsedUrl | string {
  return unescapeUrl(url.path) === undefined ? invalidEscape(url.path) : url
}

function invalidEscape(text: string): string {
  const at = text.search(/%(?![0-9a-fA-F]{2})/)
  return `invalid URL escape ${quote(text.slice(at, at + 3))}`
}

function parseAuthority(authority: string): { user: string | undefined; host: string } | string {
  const at = authority.lastIndexOf('@')
  const host = parseHost(authority.slice(at + 1))
  if (host.problem !== undefined) return host.problem
  if (at < 0) return { user: undefined, host: host.text }
  const user = authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return 'net/url: invalid userinfo'
  return unescapeUrl(user) === undefined ? invalidEscape(user) : { user, host: host.text }
}

function parseHost(host: string): { text: string; problem?: string } {
  const bad = (problem: string) => ({ text: '', problem })
  if (host.startsWith('[')) return parseBracketed(host, bad)
  if (host.includes('[')) return bad('invalid IP-literal')
  const colon = host.indexOf(':')
  const port = colon < 0 ? '' : host.slice(colon)
  if (!/^(?::\d*)?$/.test(port)) return bad(`invalid port ${quote(port)} after host`)
  // An escape in a host may only encode a byte beyond ASCII or a percent sign.
  const escape = /%(?:25|[89a-fA-F][0-9a-fA-F])|(%.{0,2})/g
  for (const [, wrong] of host.matchAll(escape))
    if (wrong !== undefined) return bad(`invalid URL escape ${quote(wrong)}`)
  const invalid = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)
  if (invalid) return bad(`invalid character ${quote(invalid[0])} in host name`)
  return { text: unescapeUrl(host) ?? host }
}

function parseBracketed(
  host: string,
  bad: (problem: string) => { text: string; problem: string },
): { text: string; problem?: string } {
  const close = host.lastIndexOf(']')
  if (close < 0) return bad("missing ']' in host")
  const port = host.slice(close + 1)
  if (!/^(?::\d*)?$/.test(port)) return bad(`invalid port ${quote(port)} after host`)
  const inner = host.slice(1, close)
  return isIpv6(inner.replace(/%25.+$/, '')) ? { text: host.replace('%25', '%') } : bad('invalid host')
}
