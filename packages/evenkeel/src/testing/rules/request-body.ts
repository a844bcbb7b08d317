/**
 * What a request carries, as JSON.
 */
import type { JsonValue } from '#api'
import type { WireRequest } from '#wire'
import { parseCachedBytes } from '../state/known-texts.ts'

/** The body of a request, shared and frozen; undefined when it has none, or none that is JSON. */
export function bodyOf({ body }: WireRequest): JsonValue | undefined {
  if (!(body instanceof Uint8Array)) return undefined
  try {
    return parseCachedBytes(body)
  } catch {
    return undefined
  }
}
