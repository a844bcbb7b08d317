/**
 * URLs and their parts.
 */
import { boolType, listOf, mapOf, objectType, stringType } from '../../check/type.ts'
import { ListValue } from '../../value/list.ts'
import { EntryMap } from '../../value/map.ts'
import { EvaluationError, Opaque, type Value } from '../../value/value.ts'
import { member, overload, type Library } from '../declare.ts'
import { escapedPath, parseRequestUrl, parseUrl, unescapeUrl, type ParsedUrl } from './url-parser.ts'

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

/** Pairs that are broken or hold a semicolon are left out, as Go does. */
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
