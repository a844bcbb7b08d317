/**
 * Aggregated API servers: group versions that an APIService sends to another server.
 *
 *   api-services.ts        which group versions
 *   service-address.ts     where their Service is
 *   backends.ts            connections, with the certificate of this proxy
 *   proxy.ts               requests
 *   availability.ts        the condition Available
 *   backend-documents.ts   their discovery and OpenAPI documents
 *
 * Most servers have no such APIService: then there is one empty index, and the rest is not even loaded.
 */
import type { WireResponse } from '#wire'
import type { RequestContext } from '../request-context.ts'
import type { AggregatedApi, ApiServices } from './api-services.ts'
import type { RemoteVersion } from './backend-documents.ts'
import type { AggregationRuntime, AggregationServices } from './runtime.ts'

export class Aggregation {
  readonly #services: AggregationServices
  readonly #apis: ApiServices
  #loading: Promise<AggregationRuntime> | undefined
  #runtime: AggregationRuntime | undefined

  constructor(services: AggregationServices) {
    this.#services = services
    this.#apis = services.apis
  }

  /** Begins to check the aggregated servers, now or with the first APIService. The informers have started. */
  start(): void {
    const { log } = this.#services
    const begin = (): void => {
      if (this.#apis.all().length === 0) return
      this.#load().catch((error: unknown) => {
        log.error('cannot serve aggregated APIs', { error })
      })
    }
    // The listener runs before the index has the change.
    this.#apis.onChange(() => {
      queueMicrotask(begin)
    })
    begin()
  }

  /** The aggregated API of a path; undefined when this server answers. */
  find(path: string): AggregatedApi | undefined {
    return this.#apis.findPath(path)
  }

  async handle(context: RequestContext, api: AggregatedApi): Promise<WireResponse> {
    const { proxy } = this.#runtime ?? (await this.#load())
    return proxy.handle(context, api)
  }

  /** Grows when discovery or OpenAPI change. */
  get generation(): number {
    return this.#apis.generation + (this.#runtime?.documents.generation ?? 0)
  }

  /** The documents of all aggregated group versions; a version that was not checked yet is stale. */
  versions(): readonly RemoteVersion[] {
    const known = new Map(this.#runtime?.documents.all().map((one) => [one.api.name, one]))
    return this.#apis.all().map((api) => ({
      ...(known.get(api.name) ?? {
        discovery: { version: api.version, freshness: 'Stale' },
        openApiHash: undefined,
        swagger: undefined,
      }),
      api,
    }))
  }

  #load(): Promise<AggregationRuntime> {
    this.#loading ??= import('./runtime.ts').then(({ startAggregation }) => {
      this.#runtime = startAggregation(this.#services)
      return this.#runtime
    })
    return this.#loading
  }
}
