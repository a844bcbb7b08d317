/**
 * One request and its response: headers out, JSON in, refusals as `ApiError`, no response as `ConnectionError`.
 *
 * The error of a refusal is made from its Status if it has one, else from the HTTP code and the start of the text.
 * `readBody` reads a whole body, never more than allowed. `Warnings` reports the texts of `Warning` headers, each once.
 *
 * Invariants: every request ends by its response, the caller's signal or its deadline, and leaves no timer or listener
 * behind; a response is never larger than `responseBytesMax`; the deadline of a stream covers its start only; at most
 * `rememberedMax` warnings are remembered, so a server that invents new ones cannot exhaust the memory.
 */
import {
  ApiError,
  fromStatus,
  fromUnexpectedResponse,
  isFailureStatus,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Subject,
  parseJson,
  stringifyJson,
} from '#api'
import { deadline, DeadlineError, LightAbortController, onAbort, signalFor, type Clock, type Deadline } from '#base'
import type { Transport, WireHeaders, WireRequest, WireResponse } from '#wire'
import { ConnectionError } from './connection-error.ts'

interface RestClientOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly warnings: Warnings
  readonly userAgent: string
  readonly timeoutMs: number
  readonly responseBytesMax: number
}

/** A request as the verbs make it. */
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

/** The chunks of a streamed response, and how to close it. */
export interface ResponseStream {
  /** Each is valid until the next is requested. */
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

  /** The whole response. @throws {ApiError} when the server refuses. */
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

  /** A response that is streamed until one side ends it. @throws {ApiError} when the server refuses. */
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

  /**
   * A connection that was upgraded to another protocol, or whatever the server answered instead; `close` ends it.
   *
   * @throws {ApiError} when the server refuses.
   */
  async upgrade(call: RestRequest): Promise<{ readonly response: WireResponse; close(): void }> {
    const { clock, timeoutMs, responseBytesMax } = this.#options
    const controller = new LightAbortController()
    const limit = deadline(clock, call.timeoutMs ?? timeoutMs)
    const abort = (reason: unknown): void => {
      controller.abort(reason)
    }
    const stops = [onAbort(call.signal, abort), onAbort(limit.lightSignal, abort)]
    const close = (): void => {
      for (const stop of stops) stop()
      controller.abort(closed)
    }
    try {
      const response = await this.#send(call, controller.signal)
      const { status, headers, body } = response
      if (status >= 300) {
        const text = textOf(await readBody(body, responseBytesMax))
        throw toApiError({ status, headers, method: call.method, text, subject: call.subject })
      }
      return { response, close }
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
      ...this.#request(call, signalFor(transport, signal)),
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
    const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(stringifyJson(body))
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

/** Why a stream was closed by its reader; only the transport sees it. */
const closed = new Error('the reader closed the stream')

/** A passed deadline becomes a `ConnectionError`; other errors are passed on. */
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
    const value: unknown = parseJson(text)
    if (isJsonObject(value)) return value
  } catch {
    // Reported below, like anything else that is no object.
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

interface ErrorResponse {
  readonly status: number
  readonly method: string
  readonly headers: WireHeaders
  readonly text: string
  readonly subject?: Subject | undefined
}

/** How much of a text that is no Status is put into a message: proxies answer with whole pages. */
const textMax = 500

function toApiError({ status, method, headers, text, subject }: ErrorResponse): ApiError {
  const retryAfterMs = retryAfterOf(headers)
  const parsed = parseStatus(text)
  if (parsed === undefined) {
    return fromUnexpectedResponse({
      code: status,
      method,
      ...(subject && { subject }),
      ...(text !== '' && { text: shorten(text) }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
  const error = fromStatus({ code: status, ...parsed })
  if (error.retryAfterMs !== undefined || retryAfterMs === undefined) return error
  const { reason, message, causes, metadata, code } = error
  return new ApiError(reason, message, { subject: error.subject, causes, metadata, code, retryAfterMs })
}

/** The value of `Retry-After` in milliseconds; dates are ignored, as in other clients. */
export function retryAfterOf(headers: WireHeaders): number | undefined {
  const text = headers['retry-after']
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined
}

function parseStatus(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = parseJson(text)
    return isFailureStatus(value) ? value : undefined
  } catch {
    return undefined
  }
}

function shorten(text: string): string {
  const trimmed = text.trim()
  return trimmed.length > textMax ? `${trimmed.slice(0, textMax)}...` : trimmed
}

/**
 * All bytes of a body.
 *
 * @throws {ConnectionError} `garbled`, when there are more than `bytesMax`.
 */
export async function readBody(body: WireResponse['body'], bytesMax: number): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) return within(body, bytesMax)
  const pieces: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early closes the stream, so a body that is too large is not read to its end.
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    pieces.push(piece)
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function within(body: Uint8Array, bytesMax: number): Uint8Array {
  if (body.byteLength > bytesMax) throw tooLarge(bytesMax)
  return body
}

function tooLarge(bytesMax: number): ConnectionError {
  return new ConnectionError(
    `the answer has more than ${bytesMax} bytes: ask for less at a time, or raise responseBytesMax`,
    { problem: 'garbled' },
  )
}

export type WarningHandler = (text: string, about: { readonly method: string; readonly target: string }) => void

const rememberedMax = 1000

export class Warnings {
  readonly #handler: WarningHandler
  readonly #reported = new Set<string>()

  constructor(handler: WarningHandler) {
    this.#handler = handler
  }

  /** Reports the warnings of a response that were not reported before. */
  note(headers: WireHeaders, about: { readonly method: string; readonly target: string }): void {
    const header = headers['warning']
    if (header === undefined) return
    for (const text of readWarnings(header)) {
      if (this.#reported.has(text)) continue
      if (this.#reported.size >= rememberedMax) this.#reported.clear()
      this.#reported.add(text)
      this.#handler(text, about)
    }
  }
}

/** The texts of `299 - "text"`, of which several may stand in one header; other codes are for caches, not for people. */
function readWarnings(header: string): string[] {
  return [...header.matchAll(/(\d{3}) (?:[^\s"]+) "((?:[^"\\]|\\.)*)"/g)]
    .filter(([, code]) => code === '299')
    .map(([, , quoted = '']) => quoted.replace(/\\(.)/g, '$1'))
    .filter((text) => text !== '')
}
