/**
 * Everything that is not about resources: health, version, metrics, discovery, OpenAPI.
 */
import { compareText } from '#api'
import type { JsonObject } from '#api'
import { negotiate } from '#wire'
import type { MediaShape, WireResponse } from '#wire'
import { answerOpenId } from '../authentication/accounts/openid.ts'
import type { Authentication } from '../authentication/authentication.ts'
import type { RequestContext } from '../call.ts'
import type { Discovery } from '../discovery/discovery.ts'
import type { ServedDocument } from '../discovery/document.ts'
import type { OpenApi } from '../openapi/openapi.ts'
import { replyDocument } from '../reply.ts'
import { unknownPath } from '../route.ts'
import type { Registry } from '../resources/registry.ts'
import { answerHealth } from './health.ts'
import type { HealthCheck } from './health.ts'
import type { RequestMetrics } from './metrics.ts'
import { versionDocument } from './version.ts'

/** Answers calls whose path is not about resources. */
export type NonResourceHandler = (call: RequestContext) => Promise<WireResponse>

interface NonResourceOptions {
  readonly registry: Registry
  readonly checks: readonly HealthCheck[]
  readonly metrics: RequestMetrics
  /** Host and port that clients reach us at, once that is known. */
  address(): string | undefined
  /** Whose tokens others verify by what is published here. */
  readonly authentication: Pick<Authentication, 'serviceAccounts' | 'jwksUri'>
}

export function makeNonResourceHandler({
  registry,
  checks,
  metrics,
  address,
  authentication: { serviceAccounts: accounts, jwksUri: keysUrl },
}: NonResourceOptions): NonResourceHandler {
  const documents = new DocumentCache(registry, address)
  return async (call) => {
    const {
      path,
      query,
      request: { method },
    } = call
    if (method !== 'GET' && method !== 'HEAD')
      return isKnownPath(path) ? plainText(405, 'Method Not Allowed') : plainText(404, '404 page not found')
    const health = answerHealth(path, query, checks)
    if (health) return health
    if (path === '/version' || path === '/version/')
      return replyDocument(call, versionDocument(), { choice: { format: 'json', pretty: true } })
    if (path === '/metrics')
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        body: Buffer.from(metrics.render()),
      }
    if (path === '/')
      return replyDocument(call, { paths: pathsOf(registry) }, { choice: { format: 'json', pretty: true } })
    const answer =
      answerOpenId(path, { tokens: accounts.tokens, jwksUri: keysUrl, address: address() }) ??
      (await documents.answer(call))
    if (answer) return answer
    if (isKnownGroup(path, registry)) throw unknownPath()
    return plainText(404, '404 page not found')
  }
}

function pathsOf(registry: Registry): string[] {
  const groups = registry
    .all()
    .filter(({ group }) => group !== '')
    .flatMap(({ group, version }) => [`/apis/${group}`, `/apis/${group}/${version}`])
  return [...new Set([...rootPaths, ...groups])].sort(compareText)
}

const rootPaths = [
  '/.well-known/openid-configuration',
  '/api',
  '/api/v1',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
]

/** Below a group that is served, a wrong path is answered as one about resources. */
export function isKnownGroup(path: string, registry: Registry): boolean {
  const [, root, group = ''] = path.split('/')
  return (root === 'api' && group !== '') || (root === 'apis' && registry.hasGroup(group))
}

function isKnownPath(path: string): boolean {
  return rootPaths.includes(path)
}

// client-go writes the version with an @, everybody else with a dot.
const openApiProtobuf = /application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf/

/** Discovery and OpenAPI, made anew when the set of resources has changed. */
class DocumentCache {
  readonly #registry: Registry
  readonly #address: () => string | undefined
  #generation = 0
  #discovery: Promise<Discovery> | undefined
  #openApi: Promise<OpenApi> | undefined

  constructor(registry: Registry, address: () => string | undefined) {
    this.#registry = registry
    this.#address = address
  }

  async answer(call: RequestContext): Promise<WireResponse | undefined> {
    const { path } = call
    this.#refresh()
    if (path.startsWith('/openapi/')) return this.#answerOpenApi(call)
    if (!/^\/apis?(?:\/|$)/.test(path)) return undefined
    const discovery = await (this.#discovery ??= discoveryOf(this.#registry, this.#address()))
    const isRoot = path === '/api' || path === '/apis'
    const { format, shape } = negotiate(call.request.headers['accept'], {
      formats: ['json', 'yaml', 'protobuf'],
      accepts: (wanted, of) => isRoot && of === 'json' && isAggregated(wanted),
    })
    const document = discovery.document(path, { aggregated: shape !== undefined })
    if (document === undefined) return undefined
    if (format === 'json') return replyServedDocument(document, call, { vary: isRoot })
    // The documents of the core group have no version of their own; in protobuf they need one.
    return replyDocument(
      call,
      { apiVersion: 'v1', ...(JSON.parse(Buffer.from(document.bytes).toString()) as JsonObject) },
      { choice: { format } },
    )
  }

  async #answerOpenApi(call: RequestContext): Promise<WireResponse | undefined> {
    this.#openApi ??= openApiOf(this.#registry)
    const openApi = await this.#openApi
    const protobuf = call.path === '/openapi/v2' && openApiProtobuf.test(call.request.headers['accept'] ?? '')
    const document = openApi.document(call.path, { protobuf })
    if (document === undefined) return undefined
    const hash = call.query.get('hash')
    const current = document.etag.slice(1, -1)
    if (hash !== null && hash !== current) return { status: 301, headers: { location: `${call.path}?hash=${current}` } }
    return replyServedDocument(document, call, {
      vary: true,
      ...(hash !== null && { cacheControl: 'public, immutable' }),
    })
  }

  #refresh(): void {
    if (this.#generation === this.#registry.generation) return
    this.#generation = this.#registry.generation
    this.#discovery = undefined
    // Whoever asked before keeps what it got; documents whose resources are the same are taken over.
    this.#openApi &&= openApiOf(this.#registry, this.#openApi)
  }
}

// Both are loaded when the first client asks: a server starts without them.
async function discoveryOf(registry: Registry, serverAddress: string | undefined): Promise<Discovery> {
  const made = await import('../discovery/discovery.ts')
  return new made.Discovery(registry.all(), serverAddress === undefined ? {} : { serverAddress })
}

async function openApiOf(registry: Registry, previous?: Promise<OpenApi>): Promise<OpenApi> {
  const made = await import('../openapi/openapi.ts')
  return new made.OpenApi(registry.all(), previous === undefined ? {} : { previous: await previous })
}

function replyServedDocument(
  { bytes, etag, contentType }: ServedDocument,
  { request }: RequestContext,
  { vary, cacheControl = 'no-cache, private' }: { vary: boolean; cacheControl?: string },
): WireResponse {
  const headers = { etag, 'cache-control': cacheControl, ...(vary && { vary: 'Accept' }) }
  if (matchesEtag(request.headers['if-none-match'], etag)) return { status: 304, headers }
  return { status: 200, headers: { ...headers, 'content-type': contentType }, body: bytes }
}

function matchesEtag(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

function isAggregated({ kind, group, version }: MediaShape): boolean {
  return kind === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2'
}

function plainText(status: number, text: string): WireResponse {
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
    },
    body: Buffer.from(`${text}\n`),
  }
}
