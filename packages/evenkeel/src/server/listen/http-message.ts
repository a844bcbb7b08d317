/**
 * HTTP messages, as HTTP/1.1 and HTTP/2 share them: header fields, bodies, and the request with its signal.
 *
 * A request's signal aborts when the client disconnects before its response. It is created on first use: most requests
 * never need it, and on Node 20 it costs more than reading the whole request.
 */
import { internalError, toStatus } from '#api'
import type { WireHeaders, WirePeer, WireRequest, WireResponse } from '#wire'

export type FixedBody = Uint8Array | readonly Uint8Array[]

/** Fields that the connection sets itself, whatever the server returned. */
const ownFields = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'content-length',
])
const fieldName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const plainValue = /^[\t\x20-\x7e]*$/
const controls = /[^\t\x20-\x7e\x80-\uffff]/

/**
 * The header fields to send. Values outside ASCII are sent as UTF-8, one character per byte.
 *
 * @throws {RangeError} for a field with a line break or another invalid character.
 */
export function fieldsToSend({ headers }: WireResponse): [string, string][] {
  const fields: [string, string][] = []
  for (const name of Object.keys(headers)) {
    if (ownFields.has(name)) continue
    const value = headers[name] ?? ''
    if (!fieldName.test(name) || controls.test(value))
      throw new RangeError(`not a header field: ${JSON.stringify(`${name}: ${value}`)}`)
    fields.push([name, plainValue.test(value) ? value : Buffer.from(value).toString('latin1')])
  }
  return fields
}

/** True when the response never has a body, whatever the server returned. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

export function isStreamed(body: WireResponse['body']): body is AsyncIterable<Uint8Array> {
  return body !== undefined && Symbol.asyncIterator in body
}

/** The pieces of a body that is complete. */
export function piecesOf(body: FixedBody | undefined): readonly Uint8Array[] {
  if (body === undefined) return []
  return body instanceof Uint8Array ? [body] : body
}

export function bytesOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes
}

/** Releases a body that will not be read. */
export function release(body: WireResponse['body']): void {
  if (!isStreamed(body)) return
  const left = body[Symbol.asyncIterator]().return?.()
  if (left) left.catch(() => undefined)
}

/** The response when the handler threw; it never should, so this is an internal error. */
export function failureResponse(error: unknown): WireResponse {
  return {
    status: 500,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(toStatus(internalError(error)))),
  }
}

/** A response of the listener itself, one line of text. */
export function textResponse(status: number, text: string): WireResponse {
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
    body: Buffer.from(`${text}\n`),
  }
}

/** For logs: method and path, without the query, which may hold secrets. */
export function describeRequest({ method, target }: Pick<WireRequest, 'method' | 'target'>): {
  method: string
  path: string
} {
  return { method, path: target.split('?', 1)[0] ?? '' }
}

// The request as the server sees it.

interface RequestParts {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined
  readonly peer: WirePeer
  readonly borrowsChunks?: true | undefined
}

export class RequestLifetime {
  #controller: AbortController | undefined
  #isOver = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort(clientGone())
    }
    return this.#controller.signal
  }

  /** The client has disconnected. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.abort(clientGone())
  }
}

export function makeRequest(parts: RequestParts, life: RequestLifetime): WireRequest {
  return new IncomingRequest(parts, life)
}

/** A class, because an object literal with a getter is slow and its memory long-lived. */
class IncomingRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireRequest['headers']
  readonly body?: NonNullable<WireRequest['body']>
  readonly peer: NonNullable<WireRequest['peer']>
  readonly borrowsChunks: true | undefined
  readonly #life: RequestLifetime

  constructor({ method, target, headers, body, peer, borrowsChunks }: RequestParts, life: RequestLifetime) {
    this.method = method
    this.target = target
    this.headers = headers
    if (body !== undefined) this.body = body
    this.peer = peer
    this.borrowsChunks = body === undefined ? borrowsChunks : undefined
    this.#life = life
  }

  get signal(): AbortSignal {
    return this.#life.signal
  }
}

function clientGone(): Error {
  return new Error('the client closed the connection before the response')
}

/**
 * Joins the values of a repeated header, for HTTP/1.1 and HTTP/2 alike.
 *
 * Invariant: identity headers are joined by a character that no value can contain. With a comma, a group named `a, b`
 * would be indistinguishable from two groups, and a user could gain the rights of another.
 */
const identityHeaders = /^(?:impersonate|x-remote)-/

/** The separator of two values. */
export function separatorOf(name: string): string {
  if (name === 'cookie') return '; '
  return isIdentityHeader(name) ? '\n' : ', '
}

/** Whether the values of a header must be kept apart. */
export function isIdentityHeader(name: string): boolean {
  return identityHeaders.test(name)
}

/** An HTTP request that the listener refuses: it answers in plain text, and the handler does not run. */
export class HttpProtocolError extends Error {
  override readonly name = 'HttpRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
