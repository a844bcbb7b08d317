/**
 * What a request carries, as JSON.
 */
import type { JsonValue } from '#api'
import type { WireRequest } from '#wire'

/** The body of a request; undefined when it has none, or none that is JSON. */
export function bodyOf({ body }: WireRequest): JsonValue | undefined {
  if (!(body instanceof Uint8Array)) return undefined
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()) as JsonValue
  } catch {
    return undefined
  }
}
