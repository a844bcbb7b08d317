/**
 * Requests for aggregated group versions, forwarded to their server after authentication, flow control and
 * authorization of this one.
 *
 * The backend gets the user in `X-Remote-…` headers and knows this server by its client certificate; credentials of the
 * client stay here. Errors of this proxy are plain text, as upstream; everything else is the response of the backend,
 * streamed, except redirects: those are refused.
 */
import { deadline, DeadlineError, onAbort, type Clock, type Logger } from '#base'
import { withoutWebSocketToken, type WireHeaders, type WireRequest, type WireResponse } from '#wire'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import { clientSignal, type RequestContext } from '../request-context.ts'
import { onResponseEnd, replyText } from '../response.ts'
import type { AggregatedApi } from './api-services.ts'
import { UnresolvedServiceError, type Backends } from './backends.ts'

interface ProxyServices {
  readonly backends: Backends
  readonly flowControl: FlowControl
  readonly clock: Clock
  readonly log: Logger
}

/** Discovery has to be quick, because clients read that of every group. */
const discoveryMs = 5000
/** The time for the body of a response that is not a stream by nature. */
const bodyMs = 60_000
/** The wait for the head of a watch or a tunnel; other requests have their own deadline. */
const headMs = 60_000

export class AggregationProxy {
  readonly #backends: Backends
  readonly #flowControl: FlowControl
  readonly #clock: Clock
  readonly #log: Logger

  constructor({ backends, flowControl, clock, log }: ProxyServices) {
    this.#backends = backends
    this.#flowControl = flowControl
    this.#clock = clock
    this.#log = log
  }

  async handle(context: RequestContext, api: AggregatedApi): Promise<WireResponse> {
    if (!api.isAvailable) return replyText(503, 'service unavailable')
    const isLong = isLongRunning(context)
    const leave = isLong ? this.#flowControl.startWatch(context) : () => undefined
    try {
      const response = allowed(await this.#send(context, api))
      return onResponseEnd(response, context.request, this.#limit(response, context, { isLong, leave }))
    } catch (error) {
      leave()
      context.request.signal.throwIfAborted()
      return this.#refusal(error, api)
    }
  }

  async #send(context: RequestContext, api: AggregatedApi): Promise<WireResponse> {
    const { request, user, path } = context
    const isDiscovery = path.split('/').filter((part) => part !== '').length === 3
    const { signal, done } = deadline(this.#clock, isDiscovery ? discoveryMs : headMs, { signal: request.signal })
    try {
      return await this.#backends.send(api, forwarded(request, signal), user)
    } finally {
      done()
    }
  }

  /** Ends the body when the client leaves, or when it takes too long; returns what to call at its end. */
  #limit(
    { body }: WireResponse,
    { request }: RequestContext,
    { isLong, leave }: { isLong: boolean; leave: () => void },
  ): () => void {
    const end = (): void => {
      release(body)
    }
    const stop = onAbort(clientSignal(request), end)
    const cancel = isLong ? () => undefined : this.#clock.after(bodyMs, end)
    return () => {
      stop()
      cancel()
      leave()
    }
  }

  #refusal(error: unknown, { name }: AggregatedApi): WireResponse {
    if (error instanceof UnresolvedServiceError) {
      this.#log.warn('cannot resolve the service of an APIService', { object: name, error })
      return replyText(503, 'service unavailable')
    }
    const reason = error instanceof DeadlineError ? 'context deadline exceeded' : (error as Error).message
    return replyText(503, `error trying to reach service: ${reason}`)
  }
}

const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Requests that may last, as upstream counts them. */
function isLongRunning({ verb, resourcePath, request }: RequestContext): boolean {
  return verb === 'watch' || isUpgrade(request.headers) || longSubresources.has(resourcePath?.subresource ?? '')
}

function forwarded(request: WireRequest, signal: AbortSignal): WireRequest {
  const { method, target, headers, body, peer } = request
  const isTunnel = isUpgrade(headers)
  return {
    method,
    target,
    signal,
    headers: {
      ...passedOn(withoutWebSocketToken(headers)),
      ...(isTunnel && { connection: 'Upgrade', upgrade: headers['upgrade'] ?? '' }),
      ...(peer && { 'x-forwarded-for': joined(headers['x-forwarded-for'], peer.address) }),
      'x-forwarded-uri': target.replace(/\?.*$/s, ''),
      'x-forwarded-proto': peer?.encrypted === false ? 'http' : 'https',
    },
    ...(body !== undefined && { body }),
  }
}

function joined(before: string | undefined, address: string): string {
  return before === undefined ? address : `${before}, ${address}`
}

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Credentials of the client, and the identity that only this server may state. */
const credentials = /^(?:authorization$|cookie$|host$|impersonate-|x-remote-)/

/** Headers that a proxy passes on. */
function passedOn(headers: WireHeaders): Record<string, string> {
  const named = new Set((headers['connection'] ?? '').split(',').map((name) => name.trim().toLowerCase()))
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !name.startsWith(':') && !hopByHop.has(name) && !named.has(name) && !credentials.test(name),
    ),
  )
}

/** The response of a backend as this server sends it. */
function allowed({ status, headers, body, upgrade }: WireResponse): WireResponse {
  if (status >= 300 && status <= 399 && headers['location'] !== undefined) {
    release(body)
    return replyText(502, 'the backend attempted to redirect this request, which is not permitted', { newline: false })
  }
  if (status < 200 && status !== 101) {
    release(body)
    return replyText(503, `error trying to reach service: unexpected status ${status}`)
  }
  const kept = Object.entries(passedOn(headers)).filter(([name]) => !name.startsWith('access-control-'))
  return {
    status,
    headers: Object.fromEntries(kept.filter(([name]) => name !== 'content-length' && name !== 'date')),
    ...(body !== undefined && { body }),
    ...(upgrade && { upgrade }),
    isFinal: true,
  }
}

function release(body: WireResponse['body']): void {
  if (body && Symbol.asyncIterator in body)
    body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => undefined)
}

function isUpgrade(headers: WireHeaders): boolean {
  return headers['upgrade'] !== undefined && /\bupgrade\b/i.test(headers['connection'] ?? '')
}
