/**
 * A small HTTP server for operators: health, metrics, and debug information about controllers.
 *
 * It listens on localhost by default, accepts no bodies and changes nothing. Requests from web pages of other origins are
 * refused (DNS rebinding included). `/debug/` is for clients on this machine only, because it contains object names.
 *
 * Invariant: when `run` ends, its port is free and no connection is open.
 */
import { stringifyJson } from '#api'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  acceptsHtml,
  isLocalHost,
  listenAt,
  onAbort,
  renderPage,
  silentLogger,
  SystemClock,
  type Cancel,
  type Clock,
  type Logger,
  type Metrics,
} from '#base'
import type { RequestRules } from './cluster.ts'
import { answerHealth, type HealthCheck, type HealthChecks } from './health.ts'
import type { EndpointSettings } from './manager.ts'
import type { Task } from './run-group.ts'

export interface EndpointsOptions {
  /** @default '127.0.0.1' */
  readonly host?: string
  /** @default a free port */
  readonly port?: number
  /** `/healthz` and `/livez`; without this option there is no health path, `/readyz` included. */
  readonly live?: readonly HealthCheck[]
  /** `/readyz` */
  readonly ready?: readonly HealthCheck[]
  /** `/metrics` */
  readonly metrics?: Metrics
  /** `/debug/reconciles`: running, waiting and failing reconciles, as JSON. */
  readonly reconciles?: () => unknown
  /** `/debug/rules`: violations of the request rules, as JSON. */
  readonly rules?: () => readonly object[]
  /** Called with the URL when it listens. */
  readonly onListening?: (url: string) => void
  readonly clock?: Clock
  readonly log?: Logger
}

/** Serves until the signal aborts. @throws if it cannot listen on the port. */
export async function runEndpoints(signal: AbortSignal, options: EndpointsOptions): Promise<void> {
  const { host = '127.0.0.1', port = 0, onListening, log = silentLogger } = options
  if (signal.aborted) return
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 60_000 },
    (request, response) => {
      answer(request, options)
        .catch((error: unknown) => {
          log.error('endpoint failed', { error, path: request.url })
          return { status: 500, type: plain, body: 'internal server error\n' }
        })
        .then(
          (result) => {
            send(request, response, result)
          },
          () => {
            response.destroy()
          },
        )
    },
  )
  server.maxConnections = 256
  const url = await listenAt(server, { host, port, protocol: 'http' })
  try {
    onListening?.(url)
    await stopped(server, signal)
  } finally {
    await close(server)
  }
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  /** @default none */
  readonly headers?: Readonly<Record<string, string>>
}

const plain = 'text/plain; charset=utf-8'

async function answer(request: IncomingMessage, options: EndpointsOptions): Promise<Answer> {
  const refusal = refuse(request, options)
  if (refusal) return refusal
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const { live, ready = [], metrics, reconciles, rules, clock = new SystemClock(), log } = options
  const health = live && (await answerHealth(pathname, searchParams, { live, ready, clock, log }))
  if (health) return { status: health.status, type: plain, body: health.text }
  if (pathname === '/metrics' && metrics)
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics.render() }
  if (pathname === '/debug/reconciles' && reconciles)
    return { status: 200, type: 'application/json', body: `${stringifyJson(await reconciles())}\n` }
  if (pathname === '/debug/rules' && rules)
    return { status: 200, type: 'application/json', body: `${stringifyJson({ findings: rules() })}\n` }
  return pathname === '/' ? index(request, options) : text(404, '404 page not found')
}

/** What can be served, with the option it needs; `/debug/` only to this machine. */
const paths: readonly {
  readonly path: string
  readonly about: string
  readonly needs: 'live' | 'metrics' | 'reconciles' | 'rules'
}[] = [
  { path: '/healthz', needs: 'live', about: 'liveness: fails when the process should be restarted' },
  { path: '/readyz', needs: 'live', about: 'readiness: caches are synced and webhooks listen' },
  { path: '/readyz?verbose', needs: 'live', about: 'every check of readiness, one per line' },
  { path: '/metrics', needs: 'metrics', about: 'metrics in the text format of Prometheus' },
  { path: '/debug/reconciles', needs: 'reconciles', about: 'what was reconciled, why, and what it wrote (JSON)' },
  { path: '/debug/rules', needs: 'rules', about: 'requests of this program that broke a rule (JSON)' },
]

/** The list of endpoints: a page for browsers, lines for everything else. It names only what exists. */
function index(request: IncomingMessage, options: EndpointsOptions): Answer {
  const isHere = isLoopback(request.socket.remoteAddress ?? '')
  const served = paths.filter(({ path, needs }) => options[needs] && (isHere || !path.startsWith('/debug/')))
  if (!acceptsHtml(request))
    return text(200, ['Evenkeel: endpoints of a manager', '', ...served.map(lineOf)].join('\n'))
  const rows = served.map(({ path, about }) => `<tr><td><a href="${path}">${path}</a><td>${about}`)
  const { html, headers } = renderPage({
    title: 'Evenkeel: endpoints of a manager',
    body: `<h1>Endpoints of a manager</h1>
<p>What this program reports about itself. Nothing here changes anything.</p>
<table class="stack"><thead><tr><th scope="col">Path<th scope="col">What it answers<tbody>${rows.join('')}</table>`,
  })
  return { status: 200, type: headers['content-type'] ?? plain, body: html, headers }
}

function lineOf({ path, about }: (typeof paths)[number]): string {
  return `${path.padEnd(18)}  ${about}`
}

function refuse(
  { method, headers, socket, url = '' }: IncomingMessage,
  { host = '127.0.0.1' }: EndpointsOptions,
): Answer | undefined {
  if (!url.startsWith('/')) return text(400, 'bad request')
  const site = headers['sec-fetch-site']
  if (headers.origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none'))
    return text(403, 'requests from web pages of other origins are refused')
  // DNS rebinding: a foreign host name that resolves to this machine.
  if (isLoopback(host) && !isLocalHost(headers.host))
    return text(421, `unknown host ${JSON.stringify(headers.host ?? '')}: use localhost`)
  if (url.startsWith('/debug/') && !isLoopback(socket.remoteAddress ?? ''))
    return text(403, '/debug is available from this machine only')
  return method === 'GET' || method === 'HEAD' ? undefined : text(405, 'only GET is supported')
}

function isLoopback(address: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/i.test(address)
}

function text(status: number, message: string): Answer {
  return { status, type: plain, body: `${message}\n` }
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Answer): void {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    'content-type': type,
    'content-length': bytes.length,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache, private',
    ...headers,
  })
  response.end(method === 'HEAD' ? undefined : bytes)
}

function stopped(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => {
      resolve()
    })
    server.once('error', (error) => {
      stop()
      reject(error)
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve()
    })
    server.closeAllConnections()
  })
}

interface EndpointTaskOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Called for each request: controllers may be added later. */
  readonly checks: () => HealthChecks
  readonly describe: () => object
  readonly rules?: RequestRules | undefined
}

/** The endpoints of one manager, or of several, as a task; ready when it listens. */
export function endpointTask(
  settings: EndpointSettings,
  { clock, log, metrics, checks, describe, rules }: EndpointTaskOptions,
): Task {
  const { metrics: hasMetrics = true, debug = true, live = [], ready: more = [], onListening, ...address } = settings
  return {
    name: 'endpoints',
    run: (signal, ready) => {
      const cancel = registerProcessMetrics(metrics, { clock })
      return runEndpoints(signal, {
        ...address,
        clock,
        log,
        ...(hasMetrics && { metrics }),
        ...(debug && { reconciles: describe, ...(rules && { rules: () => rules.findings() }) }),
        get live() {
          return [...checks().live, ...live]
        },
        get ready() {
          return [...checks().ready, ...more]
        },
        onListening(url) {
          log.info('serving endpoints', { url })
          onListening?.(url)
          ready()
        },
      }).finally(cancel)
    },
  }
}

/** Registers the process metrics of Prometheus clients until cancelled. */
function registerProcessMetrics(metrics: Metrics, { clock }: { readonly clock: Clock }): Cancel {
  // The monotonic clock of a process starts with the process.
  const startedMs = clock.now() - clock.monotonic()
  const cancels = [
    metrics
      .counter('process_cpu_seconds_total', { help: 'CPU time of all threads, in seconds.' })
      .with()
      .follow(() => cpuSeconds()),
    metrics
      .gauge('process_resident_memory_bytes', { help: 'Resident memory size in bytes.' })
      .with()
      .follow(() => process.memoryUsage.rss()),
    metrics
      .gauge('process_start_time_seconds', { help: 'Start time of the process since unix epoch in seconds.' })
      .with()
      .follow(() => startedMs / 1000),
  ]
  return () => {
    for (const cancel of cancels) cancel()
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}
