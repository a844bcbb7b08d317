/**
 * HTTPS requests with JSON answers to services outside the server (OpenID issuers, token and authorization webhooks): no
 * redirects, a bounded answer, a bounded wait. Errors never repeat an answer, because its content is not trusted.
 *
 * Webhooks that objects of the cluster configure use `client.ts`: it resolves Services and has upstream's error texts.
 */
import type { JsonObject, JsonValue } from '#api'
import { deadline, onAbort, type Clock } from '#base'
import { connectHttps, readJson, type HttpsConnection, type HttpsOptions } from '#wire'

export interface HttpsJsonOptions {
  readonly clock: Clock
  readonly caPem?: string | undefined
  /** The bearer token of every request. */
  readonly token?: string | undefined
  /** @default 10_000 */
  readonly timeoutMs?: number | undefined
  connect?: ((destination: HttpsOptions) => HttpsConnection) | undefined
  /** Aborts requests and closes all connections. */
  readonly stopping: AbortSignal
}

const bytesMax = 1_048_576

/** Sends requests to any origin, with one connection for each. */
export class HttpsJsonClient {
  readonly #options: HttpsJsonOptions
  readonly #headers: Readonly<Record<string, string>>
  readonly #connections = new Map<string, HttpsConnection>()

  constructor(options: HttpsJsonOptions) {
    this.#options = options
    const { token, stopping } = options
    this.#headers = {
      accept: 'application/json',
      'user-agent': 'evenkeel',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    onAbort(stopping, () => {
      for (const connection of this.#connections.values()) connection.close()
    })
  }

  /**
   * The JSON value of the answer to a GET, or to a POST of a document.
   *
   * @throws {Error} when there is no answer, or one without success or without JSON.
   */
  async request(url: URL, document?: JsonObject): Promise<JsonValue> {
    const { clock, timeoutMs = 10_000, stopping } = this.#options
    const { signal, done } = deadline(clock, timeoutMs, { signal: stopping })
    const sent =
      document === undefined
        ? { method: 'GET', headers: this.#headers }
        : {
            method: 'POST',
            headers: { ...this.#headers, 'content-type': 'application/json' },
            body: Buffer.from(JSON.stringify(document)),
          }
    try {
      const { status, body } = await this.#connection(url.origin).transport({
        ...sent,
        target: `${url.pathname}${url.search}`,
        signal,
      })
      if (status < 200 || status > 299) throw new Error(`${url.origin}${url.pathname} answered with status ${status}`)
      return readJson(body instanceof Uint8Array ? body : new Uint8Array(), { duplicates: false }).value
    } finally {
      done()
    }
  }

  #connection(origin: string): HttpsConnection {
    const known = this.#connections.get(origin)
    if (known) return known
    const { connect = connectHttps, caPem, stopping } = this.#options
    const connection = connect({ origin, bytesMax, ...(caPem !== undefined && { caPem }) })
    if (stopping.aborted) connection.close()
    else this.#connections.set(origin, connection)
    return connection
  }
}

/**
 * Parses an https address.
 *
 * @throws {RangeError} when it is not https.
 */
export function httpsUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.hash !== '')
    throw new RangeError(`${what} must be an https address, got ${JSON.stringify(text)}`)
  return url
}
