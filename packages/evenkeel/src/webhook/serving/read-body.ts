/**
 * The body of a webhook call: JSON, and not too much of it.
 */
import { badRequest, requestEntityTooLarge } from '#api'
import type { JsonValue } from '#api'
import { parseMediaType, readJson } from '#wire'
import type { WireRequest } from '#wire'

/** @throws {ApiError} `RequestEntityTooLarge` or `BadRequest`. */
export async function readJsonBody({ headers, body }: WireRequest, bytesMax: number): Promise<JsonValue> {
  const contentType = headers['content-type'] ?? ''
  if (parseMediaType(contentType).type !== 'application/json')
    throw badRequest(`the content type must be application/json, got ${JSON.stringify(contentType)}`)
  const bytes = await wholeBody(body, { bytesMax, announced: Number(headers['content-length'] ?? 0) })
  if (bytes.length === 0) throw badRequest('the body is empty')
  return readJson(bytes, { duplicates: false }).value
}

async function wholeBody(
  body: WireRequest['body'],
  { bytesMax, announced }: { bytesMax: number; announced: number },
): Promise<Uint8Array> {
  const tooLarge = (): Error => requestEntityTooLarge(`limit is ${bytesMax}`)
  if (announced > bytesMax) throw tooLarge()
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) {
    if (body.length > bytesMax) throw tooLarge()
    return body
  }
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > bytesMax) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
