/**
 * How objects of a custom kind get from one of its versions to another, when more changes than `apiVersion`.
 *
 * Whoever does it, a webhook or a function, is checked the same: as many objects as were sent, in their order, each of
 * the wanted version, and of the metadata only labels and annotations may be new.
 */
import { ApiError } from '#api'
import type { JsonObject } from '#api'

/** Objects in a version of their kind (`group/version`), in the same order. Never changes what it is given. */
export type Conversion = (objects: readonly JsonObject[], apiVersion: string) => Promise<JsonObject[]>

/** `demo.example.com/v1, Kind=Widget`: what is converted, as messages name it. */
export function formatType({ apiVersion, kind }: JsonObject): string {
  return `${String(apiVersion)}, Kind=${String(kind)}`
}

/** A conversion that did not work: the server's fault or its helper's, never the client's, so 500 without a reason. */
export function conversionError(message: string, { cause }: { cause?: unknown } = {}): ApiError {
  return new ApiError('Unknown', message, { cause })
}
