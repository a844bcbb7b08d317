/**
 * The ConversionReview protocol: the question to a webhook and what its answer means.
 *
 * Two versions of the protocol differ in what is checked: `v1beta1` trusts the answer to be an answer, `v1` wants its
 * type and the uid of the question.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'

const group = 'apiextensions.k8s.io'

/** Versions of the protocol that are spoken. */
type ReviewVersion = 'v1' | 'v1beta1'

/** The first version in a definition's list that we speak. */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1')
}

interface Question {
  readonly version: ReviewVersion
  readonly uid: string
  /** The wanted `group/version`. */
  readonly apiVersion: string
}

export function makeReview(objects: readonly JsonObject[], { version, uid, apiVersion }: Question): JsonObject {
  return {
    kind: 'ConversionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects: objects.map(withoutVersion) },
  }
}

/** The converted objects of an answer, or why there are none. */
type ReviewAnswer =
  | { readonly ok: true; readonly objects: readonly JsonValue[] }
  | { readonly ok: false; readonly why: string }

export function readAnswer(review: JsonValue, { version, uid }: Question): ReviewAnswer {
  if (!isJsonObject(review))
    return refuse(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeName(review)} into Go value of type struct`,
    )
  if (version === 'v1') {
    const expected = `${group}/v1, Kind=ConversionReview`
    const got = `${textIn(review, 'apiVersion') || '/'}, Kind=${textIn(review, 'kind')}`
    if (got !== expected) return refuse(`expected webhook response of ${expected}, got ${got}`)
  }
  const { response } = review
  if (!isJsonObject(response)) return refuse('no response provided')
  if (version === 'v1' && response['uid'] !== uid)
    return refuse(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textIn(response, 'uid'))}`)
  const result = isJsonObject(response['result']) ? response['result'] : {}
  const status = textIn(result, 'status')
  if (status !== 'Success')
    return refuse(textIn(result, 'message') || `response.result.status was '${status}', not 'Success'`)
  const objects = response['convertedObjects'] ?? []
  return Array.isArray(objects)
    ? { ok: true, objects: objects as readonly JsonValue[] }
    : refuse('response.convertedObjects must be a list')
}

function refuse(why: string): ReviewAnswer {
  return { ok: false, why }
}

// The version in the store is none of a converter's business, and upstream does not tell it.
function withoutVersion(object: JsonObject): JsonObject {
  const { metadata } = object
  if (!isJsonObject(metadata) || metadata['resourceVersion'] === undefined) return object
  const { resourceVersion: _, ...rest } = metadata
  return { ...object, metadata: rest }
}

function textIn(object: JsonObject, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

function typeName(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
