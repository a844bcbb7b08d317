/**
 * Resource paths, such as `/api/v1/namespaces/NS/pods/NAME/status`, and query parameters.
 *
 * This is the only parser of paths, for client and server: the authorizer checks exactly the object that storage
 * accesses. A path is split before it is decoded, so an encoded slash never creates a segment.
 */
import { badRequest } from '#api'

export interface ResourcePath {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** Empty for a cluster-scoped path. For `namespaces/NAME` itself it is the name. */
  readonly namespace: string
  readonly resource: string
  /** Empty for a collection. */
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
  /** The segments after the subresource, for proxies. */
  readonly rest: readonly string[]
  /** The deprecated watch path: `/api/v1/watch/...`. */
  readonly watch: boolean
}

/** Subresources of a Namespace; any other segment at this position is a resource in the namespace. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

/**
 * Parses a resource path; undefined for a non-resource path (`/healthz`, `/apis/apps/v1`).
 *
 * @throws {ApiError} `BadRequest`, when a segment is not properly encoded.
 */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const segments = path.split('/')
  if (segments.shift() !== '') return undefined
  if (segments.at(-1) === '') segments.pop()
  const location = groupVersionOf(segments)
  if (location === undefined) return undefined
  const rest = segments.slice(location.consumed).map(decodeSegment)
  const watch = rest[0] === 'watch' && rest.length > 1
  if (watch) rest.shift()
  if (rest.length === 0 || rest.includes('')) return undefined
  return { group: location.group, version: location.version, watch, ...resourceOf(rest) }
}

/** The path of an object, a collection or a subresource; the inverse of {@link parseResourcePath}. */
export function formatResourcePath(path: Partial<ResourcePath> & Pick<ResourcePath, 'version' | 'resource'>): string {
  const { group = '', version, namespace = '', resource, name = '', subresource = '' } = path
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const inside = namespace !== '' && resource !== 'namespaces' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const object = name === '' ? '' : `/${encodeURIComponent(name)}`
  return `${root}${inside}/${resource}${object}${subresource === '' ? '' : `/${subresource}`}`
}

function groupVersionOf(segments: readonly string[]): { group: string; version: string; consumed: number } | undefined {
  const [root, first = '', second = ''] = segments
  if (root === 'api' && first !== '') return { group: '', version: first, consumed: 2 }
  if (root === 'apis' && first !== '' && second !== '') return { group: first, version: second, consumed: 3 }
  return undefined
}

function resourceOf(
  parts: readonly string[],
): Pick<ResourcePath, 'namespace' | 'resource' | 'name' | 'subresource' | 'rest'> {
  const [first = '', namespace = '', third = ''] = parts
  const inside = first === 'namespaces' && parts.length > 2 && !namespaceSubresources.has(third)
  const own = inside ? parts.slice(2) : parts
  const [resource = '', name = '', subresource = ''] = own
  return {
    namespace: inside || first === 'namespaces' ? namespace : '',
    resource,
    name,
    subresource,
    rest: own.slice(3),
  }
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw badRequest(`the path has a segment that is not properly encoded: ${segment}`, { cause })
  }
}

/**
 * The query parameters of a request. They are read often and mostly empty, and lookups in `URLSearchParams` are slow, so
 * the values are copied to a map once.
 */
export class Query {
  readonly #values: ReadonlyMap<string, readonly string[]> | undefined

  constructor(text = '') {
    if (text === '') return
    const values = new Map<string, string[]>()
    for (const [name, value] of new URLSearchParams(text)) {
      const known = values.get(name)
      if (known) known.push(value)
      else values.set(name, [value])
    }
    this.#values = values
  }

  /** The first value of a name; null when there is none. */
  get(name: string): string | null {
    return this.#values?.get(name)?.[0] ?? null
  }

  getAll(name: string): readonly string[] {
    return this.#values?.get(name) ?? []
  }

  has(name: string): boolean {
    return this.#values?.has(name) ?? false
  }
}
