/**
 * A document about the server itself, ready to be sent: discovery and OpenAPI have nothing else.
 */
import { createHash } from 'node:crypto'

export interface ServedDocument {
  readonly bytes: Uint8Array
  /** A hash of the bytes, in quotes, as the header wants it. */
  readonly etag: string
  readonly contentType: string
}

/** JSON text or bytes with their hash. */
export function makeDocument(content: string | Uint8Array, contentType: string): ServedDocument {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`, contentType }
}
