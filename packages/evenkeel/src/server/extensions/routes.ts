/**
 * Paths of the embedding program beside the API: `/admin/execution`, `/hooks/*`.
 *
 * They pass the same stages as every request: authentication, flow control with its deadline, authorization as
 * non-resource URLs (`nonResourceURLs: ["/admin/*"]`, the method in lower case as the verb), audit. A path of the API
 * cannot be taken.
 */
import { requestEntityTooLarge, type ApiError } from '#api'
import { anySignal, type Logger } from '#base'
import type { WireResponse } from '#wire'
import { readBody } from '../handlers/request-body.ts'
import type { RequestContext, User } from '../request-context.ts'
import { replyText } from '../response.ts'
import { toWireResponse, type HandlerResponse } from './handler-response.ts'
import { queryOf } from './streams.ts'

type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request for a path of the embedding program. */
export interface RouteRequest {
  readonly method: string
  readonly path: string
  /** The parameters of the request. */
  readonly query: URLSearchParams
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly user: User
  /** Aborts when the client leaves, at the deadline until the handler has answered, and when the server stops. */
  readonly signal: AbortSignal
  /**
   * The body.
   *
   * @param bytesMax the most that is accepted; 3 MiB is the limit of every body
   * @throws {ApiError} `RequestEntityTooLarge`
   */
  body(bytesMax?: number): Promise<Uint8Array>
}

/** @throws {ApiError} what the client gets as a Status; any other error is an InternalError */
type RouteHandler = (request: RouteRequest) => HandlerResponse | Promise<HandlerResponse>

/** A path of the embedding program. */
export interface Route {
  /** Matches itself, or with `*` at its end everything that begins with it. Of several matches the longest wins. */
  readonly path: string
  /** The handlers by method; HEAD is answered by that of GET. Any other method is a 405. */
  readonly handlers: Readonly<Partial<Record<RouteMethod, RouteHandler>>>
}

/** What the server itself answers, or may answer in a later version. */
const reserved = /^\/(?:apis?|openapi|openid|healthz|livez|readyz|metrics|version|logs|debug|\.well-known)(?:\/|$)/

interface RoutesOptions {
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

export class Routes {
  readonly #routes: readonly Route[]
  readonly #options: RoutesOptions

  /** @throws {RangeError} for a path that cannot be a route. */
  constructor(routes: readonly Route[], options: RoutesOptions) {
    const seen = new Set<string>()
    for (const { path } of routes) {
      if (!/^\/[^?#*]+\*?$/.test(path) || reserved.test(path.replace(/\*$/, '')))
        throw new RangeError(
          `routes: ${JSON.stringify(path)} cannot be a route: it must begin with a slash, be no path of the API, and have a * at most at its end`,
        )
      if (seen.has(path))
        throw new RangeError(`routes has ${JSON.stringify(path)} twice: put both handlers into one entry`)
      seen.add(path)
    }
    this.#routes = routes.toSorted((a, b) => b.path.length - a.path.length)
    this.#options = options
  }

  /** The paths, for the list of all paths. */
  get paths(): readonly string[] {
    return this.#routes.map(({ path }) => path)
  }

  /** The response of a route; undefined when no route has the path. */
  answer(context: RequestContext): Promise<WireResponse> | undefined {
    const { path } = context
    const route = this.#routes.find((one) =>
      one.path.endsWith('*') ? path.startsWith(one.path.slice(0, -1)) : path === one.path,
    )
    return route && this.#handle(context, route)
  }

  async #handle(context: RequestContext, { handlers, path }: Route): Promise<WireResponse> {
    const { request } = context
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const handler = Object.hasOwn(handlers, method) ? handlers[method as RouteMethod] : undefined
    if (!handler) {
      const refusal = replyText(405, 'Method Not Allowed')
      return { ...refusal, headers: { ...refusal.headers, allow: Object.keys(handlers).join(', ') } }
    }
    const ended = new AbortController()
    const signal = anySignal(request.signal, this.#options.stopping, ended.signal)
    const answer = await handler({
      method: request.method,
      path: context.path,
      query: queryOf(context),
      headers: request.headers,
      user: context.user,
      signal,
      body: (bytesMax) => readRouteBody(context, bytesMax),
    })
    const response = toWireResponse(answer, {
      info: context,
      signal,
      onEnd: () => {
        ended.abort(new Error('the response has ended'))
      },
      onFailure: (error) => {
        this.#options.log.error('route failed', { route: path, error })
      },
    })
    if (request.method === 'HEAD' && !(response.body instanceof Uint8Array)) ended.abort(new Error('HEAD has no body'))
    return response
  }
}

async function readRouteBody({ request }: RequestContext, bytesMax = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  const tooLarge = (): ApiError => requestEntityTooLarge(`the body has more than ${bytesMax} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const body = await readBody(request)
  if (body.byteLength > bytesMax) throw tooLarge()
  return body
}
