/**
 * The webhooks of a program: which handler serves which path, with decoding, time limits and metrics around it.
 *
 * They are a {@link Transport}: a listener calls it with requests from a socket, and a server in the same process may
 * call it directly. Metrics have the names of controller-runtime, because dashboards use them.
 *
 * Invariants: a path has one handler; every request gets a response, a review if it was one, however the handler fails or
 * hangs; a handler never gets more time than the API server waits; a body is JSON and never larger than `bytesMax`.
 */
import {
  badRequest,
  internalError,
  isApiError,
  parseDuration,
  requestEntityTooLarge,
  timeout,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KubeObject,
  stringifyJson,
} from '#api'
import { deadline, silentLogger, SystemClock, type Clock, type Logger, type Metrics } from '#base'
import { parseMediaType, Query, readJson, type Transport, type WireRequest, type WireResponse } from '#wire'
import {
  mutatingHandler,
  readReview,
  validatingHandler,
  writeReview,
  type AdmissionHandler,
  type Mutator,
  type Validator,
} from './admission.ts'
import { conversionKey, convertAll, readConversion, writeConversion, type Conversion } from './conversion.ts'

export interface WebhooksOptions {
  /**
   * The largest request.
   *
   * @default 7_340_032
   */
  readonly bytesMax?: number
  /**
   * The time limit of a handler when the caller does not send one.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number
  readonly clock?: Clock
  readonly log?: Logger
  readonly metrics?: Metrics
}

interface PathOptions {
  /** @default that of controller-runtime: `/mutate-apps-v1-deployment` */
  readonly path?: string
}

interface WebhookResponse {
  readonly status: number
  readonly review: JsonObject
}

interface Route {
  readonly answer: (value: JsonValue, signal: AbortSignal) => Promise<WebhookResponse>
  /** The response to a request that cannot be decoded. */
  readonly refuse: (error: unknown) => WebhookResponse
}

/** The path of all conversions. */
const conversionPath = '/convert'

export class Webhooks {
  readonly #bytesMax: number
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #log: Logger
  readonly #counts: WebhookMetrics
  readonly #routes = new Map<string, Route>()
  readonly #conversions = new Map<string, Conversion>()

  constructor({
    bytesMax = 7 * 1024 * 1024,
    timeoutMs = 10_000,
    clock = new SystemClock(),
    log = silentLogger,
    metrics,
  }: WebhooksOptions = {}) {
    if (!(bytesMax > 0)) throw new RangeError(`bytesMax must be above 0, got ${bytesMax}`)
    if (!(timeoutMs > 0)) throw new RangeError(`timeoutMs must be above 0, got ${timeoutMs}`)
    this.#bytesMax = bytesMax
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    this.#log = log
    this.#counts = createWebhookMetrics(metrics, clock)
  }

  /** Serves the requests. */
  get paths(): readonly string[] {
    return [...this.#routes.keys()]
  }

  /** Mutates objects of a kind when they are created or updated. Returns the path. */
  addMutating<T extends KubeObject>(
    kind: Kind<T>,
    mutate: Mutator<T>,
    { path = pathOf('mutate', kind) }: PathOptions = {},
  ): string {
    return this.#add(path, this.#admission(mutatingHandler(kind, mutate)))
  }

  /** Validates objects of a kind when they are created, updated or deleted. Returns the path. */
  addValidating<T extends KubeObject>(
    kind: Kind<T>,
    validate: Validator<T>,
    { path = pathOf('validate', kind) }: PathOptions = {},
  ): string {
    return this.#add(path, this.#admission(validatingHandler(kind, validate)))
  }

  /** Converts objects of a kind between versions. Returns the path, which is the same for all kinds. */
  addConversion(conversion: Conversion): string {
    const key = `${conversion.group}/${conversion.kind}`
    if (this.#conversions.has(key)) throw new RangeError(`${key} has a conversion already`)
    this.#conversions.set(conversionKey(`${conversion.group}/`, conversion.kind), conversion)
    return this.#routes.has(conversionPath) ? conversionPath : this.#add(conversionPath, this.#conversion())
  }

  readonly transport: Transport = async (request) => {
    const [path = '', query = ''] = request.target.split('?', 2)
    const route = this.#routes.get(path)
    if (!route) return plain(404, '404 page not found')
    if (request.method !== 'POST') return plain(405, 'only POST is supported')
    const done = this.#counts.begin(path)
    const { status, review } = await this.#answer(route, request, this.#waitMs(new Query(query)))
    done(status)
    return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(stringifyJson(review)) }
  }

  #add(path: string, route: Route): string {
    if (!/^\/[^\s?#]+$/.test(path))
      throw new RangeError(`${JSON.stringify(path)} is no path: use one such as /mutate-apps-v1-deployment`)
    if (this.#routes.has(path)) throw new RangeError(`${path} has a handler already: give this one another path`)
    this.#routes.set(path, route)
    return path
  }

  /** A little less than the caller waits, so that it gets our response. */
  #waitMs(query: Query): number {
    const askedMs = parseDuration(query.get('timeout') ?? '') ?? 0
    return askedMs > 0 ? Math.min(askedMs * 0.9, 60_000) : this.#timeoutMs
  }

  async #answer(route: Route, request: WireRequest, waitMs: number): Promise<WebhookResponse> {
    const limit = deadline(this.#clock, waitMs, { signal: request.signal })
    try {
      const value = await readJsonBody(request, this.#bytesMax)
      return await route.answer(value, limit.signal)
    } catch (error) {
      return route.refuse(error)
    } finally {
      limit.done()
    }
  }

  #admission(handler: AdmissionHandler): Route {
    const refuse = (error: unknown, uid = '', version: 'v1' | 'v1beta1' = 'v1'): WebhookResponse => {
      const known = isApiError(error) ? error : internalError(error)
      return { status: known.code, review: writeReview({ refusal: known }, { version, uid }) }
    }
    return {
      refuse,
      answer: async (value, signal) => {
        const { version, request } = readReview(value)
        try {
          const decision = await this.#bounded(signal, () => handler(request, { signal, log: this.#log }))
          return { status: 200, review: writeReview(decision, { version, uid: request.uid }) }
        } catch (error) {
          return refuse(this.#mistake('admission', error, signal), request.uid, version)
        }
      },
    }
  }

  #conversion(): Route {
    const refuse = (error: unknown, uid = '', version: 'v1' | 'v1beta1' = 'v1'): WebhookResponse => {
      const known = isApiError(error) ? error : internalError(error)
      return { status: known.code, review: writeConversion({ error: known }, { version, uid }) }
    }
    return {
      refuse,
      answer: async (value, signal) => {
        const request = readConversion(value)
        try {
          return {
            status: 200,
            review: writeConversion(await this.#bounded(signal, () => convertAll(request, this.#conversions)), request),
          }
        } catch (error) {
          // The review itself contains the failure.
          return {
            status: 200,
            review: writeConversion({ error: this.#mistake('conversion', error, signal) }, request),
          }
        }
      },
    }
  }

  /** The handler's result, or an error when the time is over; what the handler does afterwards is ignored. */
  #bounded<R>(signal: AbortSignal, run: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      signal.addEventListener(
        'abort',
        () => {
          reject(signal.reason as Error)
        },
        { once: true },
      )
      if (signal.aborted) reject(signal.reason as Error)
      else run().then(resolve, reject)
    })
  }

  /** An error of a handler as one that can be sent. Bugs are counted, and described in the log alone. */
  #mistake(kind: 'admission' | 'conversion', error: unknown, signal: AbortSignal): unknown {
    if (isApiError(error)) return error
    // Also when the caller has disconnected: then the response is not read.
    if (signal.aborted) return timeout('the webhook took too long')
    this.#counts.panic(kind)
    this.#log.error('webhook handler failed', { kind, error })
    return internalError(new Error('the webhook handler failed; see the log of the webhook server'))
  }
}

/** `/mutate-apps-v1-deployment`; the dots of a group become dashes, and the core group is empty. */
function pathOf(verb: 'mutate' | 'validate', { group, version, kind }: Kind): string {
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`
}

function plain(status: number, text: string): WireResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(`${text}\n`) }
}

interface WebhookMetrics {
  /** Call it when the response is ready. */
  begin(path: string): (code: number) => void
  /** A handler failed because of a bug. */
  panic(kind: 'admission' | 'conversion'): void
}

/** Prometheus' default buckets. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function createWebhookMetrics(metrics: Metrics | undefined, clock: Clock): WebhookMetrics {
  if (!metrics) return { begin: () => () => undefined, panic: () => undefined }
  const requests = metrics.counter('controller_runtime_webhook_requests_total', {
    help: 'Calls of webhooks by HTTP code.',
    labels: ['webhook', 'code'],
  })
  const latency = metrics.histogram('controller_runtime_webhook_latency_seconds', {
    help: 'How long calls of webhooks took.',
    labels: ['webhook'],
    buckets,
  })
  const inFlight = metrics.gauge('controller_runtime_webhook_requests_in_flight', {
    help: 'Calls of webhooks under way.',
    labels: ['webhook'],
  })
  const mistakes = {
    admission: metrics
      .counter('controller_runtime_webhook_panics_total', { help: 'Admission handlers that failed by mistake.' })
      .with(),
    conversion: metrics
      .counter('controller_runtime_conversion_webhook_panics_total', {
        help: 'Conversion handlers that failed by mistake.',
      })
      .with(),
  }
  return {
    begin(webhook) {
      const startMs = clock.monotonic()
      const running = inFlight.with({ webhook })
      running.add(1)
      return (code) => {
        running.add(-1)
        latency.with({ webhook }).observe((clock.monotonic() - startMs) / 1000)
        requests.with({ webhook, code: String(code) }).add()
      }
    },
    panic: (kind) => {
      mistakes[kind].add()
    },
  }
}

/** @throws {ApiError} `RequestEntityTooLarge` or `BadRequest`. */
async function readJsonBody({ headers, body }: WireRequest, bytesMax: number): Promise<JsonValue> {
  const contentType = headers['content-type'] ?? ''
  if (parseMediaType(contentType).type !== 'application/json')
    throw badRequest(`the content type must be application/json, got ${JSON.stringify(contentType)}`)
  const bytes = await wholeBody(body, { bytesMax, announced: Number(headers['content-length'] ?? 0) })
  if (bytes.length === 0) throw badRequest('the body is empty')
  return readJson(bytes, { duplicates: false }).value
}

async function wholeBody(
  body: WireRequest['body'],
  { bytesMax, announced }: { bytesMax: number; announced: number },
): Promise<Uint8Array> {
  const tooLarge = (): Error => requestEntityTooLarge(`limit is ${bytesMax}`)
  if (announced > bytesMax) throw tooLarge()
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) {
    if (body.length > bytesMax) throw tooLarge()
    return body
  }
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > bytesMax) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
