/**
 * What HTTP/1.1 and HTTP/2 do alike to a response: which header fields go out, and whether there is a body.
 */
import { internalError, toStatus } from '#api'
import type { WireHeaders, WirePeer, WireRequest, WireResponse } from '#wire'

export type FixedBody = Uint8Array | readonly Uint8Array[]

/** What the connection says itself, whatever the server wrote. */
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
 * The header fields to send. Values outside ASCII go out as UTF-8, one character per byte.
 *
 * @throws {RangeError} for a field that would break out of its line.
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

/** True when a response to this never has a body, whatever the server gave. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

export function isStreamed(body: WireResponse['body']): body is AsyncIterable<Uint8Array> {
  return body !== undefined && Symbol.asyncIterator in body
}

/** The pieces of a body that is there in whole. */
export function piecesOf(body: FixedBody | undefined): readonly Uint8Array[] {
  if (body === undefined) return []
  return body instanceof Uint8Array ? [body] : body
}

export function bytesOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes
}

/** Tells a body that nobody will read it. */
export function release(body: WireResponse['body']): void {
  if (!isStreamed(body)) return
  const left = body[Symbol.asyncIterator]().return?.()
  if (left) left.catch(() => undefined)
}

/** The answer when the server threw: it never should, so it is a fault of ours. */
export function failureResponse(error: unknown): WireResponse {
  return {
    status: 500,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(toStatus(internalError(error)))),
  }
}

/** An answer in one line of text, from the listener itself. */
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

/** For logs: what was asked, without the query, which may hold secrets. */
export function describeRequest({ method, target }: Pick<WireRequest, 'method' | 'target'>): {
  method: string
  path: string
} {
  return { method, path: target.split('?', 1)[0] ?? '' }
}

/*
 * A request as the server sees it, and its life: when the client goes before it has its answer, the signal aborts.
 *
 * The signal is made when somebody asks for it; most requests are answered before anybody does, and on Node 20 it costs
 * more than reading the whole request.
 */

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

  /** The client is gone. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.abort(clientGone())
  }
}

export function makeRequest(parts: RequestParts, life: RequestLifetime): WireRequest {
  return new IncomingRequest(parts, life)
}

/** A class, because a getter that belongs to one object alone makes that object slow and its memory long-lived. */
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
  return new Error('the client went away before it had its answer')
}

/**
 * How the values of a repeated header become one text, for HTTP/1.1 and HTTP/2 alike.
 *
 * Invariant: a header that says who is meant is joined by what no value can hold. With a comma, a group called `a, b`
 * could not be told from two groups, and somebody would get the rights of the other.
 */
const identityHeaders = /^(?:impersonate|x-remote)-/

/** What stands between two values. */
export function separatorOf(name: string): string {
  if (name === 'cookie') return '; '
  return isIdentityHeader(name) ? '\n' : ', '
}

/** Whether each value of a header has to stay as it was sent. */
export function isIdentityHeader(name: string): boolean {
  return identityHeaders.test(name)
}

/**
 * A request that is not even HTTP as we accept it: answered in plain text by the listener, the server never sees it.
 */
export class HttpProtocolError extends Error {
  override readonly name = 'HttpRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
