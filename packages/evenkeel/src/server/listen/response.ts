/**
 * What HTTP/1.1 and HTTP/2 do alike to a response: which header fields go out, and whether there is a body.
 */
import { internalError, toStatus } from '#api'
import type { WireRequest, WireResponse } from '#wire'

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
