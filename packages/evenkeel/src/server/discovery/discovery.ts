/**
 * What is served, as documents: bytes with their hash, made when first asked for and kept.
 *
 * A Discovery never changes. When a definition adds or removes resources, a new one takes its place, and its hashes
 * tell clients to throw away what they know.
 */
import type { JsonObject } from '#api'
import type { Resource } from '../resources/resource.ts'
import { groupDiscoveryList } from './aggregated.ts'
import { makeDocument, type ServedDocument } from './document.ts'
import { groupResources, type ServedGroup } from './groups.ts'
import { coreVersions, groupDocument, groupList, resourceList } from './legacy.ts'

interface DiscoveryOptions {
  /** Host and port that the `/api` document names. @default none */
  readonly serverAddress?: string
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

  constructor(resources: readonly Resource[], { serverAddress }: DiscoveryOptions = {}) {
    this.#groups = new Map(groupResources(resources).map((group) => [group.name, group]))
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
