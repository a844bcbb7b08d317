/**
 * Non-resource paths: health, version, metrics, discovery, OpenAPI, and the routes of the embedding program.
 *
 * `/healthz`, `/livez` and `/readyz` answer `ok`; `?verbose` lists every check, `?exclude=NAME` leaves one out. A
 * failed check is always listed, without details, because these paths need no authorization. `/version` names the
 * Kubernetes release of the API: clients read `gitVersion` as a semantic version to decide which features they use.
 */
import { compareText, type JsonObject } from '#api'
import { negotiate, type MediaFormat, type MediaShape, type Query, type WireResponse } from '#wire'
import type { Aggregation } from './aggregation/aggregation.ts'
import type { Authentication } from './auth/authentication.ts'
import { answerOpenId } from './auth/service-account-keys.ts'
import type { Discovery } from './discovery/discovery.ts'
import type { ServedDocument } from './discovery/document.ts'
import type { Routes } from './extensions/routes.ts'
import type { RequestMetrics } from './metrics.ts'
import type { OpenApi } from './openapi/openapi.ts'
import type { Registry } from './registry/registry.ts'
import type { RequestContext } from './request-context.ts'
import { unknownPath } from './request-info.ts'
import { replyDocument, replyText } from './response.ts'

/** Answers requests whose path is not about resources. */
export type NonResourceHandler = (context: RequestContext) => Promise<WireResponse>

interface NonResourceOptions {
  readonly registry: Registry
  readonly aggregation: Aggregation
  readonly checks: readonly HealthCheck[]
  readonly metrics: RequestMetrics
  /** Host and port of the server for clients, once known. */
  address(): string | undefined
  /** Publishes the keys of service account tokens. */
  readonly authentication: Pick<Authentication, 'serviceAccounts' | 'jwksUri'>
  /** The paths of the embedding program. */
  readonly routes: Routes
}

export function makeNonResourceHandler({
  registry,
  aggregation,
  checks,
  metrics,
  address,
  routes,
  authentication: { serviceAccounts: accounts, jwksUri: keysUrl },
}: NonResourceOptions): NonResourceHandler {
  const documents = new DocumentCache({ registry, aggregation, address })
  return async (context) => {
    const {
      path,
      query,
      request: { method },
    } = context
    const routed = routes.answer(context)
    if (routed) return routed
    if (method !== 'GET' && method !== 'HEAD')
      return isKnownPath(path) ? replyText(405, 'Method Not Allowed') : replyText(404, '404 page not found')
    const health = await answerHealth(path, query, checks)
    if (health) return health
    if (path === '/version' || path === '/version/')
      return replyDocument(context, versionDocument(), { choice: { format: 'json', pretty: true } })
    if (path === '/metrics')
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        body: Buffer.from(metrics.render()),
      }
    if (path === '/')
      return replyDocument(
        context,
        { paths: pathsOf(registry, aggregation, routes) },
        { choice: { format: 'json', pretty: true } },
      )
    const answer =
      answerOpenId(path, { tokens: accounts.tokens, jwksUri: keysUrl, address: address() }) ??
      (await documents.answer(context))
    if (answer) return answer
    if (isKnownGroup(path, registry)) throw unknownPath()
    return replyText(404, '404 page not found')
  }
}

function pathsOf(registry: Registry, aggregation: Aggregation, routes: Routes): string[] {
  const groups = [...registry.all(), ...aggregation.versions().map(({ api }) => api)]
    .filter(({ group }) => group !== '')
    .flatMap(({ group, version }) => [`/apis/${group}`, `/apis/${group}/${version}`])
  return [...new Set([...rootPaths, ...groups, ...routes.paths])].sort(compareText)
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

/** Whether a path is below a served group: an unknown one there is a `NotFound` of resources. */
function isKnownGroup(path: string, registry: Registry): boolean {
  const [, root, group = ''] = path.split('/')
  return (root === 'api' && group !== '') || (root === 'apis' && registry.hasGroup(group))
}

function isKnownPath(path: string): boolean {
  return rootPaths.includes(path)
}

// client-go writes the version with an @, other clients with a dot.
const openApiProtobuf = /application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf/

/** Discovery and OpenAPI, rebuilt when the set of resources has changed. */
class DocumentCache {
  readonly #registry: Registry
  readonly #aggregation: Aggregation
  readonly #address: () => string | undefined
  #generation = ''
  #discovery: Promise<Discovery> | undefined
  #openApi: Promise<OpenApi> | undefined

  constructor({ registry, aggregation, address }: Pick<NonResourceOptions, 'registry' | 'aggregation' | 'address'>) {
    this.#registry = registry
    this.#aggregation = aggregation
    this.#address = address
  }

  async answer(context: RequestContext): Promise<WireResponse | undefined> {
    const { path } = context
    this.#refresh()
    if (path.startsWith('/openapi/')) return this.#answerOpenApi(context)
    if (!/^\/apis?(?:\/|$)/.test(path)) return undefined
    const discovery = await (this.#discovery ??= this.#makeDiscovery())
    const isRoot = path === '/api' || path === '/apis'
    const { format, shape } = negotiate(context.request.headers['accept'], {
      formats: this.#formatsOf(context),
      accepts: (wanted, of) => isRoot && of === 'json' && isAggregated(wanted),
    })
    const document = discovery.document(path, { aggregated: shape !== undefined })
    if (document === undefined) return undefined
    if (format === 'json') return replyServedDocument(document, context, { vary: isRoot })
    // The documents of the core group have no apiVersion; in protobuf they need one.
    return replyDocument(
      context,
      { apiVersion: 'v1', ...(JSON.parse(Buffer.from(document.bytes).toString()) as JsonObject) },
      { choice: { format } },
    )
  }

  /** Only the resources of a built-in version are served in CBOR. */
  #formatsOf({ path, formats }: RequestContext): readonly MediaFormat[] {
    const [, group, version] = /^\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path) ?? []
    const isBuiltIn = this.#registry
      .all()
      .some((resource) => resource.version === version && resource.group === (group ?? '') && !resource.custom)
    return isBuiltIn ? formats : formats.filter((format) => format !== 'cbor')
  }

  async #answerOpenApi(context: RequestContext): Promise<WireResponse | undefined> {
    this.#openApi ??= this.#makeOpenApi()
    const openApi = await this.#openApi
    const protobuf = context.path === '/openapi/v2' && openApiProtobuf.test(context.request.headers['accept'] ?? '')
    const document = openApi.document(context.path, { protobuf })
    if (document === undefined) return undefined
    const hash = context.query.get('hash')
    const current = document.etag.slice(1, -1)
    if (hash !== null && hash !== current)
      return { status: 301, headers: { location: `${context.path}?hash=${current}` } }
    return replyServedDocument(document, context, {
      vary: true,
      ...(hash !== null && { cacheControl: 'public, immutable' }),
    })
  }

  // Discovery and OpenAPI are loaded on the first request: a server starts without them.
  async #makeDiscovery(): Promise<Discovery> {
    const serverAddress = this.#address()
    const made = await import('./discovery/discovery.ts')
    return new made.Discovery(this.#registry.all(), {
      remote: this.#aggregation.versions().map(({ api, discovery }) => ({ ...api, discovery })),
      ...(serverAddress !== undefined && { serverAddress }),
    })
  }

  async #makeOpenApi(previous?: Promise<OpenApi>): Promise<OpenApi> {
    const made = await import('./openapi/openapi.ts')
    return new made.OpenApi(this.#registry.all(), {
      remote: this.#aggregation.versions().map((version) => ({ ...version, ...version.api })),
      ...(previous && { previous: await previous }),
    })
  }

  #refresh(): void {
    const generation = `${this.#registry.generation} ${this.#aggregation.generation}`
    if (this.#generation === generation) return
    this.#generation = generation
    this.#discovery = undefined
    // Responses in flight keep the old document; documents with unchanged resources are reused.
    this.#openApi &&= this.#makeOpenApi(this.#openApi)
  }
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

export interface HealthCheck {
  readonly name: string
  /** Undefined when the check passes. */
  failure(): string | undefined | Promise<string | undefined>
  /** Affects readiness only: a restart of the process would not help. */
  readonly readyOnly?: boolean
}

const healthPaths = /^\/(healthz|livez|readyz)(?:\/([^/]+))?$/

/** The response to a health path; undefined for other paths and unknown checks. */
export async function answerHealth(
  path: string,
  query: Query,
  checks: readonly HealthCheck[],
): Promise<WireResponse | undefined> {
  const match = healthPaths.exec(path)
  if (match === null) return undefined
  const [, kind = '', single] = match
  const all = kind === 'livez' ? checks.filter(({ readyOnly }) => !readyOnly) : checks
  if (single !== undefined) {
    const check = all.find(({ name }) => name === single)
    return (
      check &&
      ((await check.failure()) === undefined
        ? healthText(200, 'ok')
        : healthText(500, `internal server error: ${single} check failed\n`))
    )
  }
  return answerAll(kind, query, all)
}

async function answerAll(kind: string, query: Query, all: readonly HealthCheck[]): Promise<WireResponse> {
  const excluded = query.getAll('exclude')
  const lines = await Promise.all(
    all.map(async ({ name, failure }) => {
      if (excluded.includes(name)) return { ok: true, line: `[+]${name} excluded: ok` }
      const ok = (await failure()) === undefined
      return { ok, line: ok ? `[+]${name} ok` : `[-]${name} failed: reason withheld` }
    }),
  )
  const unknown = excluded.filter((name) => !all.some((check) => check.name === name))
  const warnings =
    unknown.length > 0
      ? [
          `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(', ')}`,
        ]
      : []
  const healthy = lines.every(({ ok }) => ok)
  if (healthy && !query.has('verbose')) return healthText(200, 'ok')
  const shown = [
    ...lines.map(({ line }) => line),
    ...warnings,
    healthy ? `${kind} check passed` : `${kind} check failed`,
  ]
  return healthText(healthy ? 200 : 500, `${shown.join('\n')}\n`)
}

function healthText(status: number, body: string): WireResponse {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache, private',
  }
  return { status, headers, body: Buffer.from(body) }
}

export function versionDocument(): JsonObject {
  return {
    major: '1',
    minor: '36',
    emulationMajor: '1',
    emulationMinor: '36',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35',
    gitVersion: 'v1.36.4+evenkeel',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}
