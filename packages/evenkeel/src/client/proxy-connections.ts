/**
 * Sends requests to one server through a proxy: undici, loaded with the first request.
 *
 *   carry ──▶ load undici (once per process) ──▶ wait for a connection ──▶ beforeSend ──▶ sent ──▶ response
 *
 * Proxies are rare, and undici knows their protocols. A program without one never loads it.
 *
 * Invariants: nothing of a request is sent before the certificate of the server was checked and `beforeSend` has
 * returned; an aborted request fails with the reason of its signal.
 */
import { Readable } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import { identityCheck } from '#base'
import type { WireHeaders } from '#wire'
import type { Carrier, CarrierRequest, CarrierResponse } from './carrier.ts'
import type { TlsMaterial } from './dialer.ts'

interface ProxyConnectionsOptions {
  /** `https://10.0.0.1:6443` */
  readonly origin: string
  readonly tls: TlsMaterial
  readonly connectTimeoutMs: number
  readonly proxyUrl: string
  /** @default any number */
  readonly connectionsMax?: number
}

interface OpenConnections {
  /** Sends requests. */
  readonly sender: Dispatcher
  /** The connections below. */
  readonly pool: Dispatcher
}

export class ProxyConnections implements Carrier {
  readonly #options: ProxyConnectionsOptions
  #open: Promise<OpenConnections> | undefined

  constructor(options: ProxyConnectionsOptions) {
    this.#options = options
  }

  async carry({ method, target, headers, body, signal, beforeSend }: CarrierRequest): Promise<CarrierResponse> {
    const { sender } = await (this.#open ??= openConnections(this.#options))
    const options: BeforeSendOptions & Dispatcher.RequestOptions = {
      origin: this.#options.origin,
      path: target,
      method: method as Dispatcher.HttpMethod,
      headers,
      signal,
      beforeSend,
      body: body === undefined || body instanceof Uint8Array ? (body ?? null) : Readable.from(body),
    }
    const response = await sender.request(options)
    const { statusCode, headers: received, body: pieces } = response
    return { status: statusCode, headers: joinHeaders(received), pieces, whole: () => pieces.bytes() }
  }

  async close(): Promise<void> {
    await (await this.#open)?.pool.close()
  }

  async destroy(): Promise<void> {
    await (await this.#open)?.pool.destroy()
  }
}

async function openConnections({
  origin,
  proxyUrl,
  tls,
  connectTimeoutMs,
  connectionsMax,
}: ProxyConnectionsOptions): Promise<OpenConnections> {
  const undici = await import('undici')
  const secure = {
    timeout: connectTimeoutMs,
    keepAlive: true,
    ...(tls.serverName === undefined && identityCheck(hostIn(origin))),
    ...(tls.caPem !== undefined && { ca: tls.caPem }),
    ...(tls.certPem !== undefined && { cert: tls.certPem }),
    ...(tls.keyPem !== undefined && { key: tls.keyPem }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.insecureSkipVerify && { rejectUnauthorized: false }),
  }
  // Deadlines are those of the request: 0 turns undici's own off. A server that keeps connections for less says so.
  const shared = {
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    ...(connectionsMax !== undefined && { connections: connectionsMax }),
  } satisfies Pool.Options
  const pool = new undici.ProxyAgent({ ...shared, uri: proxyUrl, requestTls: secure })
  return { pool, sender: withBeforeSend(pool) }
}

function joinHeaders(headers: Dispatcher.ResponseData['headers']): WireHeaders {
  const joined: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ')
  return joined
}

function hostIn(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, '')
}

/** undici passes unknown options of a request on to its interceptors. */
interface BeforeSendOptions {
  readonly beforeSend?: (() => void) | undefined
}

function withBeforeSend(dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose((dispatch) => (options: Dispatcher.DispatchOptions & BeforeSendOptions, handler) => {
    const { beforeSend } = options
    return dispatch(options, beforeSend ? callingBefore(beforeSend, handler) : handler)
  })
}

function callingBefore(beforeSend: () => void, handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      beforeSend()
      handler.onRequestStart?.(controller, context)
    },
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
    onResponseError: (...given) => handler.onResponseError?.(...given),
  }
}
