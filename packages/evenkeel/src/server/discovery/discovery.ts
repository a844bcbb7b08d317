/**
 * Discovery documents: aggregated and separate, as bytes with their hash, built on first use and cached.
 *
 * A Discovery never changes. When a CRD adds or removes resources, a new one replaces it, and its hashes invalidate the
 * caches of clients.
 */
import { createHash } from 'node:crypto'
import { formatApiVersion, type JsonObject } from '#api'
import type { Resource, Subresource, Verb } from '@evenkeel/builtins'
import { makeDocument, type ServedDocument } from './document.ts'
import { groupResources, withRemote, type RemoteEntry, type ServedGroup, type ServedVersion } from './groups.ts'

interface DiscoveryOptions {
  /** Host and port that the `/api` document names. @default none */
  readonly serverAddress?: string
  /** Versions that other servers serve. @default none */
  readonly remote?: readonly RemoteEntry[]
}

interface DiscoveryDocumentOptions {
  /** The one-document form, which exists for `/api` and `/apis` only. @default false */
  readonly aggregated?: boolean
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export class Discovery {
  readonly #groups: ReadonlyMap<string, ServedGroup>
  readonly #serverAddress: string | undefined
  readonly #documents = new Map<string, ServedDocument>()

  constructor(resources: readonly Resource[], { serverAddress, remote = [] }: DiscoveryOptions = {}) {
    this.#groups = new Map(withRemote(groupResources(resources), remote).map((group) => [group.name, group]))
    this.#serverAddress = serverAddress
  }

  /** The document at a path, or undefined when there is none. A slash at the end of the path does not matter. */
  document(path: string, { aggregated = false }: DiscoveryDocumentOptions = {}): ServedDocument | undefined {
    const clean = path.endsWith('/') ? path.slice(0, -1) : path
    const key = aggregated ? `${clean}?aggregated` : clean
    const known = this.#documents.get(key)
    if (known) return known
    const content = aggregated ? this.#aggregated(clean) : this.#legacy(clean.split('/').slice(1))
    if (!content) return undefined
    const document = makeDocument(`${JSON.stringify(content)}\n`, aggregated ? aggregatedType : 'application/json')
    this.#documents.set(key, document)
    return document
  }

  #aggregated(path: string): JsonObject | undefined {
    if (path === '/api') return groupDiscoveryList(this.#select((name) => name === ''))
    if (path === '/apis') return groupDiscoveryList(this.#select((name) => name !== ''))
    return undefined
  }

  #legacy([prefix, ...names]: readonly string[]): JsonObject | undefined {
    if (prefix === 'api') return this.#coreDocument(names)
    if (prefix !== 'apis') return undefined
    const [name, version, ...more] = names
    if (name === undefined) return groupList(this.#select((group) => group !== ''))
    const group = name === '' ? undefined : this.#groups.get(name)
    if (!group || more.length > 0) return undefined
    return version === undefined ? groupDocument(group) : resourceListOf(group, version)
  }

  #coreDocument([version, ...more]: readonly string[]): JsonObject | undefined {
    const core = this.#groups.get('') ?? { name: '', versions: [] }
    if (more.length > 0) return undefined
    return version === undefined ? coreVersions(core, this.#serverAddress) : resourceListOf(core, version)
  }

  #select(isWanted: (name: string) => boolean): ServedGroup[] {
    return [...this.#groups.values()].filter(({ name }) => isWanted(name))
  }
}

function resourceListOf({ versions }: ServedGroup, version: string): JsonObject | undefined {
  const served = versions.find((one) => one.version === version)
  return served && resourceList(served)
}

// Aggregated discovery (`apidiscovery.k8s.io/v2`): all groups with all versions, resources and subresources. Built-in
// kinds omit a group and version equal to those of the list, custom resources repeat them, as upstream does; clients
// accept both.

/** `/api` for the core group, `/apis` for all others. */
export function groupDiscoveryList(groups: readonly ServedGroup[]): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(groupDiscovery),
  }
}

function groupDiscovery({ name, versions }: ServedGroup): JsonObject {
  return { metadata: name === '' ? {} : { name }, versions: versions.map(versionDiscovery) }
}

function versionDiscovery({ version, resources, remote }: ServedVersion): JsonObject {
  if (remote) return remote
  return { version, resources: resources.map(resourceDiscovery), freshness: 'Current' }
}

function resourceDiscovery(resource: Resource): JsonObject {
  const { plural, scope, singular, shortNames, categories, subresources } = resource
  return {
    resource: plural,
    responseKind: responseKind(resource, resource),
    scope,
    singularResource: singular,
    verbs: shownVerbs(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((subresource) => subresourceDiscovery(resource, subresource)),
    }),
  }
}

function subresourceDiscovery(resource: Resource, subresource: Subresource): JsonObject {
  return { subresource: subresource.name, responseKind: responseKind(resource, subresource), verbs: subresource.verbs }
}

function responseKind(resource: Resource, { group, version, kind }: Resource | Subresource): JsonObject {
  const isHere = group === resource.group && version === resource.version
  return isHere && !resource.custom ? { group: '', version: '', kind } : { group, version, kind }
}

// Separate documents: the core versions, the list of groups, one group, one group version. Fields are in upstream's
// order, so that documents compare byte by byte. Documents of the core group have no apiVersion, as upstream.

/** `/api`. */
export function coreVersions({ versions }: ServedGroup, serverAddress: string | undefined): JsonObject {
  return {
    kind: 'APIVersions',
    versions: versions.map(({ version }) => version),
    serverAddressByClientCIDRs: serverAddress === undefined ? [] : [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis`: every group but the core one. */
export function groupList(groups: readonly ServedGroup[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(apiGroup) }
}

/** `/apis/GROUP`. */
export function groupDocument(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }
}

/** `/api/v1` and `/apis/GROUP/VERSION`. */
export function resourceList(served: ServedVersion): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(served.group !== '' && { apiVersion: 'v1' }),
    groupVersion: formatApiVersion(served),
    resources: served.resources.flatMap((resource) => [
      apiResource(resource),
      ...resource.subresources.map((subresource) => apiSubresource(resource, subresource)),
    ]),
  }
}

function apiGroup({ name, versions }: ServedGroup): JsonObject {
  const described = versions.map(({ group, version }) => ({
    groupVersion: formatApiVersion({ group, version }),
    version,
  }))
  return { name, versions: described, preferredVersion: described[0] }
}

function apiResource(resource: Resource): JsonObject {
  const { plural, singular, scope, kind, shortNames, categories, virtual } = resource
  return {
    name: plural,
    singularName: singular,
    namespaced: scope === 'Namespaced',
    kind,
    verbs: shownVerbs(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(!virtual && { storageVersionHash: storageVersionHash(resource) }),
  }
}

function apiSubresource(resource: Resource, { name, verbs, group, version, kind }: Subresource): JsonObject {
  return {
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.scope === 'Namespaced',
    ...((group !== resource.group || version !== resource.version) && { group, version }),
    kind,
    verbs,
  }
}

/** Changes with the stored version, without revealing it to clients. */
function storageVersionHash({ storage: { group, version, kind } }: Resource): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}

// The verbs that discovery lists for a resource.

const writes: ReadonlySet<Verb> = new Set(['create', 'patch', 'update'])

/** All verbs; for a terminating resource only those that allow its deletion. */
export function shownVerbs({ verbs, strategy: rules }: Resource): readonly Verb[] {
  return rules.createForbidden?.() === undefined ? verbs : verbs.filter((verb) => !writes.has(verb))
}
