/**
 * The webhooks of a program: which handler answers at which path, and what happens around every call.
 *
 * They are a {@link Transport}: a listener calls it with what arrives on a socket, and a server in the same process may
 * call it directly.
 *
 * Invariants: a path has one handler; every call is answered, by a review if it was one, however the handler fails or
 * hangs; a handler is never given more time than the API server waits.
 */
import { deadline, silentLogger, SystemClock } from '#base'
import type { Clock, Logger, Metrics } from '#base'
import { internalError, isApiError, parseDuration, timeout } from '#api'
import type { JsonObject, JsonValue, Kind, KubeObject } from '#api'
import { Query } from '#wire'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { mutatingHandler, validatingHandler } from './admission/handlers.ts'
import type { AdmissionHandler, Mutator, Validator } from './admission/handlers.ts'
import { readReview, writeReview } from './admission/review.ts'
import { conversionKey, convertAll, readConversion, writeConversion } from './conversion/conversion.ts'
import type { Conversion } from './conversion/conversion.ts'
import { createWebhookMetrics } from './serving/counts.ts'
import type { WebhookMetrics } from './serving/counts.ts'
import { readJsonBody } from './serving/read-body.ts'

export interface WebhooksOptions {
  /**
   * How large a call may be.
   *
   * @default 7_340_032
   */
  readonly bytesMax?: number
  /**
   * How long a handler may take when the caller does not say how long it waits.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number
  readonly clock?: Clock
  readonly log?: Logger
  readonly metrics?: Metrics
}

export interface PathOptions {
  /** @default that of controller-runtime: `/mutate-apps-v1-deployment` */
  readonly path?: string
}

interface WebhookResponse {
  readonly status: number
  readonly review: JsonObject
}

interface Route {
  readonly answer: (value: JsonValue, signal: AbortSignal) => Promise<WebhookResponse>
  /** The answer to a call that could not be read. */
  readonly refuse: (error: unknown) => WebhookResponse
}

/** The path at which all conversions are asked for. */
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

  /** Where calls are answered. */
  get paths(): readonly string[] {
    return [...this.#routes.keys()]
  }

  /** Completes objects of a kind when they are created or updated. Gives the path to call. */
  addMutating<T extends KubeObject>(
    kind: Kind<T>,
    mutate: Mutator<T>,
    { path = pathOf('mutate', kind) }: PathOptions = {},
  ): string {
    return this.#add(path, this.#admission(mutatingHandler(kind, mutate)))
  }

  /** Judges objects of a kind when they are created, updated or deleted. Gives the path to call. */
  addValidating<T extends KubeObject>(
    kind: Kind<T>,
    validate: Validator<T>,
    { path = pathOf('validate', kind) }: PathOptions = {},
  ): string {
    return this.#add(path, this.#admission(validatingHandler(kind, validate)))
  }

  /** Converts objects of a kind from version to version. Gives the path to call, which is the same for all kinds. */
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
    return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(review)) }
  }

  #add(path: string, route: Route): string {
    if (!/^\/[^\s?#]+$/.test(path))
      throw new RangeError(`${JSON.stringify(path)} is no path: use one such as /mutate-apps-v1-deployment`)
    if (this.#routes.has(path)) throw new RangeError(`${path} has a handler already: give this one another path`)
    this.#routes.set(path, route)
    return path
  }

  /** A little less than the caller waits, so that it hears from us. */
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
          // The review itself says that it failed; the server looks there.
          return {
            status: 200,
            review: writeConversion({ error: this.#mistake('conversion', error, signal) }, request),
          }
        }
      },
    }
  }

  /** What the handler gives, or a throw when the time is over; what it does afterwards nobody hears. */
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

  /** Whatever a handler threw, as an error that can be sent. Its own mistakes are counted, and told in the log alone. */
  #mistake(kind: 'admission' | 'conversion', error: unknown, signal: AbortSignal): unknown {
    if (isApiError(error)) return error
    // Also when the caller has gone: then nobody reads it.
    if (signal.aborted) return timeout('the webhook took too long')
    this.#counts.panic(kind)
    this.#log.error('a webhook failed', { kind, error })
    return internalError(new Error('the webhook failed; its log says why'))
  }
}

/** `/mutate-apps-v1-deployment`; the dots of a group become dashes, and the core group is empty. */
function pathOf(verb: 'mutate' | 'validate', { group, version, kind }: Kind): string {
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`
}

function plain(status: number, text: string): WireResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(`${text}\n`) }
}
