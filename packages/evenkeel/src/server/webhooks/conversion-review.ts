/**
 * ConversionReview: objects of a custom kind, and the same objects in another version.
 */
import { isJsonObject, textIn, type JsonObject, type JsonValue } from '#api'
import { makeReview, readReviewResponse, type ReviewExchange, type ReviewProtocol } from './review.ts'

const protocol: ReviewProtocol = {
  group: 'apiextensions.k8s.io',
  kind: 'ConversionReview',
  noResponse: 'no response provided',
  checksTypeFirst: true,
}

interface ConversionExchange extends ReviewExchange {
  /** The wanted `group/version`. */
  readonly apiVersion: string
}

export function makeConversionReview(objects: readonly JsonObject[], exchange: ConversionExchange): JsonObject {
  const request = { desiredAPIVersion: exchange.apiVersion, objects: objects.map(withoutVersion) }
  return makeReview(protocol, exchange, request)
}

/**
 * The converted objects in the answer of a webhook.
 *
 * @throws {Error} for an invalid answer, or one without success; the message says why.
 */
export function readConversionResponse(review: JsonValue, exchange: ConversionExchange): readonly JsonValue[] {
  const response = readReviewResponse(protocol, exchange, review)
  const result = isJsonObject(response['result']) ? response['result'] : {}
  const status = textIn(result, 'status')
  if (status !== 'Success')
    throw new Error(textIn(result, 'message') || `response.result.status was '${status}', not 'Success'`)
  const objects = response['convertedObjects'] ?? []
  if (!Array.isArray(objects)) throw new Error('response.convertedObjects must be a list')
  return objects as readonly JsonValue[]
}

// As upstream, a converter does not get the resource version.
function withoutVersion(object: JsonObject): JsonObject {
  const { metadata } = object
  if (!isJsonObject(metadata) || metadata['resourceVersion'] === undefined) return object
  const { resourceVersion: _, ...rest } = metadata
  return { ...object, metadata: rest }
}
