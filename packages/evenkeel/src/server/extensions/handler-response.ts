/**
 * What a handler of the embedding program answers, as a response of the server.
 *
 * A body that is a stream is pulled piece by piece at the pace of the client: nothing is buffered here. It ends when the
 * handler ends it, the client leaves, or the server stops, whichever is first, also when the handler ignores its signal.
 */
import { ApiError } from '#api'
import { abortable, onAbort } from '#base'
import type { WireHeaders, WireResponse } from '#wire'
import type { RequestInfo } from '../request-context.ts'

/** The answer of a handler. */
export interface HandlerResponse {
  /** @default 200 */
  readonly status?: number
  /** @default a text that may not be cached */
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent as it comes; throwing after its first piece aborts the connection. @default empty */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
}

interface ResponseOptions {
  readonly info: Pick<RequestInfo, 'warnings'>
  /** Ends a stream. */
  readonly signal: AbortSignal
  /** Called when a stream fails before the signal has aborted. */
  onFailure(error: unknown): void
  /** Called once, when nothing more will be sent. */
  onEnd(): void
}

const defaultHeaders: WireHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-cache, private',
  'x-content-type-options': 'nosniff',
}

/** @throws {ApiError} `InternalError`, for a status or header that cannot be sent. */
export function toWireResponse(answer: HandlerResponse, options: ResponseOptions): WireResponse {
  const { status = 200, body } = answer
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new ApiError('InternalError', `the handler answered with the status ${status}: it must be from 200 to 599`)
  const warning = options.info.warnings.header()
  const headers = { ...defaultHeaders, ...checkedHeaders(answer.headers), ...(warning !== undefined && { warning }) }
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    options.onEnd()
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    return { status, headers, ...(bytes && { body: bytes }) }
  }
  return { status, headers, body: new BoundStream(body, options), isFinal: true }
}

/** A line break in a value would begin another header. */
function checkedHeaders(given: Readonly<Record<string, string>> = {}): WireHeaders {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value))
        return [name.toLowerCase(), value]
      throw new ApiError(
        'InternalError',
        `the handler answered with a header that cannot be sent: ${JSON.stringify(name)}`,
      )
    }),
  )
}

/** A stream of a handler that ends with a signal. It is counted until it has ended, also when it is never read. */
class BoundStream implements AsyncIterable<Uint8Array> {
  readonly #body: AsyncIterable<Uint8Array>
  readonly #options: ResponseOptions
  readonly #stopListening: () => void
  #isOver = false

  constructor(body: AsyncIterable<Uint8Array>, options: ResponseOptions) {
    this.#body = body
    this.#options = options
    this.#stopListening = onAbort(options.signal, () => {
      this.#end()
    })
    // A signal that has aborted already calls back before there is something to stop.
    if (this.#isOver) this.#stopListening()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const { signal, onFailure } = this.#options
    const pieces = this.#body[Symbol.asyncIterator]()
    try {
      while (!signal.aborted) {
        const next = await abortable(pieces.next(), { signal })
        if (next.done) return
        yield next.value
      }
    } catch (error) {
      if (signal.aborted) return
      onFailure(error)
      throw error
    } finally {
      this.#end()
      // Not awaited: a handler that ignores the signal would hold the connection.
      pieces.return?.().catch(() => undefined)
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopListening?.()
    this.#options.onEnd()
  }
}
