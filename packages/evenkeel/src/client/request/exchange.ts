/**
 * One request and its answer: headers out, JSON in, refusals as `ApiError`, silence as `ConnectionError`.
 *
 * Invariants: every request ends, by its answer, the caller's signal or its deadline, and leaves no timer or listener
 * behind; an answer is never larger than `responseBytesMax`. The deadline of a stream covers its beginning only.
 */
import { deadline, DeadlineError, nativeSignal, onAbort, LightAbortController } from '#base'
import type { Clock, Deadline } from '#base'
import type { JsonObject, JsonValue, Subject } from '#api'
import { isJsonObject } from '#api'
import type { Transport, WireHeaders, WireRequest, WireResponse } from '#wire'
import { ConnectionError } from './connection-error.ts'
import { toApiError } from './failure.ts'
import { readBody, textOf } from './read-body.ts'
import type { Warnings } from './warnings.ts'

interface RestClientOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly warnings: Warnings
  readonly userAgent: string
  readonly timeoutMs: number
  readonly responseBytesMax: number
}

/** A request as the verbs say it. */
export interface RestRequest {
  readonly method: string
  readonly target: string
  /** @default 'application/json' */
  readonly accept?: string | undefined
  readonly body?: JsonValue | Uint8Array | undefined
  /** @default 'application/json' */
  readonly contentType?: string | undefined
  readonly headers?: WireHeaders | undefined
  readonly subject?: Subject | undefined
  /** Follows the client's name in `User-Agent`, so that the server's log says which reconcile it was. */
  readonly reconcileId?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

interface RestResponse {
  readonly status: number
  readonly headers: WireHeaders
  readonly body: Uint8Array
}

/** Pieces of an answer that goes on, and how to end it. */
export interface ResponseStream {
  /** Each is lent until the next is asked for. */
  readonly pieces: AsyncIterator<Uint8Array>
  /** Aborts when the caller's signal does, or when the stream is closed. */
  readonly signal: AbortSignal
  close(): void
}

export class RestClient {
  readonly #options: RestClientOptions

  constructor(options: RestClientOptions) {
    this.#options = options
  }

  /** The JSON object that answers a request. */
  async json(call: RestRequest): Promise<JsonObject> {
    const { body } = await this.request(call)
    return parseObject(textOf(body), call)
  }

  /** The answer in whole. @throws {ApiError} when it refuses. */
  async request(call: RestRequest): Promise<RestResponse> {
    const { clock, timeoutMs, responseBytesMax } = this.#options
    const limit = deadline(clock, call.timeoutMs ?? timeoutMs, { signal: call.signal })
    try {
      const { status, headers, body } = await this.#send(call, limit.lightSignal)
      const bytes = await readBody(body, responseBytesMax)
      if (status >= 300)
        throw toApiError({ status, headers, method: call.method, text: textOf(bytes), subject: call.subject })
      return { status, headers, body: bytes }
    } catch (error) {
      throw explain(error, call, limit)
    } finally {
      limit.done()
    }
  }

  /** An answer that goes on until one side has enough. @throws {ApiError} when it refuses. */
  async stream(call: RestRequest): Promise<ResponseStream> {
    const { clock, timeoutMs, responseBytesMax } = this.#options
    const controller = new LightAbortController()
    const limit = deadline(clock, call.timeoutMs ?? timeoutMs)
    const stops = [
      onAbort(call.signal, (reason) => {
        controller.abort(reason)
      }),
      onAbort(limit.lightSignal, (reason) => {
        controller.abort(reason)
      }),
    ]
    const close = (): void => {
      for (const stop of stops) stop()
      controller.abort(closed)
    }
    try {
      const { status, headers, body } = await this.#send(call, controller.signal, { borrowsChunks: true })
      if (status >= 300) {
        throw toApiError({
          status,
          headers,
          method: call.method,
          text: textOf(await readBody(body, responseBytesMax)),
          subject: call.subject,
        })
      }
      return { pieces: piecesOf(body), signal: controller.signal, close }
    } catch (error) {
      close()
      throw explain(error, call, limit)
    } finally {
      limit.done()
    }
  }

  async #send(
    call: RestRequest,
    signal: AbortSignal,
    more: Pick<WireRequest, 'borrowsChunks'> = {},
  ): Promise<WireResponse> {
    signal.throwIfAborted()
    const { transport } = this.#options
    const response = await transport({
      ...this.#request(call, transport.acceptsLightSignals ? signal : nativeSignal(signal)),
      ...more,
    })
    this.#options.warnings.note(response.headers, call)
    return response
  }

  #request(
    {
      method,
      target,
      accept = 'application/json',
      body,
      contentType = 'application/json',
      headers,
      reconcileId,
    }: RestRequest,
    signal: AbortSignal,
  ): WireRequest {
    const { userAgent } = this.#options
    const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
    return {
      method,
      target,
      signal,
      ...(bytes && { body: bytes }),
      headers: {
        accept,
        'user-agent': reconcileId === undefined ? userAgent : `${userAgent} reconcile/${reconcileId}`,
        ...(bytes && { 'content-type': contentType }),
        ...headers,
      },
    }
  }
}

/** Why a stream was closed by its reader; nobody sees it but the transport. */
const closed = new Error('the reader has left')

/** A deadline that ran out is told as what it is; everything else is told as it came. */
function explain(error: unknown, { method, target, signal }: RestRequest, limit: Deadline): unknown {
  const { reason } = limit.lightSignal as { reason: unknown }
  if (signal?.aborted || !(reason instanceof DeadlineError)) return error
  const path = target.split('?')[0] ?? target
  return new ConnectionError(
    `no answer to ${method} ${path} in time (${reason.message}): the server is busy or the connection is dead`,
    { problem: 'timeout', cause: error },
  )
}

function parseObject(text: string, { method, target }: RestRequest): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Told below, like anything else that is no object.
  }
  const begin = JSON.stringify(text.slice(0, 80))
  throw new ConnectionError(
    `the answer to ${method} ${target.split('?')[0] ?? target} is no JSON object but ${begin}: is this a Kubernetes API server?`,
    { problem: 'garbled' },
  )
}

function piecesOf(body: WireResponse['body']): AsyncIterator<Uint8Array> {
  if (body !== undefined && Symbol.asyncIterator in body) return body[Symbol.asyncIterator]()
  const whole = body === undefined ? [] : body instanceof Uint8Array ? [body] : body
  return asyncPieces(whole)
}

async function* asyncPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
