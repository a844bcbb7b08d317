/**
 * Conversion by a webhook that a definition names: one HTTPS call for all objects, or a few when they are very large.
 */
import { ApiError, fromStatus, fromUnexpectedResponse, isApiError, isFailureStatus, isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'
import { DeadlineError, deadline, onAbort, randomUuid } from '#base'
import type { Clock, Random } from '#base'
import { connectHttps, readJson } from '#wire'
import type { Connection, HttpsOptions, WireResponse } from '#wire'
import { batchesOf } from './batches.ts'
import { checkConverted } from './check-converted.ts'
import { conversionError, formatType } from './conversion.ts'
import type { Conversion } from './conversion.ts'
import { makeReview, readAnswer, reviewVersion } from './review.ts'

/** How the server reaches webhooks. */
export interface WebhookOptions {
  /**
   * Opens a way to an HTTPS origin.
   *
   * @default over the network
   */
  connect?: (destination: HttpsOptions) => Connection
  /**
   * Where a Service is that a webhook names: its host and port.
   *
   * @default it is nowhere: there is no cluster network, so such calls fail and say so
   */
  resolveService?: (service: WebhookService) => ServiceAddress | Promise<ServiceAddress>
}

export interface WebhookService {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

/** What a definition says about its webhook. */
export interface WebhookConfig {
  readonly clientConfig: {
    readonly url?: string
    readonly service?: { readonly namespace: string, readonly name: string, readonly path?: string, readonly port?: number }
    /** PEM in base64. */
    readonly caBundle?: string
  }
  readonly conversionReviewVersions: readonly string[]
}

interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the webhook is not wanted any more: no connection is kept then. */
  readonly retired: AbortSignal
  readonly webhooks: WebhookOptions
}

/** How long a webhook may take. */
const timeoutSeconds = 30
const converter = 'conversion webhook'

/** A conversion that asks the webhook of a definition. */
export function webhookConversion({ clientConfig, conversionReviewVersions }: WebhookConfig, surroundings: Surroundings): Conversion {
  const { clock, random } = surroundings
  const hook = new Hook(clientConfig, surroundings)
  const convert: Conversion = async (objects, apiVersion) => {
    const [first = {}] = objects
    const version = reviewVersion(conversionReviewVersions)
    if (version === undefined) throw conversionError('no supported conversion review versions')
    const question = { version, uid: randomUuid(random), apiVersion }
    const { signal, done } = deadline(clock, timeoutSeconds * 1000)
    try {
      const answer = readAnswer(await hook.ask(makeReview(objects, question), signal), question)
      if (!answer.ok) throw new Error(answer.why)
      return checkConverted(objects, answer.objects, { converter, apiVersion })
    } catch (error) {
      if (isApiError(error) && error.reason === 'Unknown') throw error
      throw conversionError(`${converter} for ${formatType(first)} failed: ${(error as Error).message}`, { cause: error })
    } finally {
      done()
    }
  }
  return async (objects, apiVersion) => {
    const converted: JsonObject[] = []
    for (const batch of batchesOf(objects)) converted.push(...await convert(batch, apiVersion))
    return converted
  }
}

/** One place to ask, with the connection that was last used for it. */
class Hook {
  readonly #config: WebhookConfig['clientConfig']
  readonly #surroundings: Surroundings
  readonly #url: URL
  #open: { readonly connection: Connection, readonly address: string } | undefined

  constructor(config: WebhookConfig['clientConfig'], surroundings: Surroundings) {
    this.#config = config
    this.#surroundings = surroundings
    const { service } = config
    this.#url = new URL(config.url ?? `https://${service?.name ?? ''}.${service?.namespace ?? ''}.svc:${service?.port ?? 443}${service?.path ?? '/'}`)
    onAbort(surroundings.retired, () => { this.#open?.connection.close() })
  }

  async ask(review: JsonObject, signal: AbortSignal): Promise<JsonValue> {
    const target = `${this.#url.pathname}?timeout=${timeoutSeconds}s`
    const headers = { 'content-type': 'application/json', 'accept': 'application/json, */*', 'user-agent': 'evenkeel' }
    try {
      const connection = await this.#connection()
      const response = await connection.transport({ method: 'POST', target, headers, body: Buffer.from(JSON.stringify(review)), signal })
      return valueOf(response)
    } catch (error) {
      if (isApiError(error)) throw error
      const reason = error instanceof DeadlineError ? 'context deadline exceeded' : (error as Error).message
      throw new Error(`Post ${JSON.stringify(`${this.#url.origin}${target}`)}: ${reason}`, { cause: error })
    }
  }

  async #connection(): Promise<Connection> {
    const { webhooks: { connect = connectHttps, resolveService = noNetwork }, retired } = this.#surroundings
    const { service, caBundle = '' } = this.#config
    const address = service && await resolveService({ namespace: service.namespace, name: service.name, port: service.port ?? 443 })
    const known = address === undefined ? '' : `${address.host}:${address.port}`
    if (this.#open?.address === known) return this.#open.connection
    this.#open?.connection.close()
    const caPem = Buffer.from(caBundle, 'base64').toString().trim()
    const connection = connect({ origin: this.#url.origin, ...address && { address }, ...caPem !== '' && { caPem } })
    // Who comes too late may still ask, but nothing is kept for the next.
    if (retired.aborted) connection.close()
    else this.#open = { connection, address: known }
    return connection
  }
}

function noNetwork({ namespace, name }: WebhookService): never {
  throw new Error(`service "${namespace}/${name}" cannot be reached: this server has no cluster network; name a URL in clientConfig, or start the server with webhooks.resolveService`)
}

/** The JSON value of an answer. @throws {ApiError} for an answer that is none. */
function valueOf({ status, headers, body }: WireResponse): JsonValue {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array()
  if (status < 200 || status > 299) throw refusal(status, Buffer.from(bytes).toString())
  if (bytes.byteLength === 0) throw plain(`0-length response with status code: ${status} and content type: ${headers['content-type'] ?? ''}`)
  try {
    return readJson(bytes, { duplicates: false }).value
  } catch (error) {
    throw plain(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
}

function refusal(code: number, text: string): ApiError {
  const status = parsed(text)
  if (isJsonObject(status) && isFailureStatus(status)) return plain(fromStatus(status).message)
  return plain(fromUnexpectedResponse({ code, method: 'POST', ...text !== '' && { text: text.slice(0, 1024) } }).message)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function plain(message: string): ApiError {
  return new ApiError('InternalError', message)
}
