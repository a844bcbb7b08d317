/**
 * The body of an answer in whole, whatever pieces it comes in, and never more of it than allowed.
 */
import type { WireResponse } from '#wire'
import { ConnectionError } from './connection-error.ts'

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
