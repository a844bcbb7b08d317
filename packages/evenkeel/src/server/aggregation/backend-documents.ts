/**
 * What aggregated servers say about themselves: discovery and OpenAPI, fetched when they are checked.
 *
 * Documents are fetched with the hash of the known one, so an unchanged one is not sent again. One that cannot be fetched
 * counts as missing: discovery then shows the version as stale. Sizes are limited, because these documents are kept.
 */
import { isJsonObject, type JsonObject } from '#api'
import { ByteBuffer, deadline, type Clock, type Logger } from '#base'
import { readJson, type WireResponse } from '#wire'
import type { AggregatedApi } from './api-services.ts'
import { aggregatorUser, type Backends } from './backends.ts'
import { legacyVersion, versionIn } from './remote-discovery.ts'

interface BackendDocumentsOptions {
  readonly backends: Backends
  readonly clock: Clock
  readonly log: Logger
  readonly stopping: AbortSignal
}

/** The documents of one group version. */
export interface RemoteVersion {
  readonly api: AggregatedApi
  /** An `APIVersionDiscovery`. */
  readonly discovery: JsonObject
  /** The hash of the OpenAPI v3 document; undefined when there is none. */
  readonly openApiHash: string | undefined
  /** The OpenAPI v2 document of the whole server. */
  readonly swagger: JsonObject | undefined
}

interface FetchedDocument {
  readonly etag: string | undefined
  readonly value: JsonObject
}

const fetchMs = 5000
/** A whole kube-apiserver has 3 MiB; a backend mostly has a tenth. */
const bytesMax = 8 * 1024 * 1024
const valuesMax = 500_000
const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export class BackendDocuments {
  readonly #options: BackendDocumentsOptions
  readonly #versions = new Map<string, RemoteVersion>()
  readonly #fetched = new Map<string, Map<string, FetchedDocument>>()
  #generation = 0

  constructor(options: BackendDocumentsOptions) {
    this.#options = options
  }

  /** Grows when a document changes. */
  get generation(): number {
    return this.#generation
  }

  /** The documents of every group version that was checked. */
  all(): readonly RemoteVersion[] {
    return [...this.#versions.values()]
  }

  /** Forgets those of other group versions. */
  retain(apis: readonly AggregatedApi[]): void {
    const names = new Set(apis.map(({ name }) => name))
    for (const name of this.#versions.keys()) {
      if (names.has(name)) continue
      this.#versions.delete(name)
      this.#fetched.delete(name)
      this.#generation++
    }
  }

  /** Fetches the documents of a server that answers, or marks those of another as stale. Never rejects. */
  async refresh(api: AggregatedApi, { isAvailable }: { isAvailable: boolean }): Promise<void> {
    const next = isAvailable ? await this.#fetchAll(api) : unavailable(api)
    const before = this.#versions.get(api.name)
    this.#versions.set(api.name, next)
    if (!before || !isSame(before, next)) this.#generation++
  }

  async #fetchAll(api: AggregatedApi): Promise<RemoteVersion> {
    const discovery = await this.#discovery(api)
    const index = await this.#fetch(api, '/openapi/v3', 'application/json')
    const swagger = await this.#fetch(api, '/openapi/v2', 'application/json')
    return { api, discovery, openApiHash: hashIn(index, api), swagger }
  }

  /** The aggregated form, or the separate documents of a server that does not have it. */
  async #discovery(api: AggregatedApi): Promise<JsonObject> {
    const all = await this.#fetch(api, '/apis', `${aggregatedType},application/json`)
    const version = all?.['kind'] === 'APIGroupDiscoveryList' ? versionIn(all, api) : undefined
    if (version) return { ...version, freshness: 'Current' }
    const legacy = await this.#fetch(api, `/apis/${api.group}/${api.version}`, 'application/json')
    return legacy ? { ...legacyVersion(legacy, api), freshness: 'Current' } : stale(api)
  }

  async #fetch(api: AggregatedApi, target: string, accept: string): Promise<JsonObject | undefined> {
    const { backends, clock, log, stopping } = this.#options
    const mine = this.#fetched.get(api.name) ?? new Map<string, FetchedDocument>()
    this.#fetched.set(api.name, mine)
    const known = mine.get(target)
    const { signal, done } = deadline(clock, fetchMs, { signal: stopping })
    try {
      const headers = { accept, ...(known?.etag !== undefined && { 'if-none-match': known.etag }) }
      const response = await backends.send(api, { method: 'GET', target, headers, signal }, aggregatorUser)
      const bytes = await wholeBody(response, signal)
      if (response.status === 304 && known) return known.value
      mine.delete(target)
      if (response.status !== 200) return undefined
      const { value } = readJson(bytes, { duplicates: false, valuesMax })
      if (!isJsonObject(value)) return undefined
      mine.set(target, { etag: response.headers['etag'], value })
      return value
    } catch (error) {
      log.debug('cannot read a document of an aggregated server', { object: api.name, path: target, error })
      return undefined
    } finally {
      done()
    }
  }
}

/** @throws {Error} when a body is too large or late. */
async function wholeBody({ body }: WireResponse, signal: AbortSignal): Promise<Uint8Array> {
  if (body === undefined || body instanceof Uint8Array) return body ?? new Uint8Array()
  const whole = new ByteBuffer()
  for await (const chunk of body) {
    signal.throwIfAborted()
    if (whole.size + chunk.byteLength > bytesMax) throw new Error(`the document is larger than ${bytesMax} bytes`)
    whole.append(chunk)
  }
  return whole.bytes
}

function unavailable(api: AggregatedApi): RemoteVersion {
  return { api, discovery: stale(api), openApiHash: undefined, swagger: undefined }
}

function stale({ version }: AggregatedApi): JsonObject {
  return { version, freshness: 'Stale' }
}

function isSame(before: RemoteVersion, next: RemoteVersion): boolean {
  return (
    before.openApiHash === next.openApiHash &&
    before.swagger === next.swagger &&
    JSON.stringify(before.discovery) === JSON.stringify(next.discovery)
  )
}

/** The hash in the index of OpenAPI v3: `"serverRelativeURL": "/openapi/v3/apis/G/V?hash=ABC"`. */
function hashIn(index: JsonObject | undefined, { group, version }: AggregatedApi): string | undefined {
  const paths = index?.['paths']
  const entry = isJsonObject(paths) ? paths[`apis/${group}/${version}`] : undefined
  const url = isJsonObject(entry) ? entry['serverRelativeURL'] : undefined
  return typeof url === 'string' ? (/[?&]hash=([\w-]+)/.exec(url)?.[1] ?? '') : undefined
}
