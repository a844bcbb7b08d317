/**
 * Requests by a library: it knows proxies, and takes less time for each request than Node's own HTTP, but about as long
 * as a thousand of them to load.
 */
import { Pool, ProxyAgent } from 'undici'
import type { Dispatcher } from 'undici'
import { identityCheck } from '#base'
import { withBeforeSend } from './before-send.ts'
import type { CarrierResponse, CarrierRequest, Carrier } from './carrier.ts'
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
