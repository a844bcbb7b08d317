/**
 * The ConversionReview protocol: the question to a webhook and what its answer means.
 *
 * Two versions of the protocol differ in what is checked: `v1beta1` trusts the answer to be an answer, `v1` wants its
 * type and the uid of the question.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'

const conversionReviewGroup = 'apiextensions.k8s.io'

/** Versions of the protocol that are spoken. */
type ConversionReviewVersion = 'v1' | 'v1beta1'

/** The first version in a definition's list that we speak. */
export function conversionReviewVersion(versions: readonly string[]): ConversionReviewVersion | undefined {
  return versions.find((version): version is ConversionReviewVersion => version === 'v1' || version === 'v1beta1')
}

interface ConversionReviewRequest {
  readonly version: ConversionReviewVersion
  readonly uid: string
  /** The wanted `group/version`. */
  readonly apiVersion: string
}

export function makeConversionReview(
  objects: readonly JsonObject[],
  { version, uid, apiVersion }: ConversionReviewRequest,
): JsonObject {
  return {
    kind: 'ConversionReview',
    apiVersion: `${conversionReviewGroup}/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects: objects.map(withoutVersion) },
  }
}

/** The converted objects of an answer, or why there are none. */
type ConversionReviewResponse =
  | { readonly ok: true; readonly objects: readonly JsonValue[] }
  | { readonly ok: false; readonly why: string }

export function readConversionResponse(
  review: JsonValue,
  { version, uid }: ConversionReviewRequest,
): ConversionReviewResponse {
  if (!isJsonObject(review))
    return refusedResponse(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeName(review)} into Go value of type struct`,
    )
  if (version === 'v1') {
    const expected = `${conversionReviewGroup}/v1, Kind=ConversionReview`
    const got = `${textField(review, 'apiVersion') || '/'}, Kind=${textField(review, 'kind')}`
    if (got !== expected) return refusedResponse(`expected webhook response of ${expected}, got ${got}`)
  }
  const { response } = review
  if (!isJsonObject(response)) return refusedResponse('no response provided')
  if (version === 'v1' && response['uid'] !== uid)
    return refusedResponse(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textField(response, 'uid'))}`,
    )
  const result = isJsonObject(response['result']) ? response['result'] : {}
  const status = textField(result, 'status')
  if (status !== 'Success')
    return refusedResponse(textField(result, 'message') || `response.result.status was '${status}', not 'Success'`)
  const objects = response['convertedObjects'] ?? []
  return Array.isArray(objects)
    ? { ok: true, objects: objects as readonly JsonValue[] }
    : refusedResponse('response.convertedObjects must be a list')
}

function refusedResponse(why: string): ConversionReviewResponse {
  return { ok: false, why }
}

// The version in the store is none of a converter's business, and upstream does not tell it.
function withoutVersion(object: JsonObject): JsonObject {
  const { metadata } = object
  if (!isJsonObject(metadata) || metadata['resourceVersion'] === undefined) return object
  const { resourceVersion: _, ...rest } = metadata
  return { ...object, metadata: rest }
}

function textField(object: JsonObject, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

function typeName(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
