/**
 * One question to somebody outside, over HTTPS, answered in JSON: no redirects, a bounded answer, a bounded wait.
 */
import { deadline, onAbort } from '#base'
import type { Clock } from '#base'
import { connectHttps, readJson } from '#wire'
import type { HttpsConnection, HttpsOptions } from '#wire'
import type { JsonObject, JsonValue } from '#api'

export interface HttpsJsonOptions {
  readonly clock: Clock
  readonly caPem?: string | undefined
  connect?: ((destination: HttpsOptions) => HttpsConnection) | undefined
  /** Aborts when nothing is asked any more: no connection is kept then. */
  readonly stopping: AbortSignal
}

const timeoutMs = 10_000
const bytesMax = 1_048_576

/** Asks under addresses of any origin, with a connection for each. */
export class HttpsJsonClient {
  readonly #outside: HttpsJsonOptions
  readonly #connections = new Map<string, HttpsConnection>()

  constructor(outside: HttpsJsonOptions) {
    this.#outside = outside
    onAbort(outside.stopping, () => {
      for (const connection of this.#connections.values()) connection.close()
    })
  }

  /**
   * The value that is answered; a GET, or a POST of a document.
   *
   * @throws {Error} without a word of what was answered: it may be anything.
   */
  async request(url: URL, document?: JsonObject): Promise<JsonValue> {
    const { clock } = this.#outside
    const { signal, done } = deadline(clock, timeoutMs)
    const sent =
      document === undefined
        ? { method: 'GET', headers: { accept: 'application/json' } }
        : {
            method: 'POST',
            headers: { accept: 'application/json', 'content-type': 'application/json' },
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
    const { connect = connectHttps, caPem, stopping } = this.#outside
    const connection = connect({ origin, bytesMax, ...(caPem !== undefined && { caPem }) })
    if (stopping.aborted) connection.close()
    else this.#connections.set(origin, connection)
    return connection
  }
}

/**
 * An address that can be asked.
 *
 * @throws {RangeError} when it is not https.
 */
export function httpsUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.hash !== '')
    throw new RangeError(`${what} must be an https address, got ${JSON.stringify(text)}`)
  return url
}
