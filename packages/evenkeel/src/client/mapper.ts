/**
 * The REST mapper: from a kind to its resource, known ones at once, others by discovery.
 *
 * Discovery documents come in two forms: aggregated, two responses for everything, and the old one, a response for each
 * group version. They come from servers of any kind, so missing or mistyped parts are ignored.
 *
 * Invariants: a found kind stays known until it is forgotten; concurrent lookups cause one discovery; a missing kind is
 * looked up again, because its CRD may have been installed, but at most once in `reloadMs`: a typing mistake in a loop
 * does not become a load.
 */
import {
  formatApiVersion,
  isJsonObject,
  isNotFound,
  isServiceUnavailable,
  parseApiVersion,
  type JsonObject,
  type JsonValue,
  type Kind,
  type TypeMeta,
} from '#api'
import { abortable, type AbortOptions, type Clock } from '#base'
import {
  formatKindName,
  isKind,
  isMetadataKind,
  resourceOf,
  type DiscoveredResource,
  type KindLike,
  type Resource,
} from './resource.ts'
import type { RestClient } from './rest-client.ts'

const brand = Symbol.for('evenkeel.UnknownKindError')

/** How many missing kinds are remembered. */
const missesMax = 1000

/** The server does not have this kind (yet). */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError'
  readonly kind: TypeMeta

  constructor({ apiVersion, kind }: TypeMeta, { cause }: { cause?: unknown } = {}) {
    super(
      `the server has no kind ${formatKindName({ apiVersion, kind })}: install its CustomResourceDefinition, or correct apiVersion and kind`,
      cause === undefined ? undefined : { cause },
    )
    this.kind = { apiVersion, kind }
  }

  get [brand](): true {
    return true
  }
}

export function isUnknownKind(error: unknown): error is UnknownKindError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}

interface RestMapperOptions {
  readonly rest: RestClient
  readonly clock: Clock
  /**
   * For how long a missing kind is not looked up again.
   *
   * @default 5000
   */
  readonly reloadMs?: number
}

export class RestMapper {
  readonly #exchange: RestClient
  readonly #clock: Clock
  readonly #reloadMs: number
  readonly #known = new Map<string, Resource>()
  readonly #ofKinds = new WeakMap<Kind, Resource>()
  #discovered: readonly DiscoveredResource[] | undefined
  /** When a kind was last looked up in vain. */
  readonly #missedAtMs = new Map<string, number>()
  #loading: Promise<readonly DiscoveredResource[]> | undefined

  constructor({ rest: exchange, clock, reloadMs = 5000 }: RestMapperOptions) {
    this.#exchange = exchange
    this.#clock = clock
    this.#reloadMs = reloadMs
  }

  /** Adds a kind, so that it needs no discovery. */
  remember(kind: Kind): Resource {
    const known = this.#ofKinds.get(kind)
    if (known) return known
    const resource = resourceOf(kind)
    this.#ofKinds.set(kind, resource)
    if (!this.#known.has(keyOf(kind))) this.#known.set(keyOf(kind), resource)
    return resource
  }

  /**
   * The resource of a kind.
   *
   * @throws {UnknownKindError} when the server does not have it.
   */
  async resolve(kind: KindLike, options: AbortOptions = {}): Promise<Resource> {
    return await (this.find(kind) ?? this.#discover(isMetadataKind(kind) ? kind.of : kind, options))
  }

  /** The resource of a kind, if it is known without discovery. */
  find(kind: KindLike): Resource | undefined {
    const real = isMetadataKind(kind) ? kind.of : kind
    return isKind(real) ? this.remember(real) : this.#known.get(keyOf(real))
  }

  /** Everything the server has, in its order. */
  async resources({ signal, reload = false }: AbortOptions & { reload?: boolean } = {}): Promise<
    readonly DiscoveredResource[]
  > {
    return this.#discovered && !reload ? this.#discovered : await this.#load({ signal })
  }

  /** Forgets discovery: the next lookup requests it again. */
  forget(): void {
    this.#known.clear()
    this.#discovered = undefined
    this.#missedAtMs.clear()
  }

  async #discover(kind: TypeMeta, options: AbortOptions): Promise<Resource> {
    const key = keyOf(kind)
    const sinceMs = this.#clock.monotonic() - (this.#missedAtMs.get(key) ?? -Infinity)
    if (sinceMs >= this.#reloadMs) await this.#load(options)
    const found = this.#known.get(key)
    if (found) return found
    if (sinceMs >= this.#reloadMs) this.#noteMiss(key)
    throw new UnknownKindError(kind)
  }

  #noteMiss(key: string): void {
    if (this.#missedAtMs.size >= missesMax) this.#missedAtMs.clear()
    this.#missedAtMs.set(key, this.#clock.monotonic())
  }

  /** One discovery for all that wait; an aborted wait does not end it for the others. */
  #load({ signal }: AbortOptions): Promise<readonly DiscoveredResource[]> {
    this.#loading ??= this.#ask().finally(() => {
      this.#loading = undefined
    })
    return abortable(this.#loading, { signal })
  }

  async #ask(): Promise<readonly DiscoveredResource[]> {
    const documents = await Promise.all(['/api', '/apis'].map((target) => this.#document(target, discoveryAccept)))
    const lists = await Promise.all(
      documents.map(async (document) => (document ? await this.#resourcesOf(document) : [])),
    )
    const discovered = lists.flat()
    this.#discovered = discovered
    for (const resource of discovered) this.#known.set(keyOf(resource), resource)
    return discovered
  }

  async #resourcesOf(document: JsonObject): Promise<DiscoveredResource[]> {
    const aggregated = readAggregated(document)
    if (aggregated) return aggregated
    const versions = readGroupVersions(document)
    const lists = await Promise.all(
      versions.map(async (apiVersion) => {
        const target = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
        const list = await this.#document(target, 'application/json')
        return list ? readResourceList(list, apiVersion) : []
      }),
    )
    return lists.flat()
  }

  /** A document; undefined when the server has none, which is the same as an empty one. */
  async #document(target: string, accept: string): Promise<JsonObject | undefined> {
    try {
      return await this.#exchange.json({ method: 'GET', target, accept })
    } catch (error) {
      // An aggregated API whose server is down must not hide all the others.
      if (isNotFound(error) || isServiceUnavailable(error)) return undefined
      throw error
    }
  }
}

function keyOf({ apiVersion, kind }: TypeMeta): string {
  return `${apiVersion} ${kind}`
}

/** Requests the aggregated form and accepts the old one. */
const discoveryAccept =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'

/** The resources of an aggregated document; undefined when it is none. */
function readAggregated(document: JsonObject): DiscoveredResource[] | undefined {
  if (document['kind'] !== 'APIGroupDiscoveryList') return undefined
  return objectsOf(document['items']).flatMap((item) => {
    const group = textOf(objectOf(item['metadata'])['name'])
    return objectsOf(item['versions']).flatMap((version) => readVersion(version, group))
  })
}

function readVersion(document: JsonObject, group: string): DiscoveredResource[] {
  const version = textOf(document['version'])
  return objectsOf(document['resources']).map((resource) => ({
    group,
    version,
    apiVersion: formatApiVersion({ group, version }),
    kind: textOf(objectOf(resource['responseKind'])['kind']),
    plural: textOf(resource['resource']),
    singular: textOf(resource['singularResource']),
    namespaced: resource['scope'] === 'Namespaced',
    verbs: textsOf(resource['verbs']),
    shortNames: textsOf(resource['shortNames']),
    categories: textsOf(resource['categories']),
    subresources: objectsOf(resource['subresources']).map((subresource) => textOf(subresource['subresource'])),
  }))
}

/** The group versions that a server of the old kind lists: of `/api` and of `/apis`. */
function readGroupVersions(document: JsonObject): string[] {
  if (document['kind'] === 'APIVersions') return textsOf(document['versions'])
  return objectsOf(document['groups']).flatMap((group) =>
    objectsOf(group['versions']).map((version) => textOf(version['groupVersion'])),
  )
}

/** The resources of one group version, in the old form. */
function readResourceList(document: JsonObject, apiVersion: string): DiscoveredResource[] {
  const { group, version } = parseApiVersion(apiVersion)
  const resources = objectsOf(document['resources'])
  return resources
    .filter(({ name }) => !textOf(name).includes('/'))
    .map((resource) => {
      const plural = textOf(resource['name'])
      return {
        group,
        version,
        apiVersion,
        plural,
        kind: textOf(resource['kind']),
        singular: textOf(resource['singularName']),
        namespaced: resource['namespaced'] === true,
        verbs: textsOf(resource['verbs']),
        shortNames: textsOf(resource['shortNames']),
        categories: textsOf(resource['categories']),
        subresources: resources
          .map(({ name }) => textOf(name))
          .filter((name) => name.startsWith(`${plural}/`))
          .map((name) => name.slice(plural.length + 1)),
      }
    })
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
