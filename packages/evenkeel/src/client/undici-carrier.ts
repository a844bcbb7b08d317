/**
 * Requests by a library: it knows proxies, and takes less time for each request than Node's own HTTP, but about as long
 * as a thousand of them to load.
 */
import { Pool, ProxyAgent, type Dispatcher } from 'undici'
import { identityCheck } from '#base'
import type { Carrier, CarrierRequest, CarrierResponse } from './carrier.ts'
import type { DialerOptions } from './dialer.ts'

export interface UndiciOptions extends Omit<DialerOptions, 'clock'> {
  readonly proxyUrl?: string | undefined
  /** @default any number */
  readonly connectionsMax?: number
}

export class UndiciCarrier implements Carrier {
  readonly #origin: string
  readonly #agent: Dispatcher

  constructor({ origin, proxyUrl, tls, connectTimeoutMs, connectionsMax }: UndiciOptions) {
    this.#origin = origin
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
    // Deadlines are those of the request: zero turns the library's own off. Servers that keep connections for less say so.
    const shared = {
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      ...(connectionsMax !== undefined && { connections: connectionsMax }),
    } satisfies Pool.Options
    this.#agent =
      proxyUrl === undefined
        ? new Pool(origin, { ...shared, connect: secure })
        : new ProxyAgent({ ...shared, uri: proxyUrl, requestTls: secure })
  }

  async carry({ method, target, headers, body, signal, beforeSend }: CarrierRequest): Promise<CarrierResponse> {
    const agent = beforeSend ? withBeforeSend(this.#agent) : this.#agent
    const answer = await agent.request({
      origin: this.#origin,
      path: target,
      method: method as Dispatcher.HttpMethod,
      headers,
      signal,
      ...(beforeSend && { beforeSend }),
      body:
        body === undefined || body instanceof Uint8Array
          ? (body ?? null)
          : (body as unknown as Dispatcher.DispatchOptions['body'] & object),
    })
    return { status: answer.statusCode, headers: answer.headers, pieces: answer.body, whole: () => answer.body.bytes() }
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  destroy(): Promise<void> {
    return this.#agent.destroy()
  }
}

function hostIn(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, '')
}

/*
 * A last question at the moment at which a request is written to its socket.
 *
 * A request may have waited for a connection, and the process may have stood still meanwhile: what was true when it was
 * made may no longer be. What the question throws takes the request back; nothing of it is sent, the connection stays.
 */

/** As the options of a dispatch carry it along. */
interface BeforeSendOptions extends Dispatcher.DispatchOptions {
  readonly beforeSend?: () => void
}

/** The same connections, for requests that carry a question. */
export function withBeforeSend(dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const { beforeSend } = options as BeforeSendOptions
    return dispatch(options, beforeSend ? asks(handler, beforeSend) : handler)
  })
}

function asks(handler: Dispatcher.DispatchHandler, beforeSend: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      beforeSend()
      handler.onRequestStart?.(controller, context)
    },
    onRequestUpgrade: (...told) => handler.onRequestUpgrade?.(...told),
    onResponseStart: (...told) => handler.onResponseStart?.(...told),
    onResponseData: (...told) => handler.onResponseData?.(...told),
    onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
    onResponseError: (...told) => handler.onResponseError?.(...told),
  }
}
