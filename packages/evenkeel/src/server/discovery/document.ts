/**
 * A document about the server itself, ready to be sent. Discovery and OpenAPI consist of such documents.
 */
import { createHash } from 'node:crypto'

export interface ServedDocument {
  readonly bytes: Uint8Array
  /** A hash of the bytes, quoted as in the `ETag` header. */
  readonly etag: string
  readonly contentType: string
}

/** JSON text or bytes with their hash. */
export function makeDocument(content: string | Uint8Array, contentType: string): ServedDocument {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`, contentType }
}
