/**
 * The client of one webhook that objects of the cluster configure: a POST of JSON with a JSON answer, for conversion
 * and admission.
 *
 * The author of a configuration chooses the address that the server calls, so errors never repeat an answer: an
 * invalid one is named by its status only. Redirects are not followed, names are resolved once, and some addresses
 * are refused; see `connectHttps`.
 */
import { ApiError, fromUnexpectedResponse, isApiError, type JsonObject, type JsonValue, stringifyJson } from '#api'
import { DeadlineError } from '#base'
import { connectHttps, readJson, type HttpsConnection, type HttpsOptions, type WireResponse } from '#wire'

interface WebhookCallOptions {
  /** Aborts the call; a deadline is also sent to the webhook as its timeout. */
  readonly signal: AbortSignal
  readonly timeoutSeconds: number
}

/** One webhook address, with its last connection. */
export class WebhookClient {
  readonly #config: WebhookClientConfig
  readonly #webhooks: WebhookOptions
  readonly #url: URL
  readonly #answerBytesMax: number
  #open: { readonly connection: HttpsConnection; readonly address: string } | undefined
  #isClosed = false

  /** @param answerBytesMax the largest accepted response */
  constructor(
    config: WebhookClientConfig,
    webhooks: WebhookOptions,
    { answerBytesMax = responseBytesMaxDefault }: { answerBytesMax?: number } = {},
  ) {
    this.#config = config
    this.#webhooks = webhooks
    this.#answerBytesMax = answerBytesMax
    const { service } = config
    this.#url = new URL(
      config.url ??
        `https://${service?.name ?? ''}.${service?.namespace ?? ''}.svc:${service?.port ?? 443}${service?.path ?? '/'}`,
    )
  }

  /** Calls in flight finish; their connections are not kept. */
  close(): void {
    this.#isClosed = true
    this.#open?.connection.close()
  }

  /**
   * The response of the webhook.
   *
   * @throws {ApiError} for an invalid response; otherwise an `Error` with the reason of the failure.
   */
  async call(question: JsonObject, { signal, timeoutSeconds }: WebhookCallOptions): Promise<JsonValue> {
    const target = `${cleanPath(this.#url.pathname)}?timeout=${timeoutSeconds}s`
    const headers = { 'content-type': 'application/json', accept: 'application/json, */*', 'user-agent': 'evenkeel' }
    try {
      const connection = await this.#connection()
      return responseValue(
        await connection.transport({
          method: 'POST',
          target,
          headers,
          body: Buffer.from(stringifyJson(question)),
          signal,
        }),
      )
    } catch (error) {
      if (isApiError(error)) throw error
      const reason = error instanceof DeadlineError ? 'context deadline exceeded' : (error as Error).message
      throw new Error(`Post ${JSON.stringify(`${this.#url.origin}${target}`)}: ${reason}`, { cause: error })
    }
  }

  async #connection(): Promise<HttpsConnection> {
    const { connect = connectHttps, resolveService = noServiceResolver } = this.#webhooks
    const { service, caBundle = '' } = this.#config
    const address =
      service && (await resolveService({ namespace: service.namespace, name: service.name, port: service.port ?? 443 }))
    const known = address === undefined ? '' : `${address.host}:${address.port}`
    if (this.#open?.address === known) return this.#open.connection
    this.#open?.connection.close()
    const caPem = Buffer.from(caBundle, 'base64').toString().trim()
    const connection = connect({
      origin: this.#url.origin,
      ...(address && { address }),
      ...(caPem !== '' && { caPem }),
      bytesMax: this.#answerBytesMax,
    })
    // A call after `close` still works, but its connection is not kept.
    if (this.#isClosed) connection.close()
    else this.#open = { connection, address: known }
    return connection
  }
}

/** The size of all objects in the largest conversion request. */
const responseBytesMaxDefault = 64 * 1024 * 1024

/**
 * As Go joins paths. Tools write `https://host//path`, and a Go server answers that with a redirect, which is not
 * followed.
 */
function cleanPath(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
}

function noServiceResolver({ namespace, name }: WebhookServiceReference): never {
  throw new Error(
    `service "${namespace}/${name}" cannot be reached: this server has no cluster network; name a URL in clientConfig, or start the server with webhooks.resolveService`,
  )
}

/** The JSON value of a response. @throws {ApiError} for an invalid one. */
function responseValue({ status, headers, body }: WireResponse): JsonValue {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array()
  if (status < 200 || status > 299) throw webhookError(fromUnexpectedResponse({ code: status, method: 'POST' }).message)
  if (bytes.byteLength === 0)
    throw webhookError(
      `0-length response with status code: ${status} and content type: ${mediaType(headers['content-type'])}`,
    )
  try {
    return readJson(bytes, { duplicates: false }).value
  } catch {
    throw webhookError("couldn't get version/kind; json parse error: the response is no JSON")
  }
}

/** The media type in a header, bounded in length. */
function mediaType(text = ''): string {
  return /^[\w.+-]{0,64}\/[\w.+-]{0,64}/.exec(text)?.[0] ?? ''
}

function webhookError(message: string): ApiError {
  return new ApiError('InternalError', message)
}

/** How the server reaches webhooks. */
export interface WebhookOptions {
  /**
   * Connects to an HTTPS origin.
   *
   * @default over the network
   */
  connect?: (destination: HttpsOptions) => HttpsConnection
  /**
   * The host and port of a Service in a webhook configuration.
   *
   * @default none: there is no cluster network, so such calls fail with an error that says so
   */
  resolveService?: (service: WebhookServiceReference) => ServiceAddress | Promise<ServiceAddress>
}

export interface WebhookServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

/** The client config of a webhook, as in webhook configurations and CRDs. */
export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace: string
    readonly name: string
    readonly path?: string
    readonly port?: number
  }
  /** PEM in base64. */
  readonly caBundle?: string
}
