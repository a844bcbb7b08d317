/**
 * Sends HTTP requests to one server over kept connections: undici, loaded with the first request.
 *
 *   carry ──▶ load undici (once per process) ──▶ wait for a connection ──▶ beforeSend ──▶ sent ──▶ response
 *
 * A program that never talks to a server over HTTP, such as a simulation, does not pay for the library.
 *
 * `beforeSend` is called at the moment at which a request is written to its socket. The request may have waited for a
 * connection, and the process may have been suspended meanwhile, so what was true when it was made may no longer hold.
 * When it throws, nothing of the request is sent, and the connection stays.
 *
 * Invariants: nothing of a request is sent before the certificate of the server was checked and `beforeSend` has
 * returned; an aborted request fails with the reason of its signal.
 */
import { Readable } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import { identityCheck } from '#base'
import type { WireRequest } from '#wire'
import type { TlsMaterial } from './dialer.ts'

interface CarrierOptions {
  /** `https://10.0.0.1:6443` */
  readonly origin: string
  readonly tls: TlsMaterial
  readonly connectTimeoutMs: number
  readonly proxyUrl?: string | undefined
  /** @default any number */
  readonly connectionsMax?: number
}

export interface CarrierRequest extends Pick<WireRequest, 'method' | 'target' | 'body' | 'signal' | 'beforeSend'> {
  /** Each value is sent on a line of its own. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

export interface CarrierResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly pieces: AsyncIterable<Uint8Array>
  /** The body as a whole, instead of in pieces. */
  whole(): Promise<Uint8Array>
}

interface OpenConnections {
  /** Sends requests. */
  readonly sender: Dispatcher
  /** The connections below. */
  readonly pool: Dispatcher
}

export class Carrier {
  readonly #options: CarrierOptions
  #open: Promise<OpenConnections> | undefined

  constructor(options: CarrierOptions) {
    this.#options = options
  }

  /** Sends a request and resolves with the head of the response. Errors are those of sockets, TLS and undici. */
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
    return { status: statusCode, headers: received, pieces, whole: () => pieces.bytes() }
  }

  /** Resolves when no request is active any more. */
  async close(): Promise<void> {
    await (await this.#open)?.pool.close()
  }

  /** Cuts off active requests; afterwards nothing is open. */
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
}: CarrierOptions): Promise<OpenConnections> {
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
  const pool =
    proxyUrl === undefined
      ? new undici.Pool(origin, { ...shared, connect: secure })
      : new undici.ProxyAgent({ ...shared, uri: proxyUrl, requestTls: secure })
  return { pool, sender: withBeforeSend(pool) }
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
