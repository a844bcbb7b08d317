/**
 * One question to a server about one object, through a transport.
 */
import { badRequest, fromStatus, fromUnexpectedResponse, isFailureStatus, isJsonObject } from '#api'
import type { UnstructuredObject } from '#api'
import { readJson } from '#wire'
import type { Transport, WireResponse } from '#wire'

interface ObjectRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly target: string
  readonly body?: UnstructuredObject
  readonly signal: AbortSignal
}

/**
 * The object that a server answers with.
 *
 * @throws {ApiError} the server's refusal.
 */
export async function requestObject(
  transport: Transport,
  { method, target, body, signal }: ObjectRequest,
): Promise<UnstructuredObject> {
  const headers = {
    accept: 'application/json',
    'user-agent': 'evenkeel',
    ...(body && { 'content-type': 'application/json' }),
  }
  const response = await transport({
    method,
    target,
    headers,
    signal,
    ...(body && { body: Buffer.from(JSON.stringify(body)) }),
  })
  const text = Buffer.from(await wholeBody(response)).toString()
  const value = parseText(text)
  if (response.status < 200 || response.status > 299) {
    throw isFailureStatus(value)
      ? fromStatus(value)
      : fromUnexpectedResponse({ code: response.status, method, text: text.slice(0, 1024) })
  }
  if (!isJsonObject(value)) throw badRequest(`${method} ${target} was not answered with an object`)
  return value as unknown as UnstructuredObject
}

/** More than any definition may have. */
const bytesMax = 16 * 1024 * 1024

async function wholeBody({ body }: WireResponse): Promise<Uint8Array> {
  if (body === undefined || body instanceof Uint8Array) return body ?? new Uint8Array()
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.byteLength
    if (size > bytesMax) throw badRequest(`the answer is larger than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function parseText(text: string): unknown {
  try {
    return readJson(text, { duplicates: false }).value
  } catch {
    return undefined
  }
}
