/**
 * The review exchange with a webhook: the server posts a review with a request, the webhook answers the same review with
 * a response. Admission and conversion are two descriptions of it.
 *
 * The two versions of a protocol differ in the checks: `v1beta1` takes any response, `v1` requires the type of the review
 * and the uid of the request.
 */
import { isJsonObject, textIn, type JsonObject, type JsonValue } from '#api'

type ReviewVersion = 'v1' | 'v1beta1'

/** Identifies one exchange. */
export interface ReviewExchange {
  readonly version: ReviewVersion
  readonly uid: string
}

/** What is particular to one review protocol. */
export interface ReviewProtocol {
  readonly group: string
  readonly kind: string
  /** The error of a review without a response. */
  readonly noResponse: string
  /** Whether the type of the review is checked before its response, as kube-apiserver does for conversion. */
  readonly checksTypeFirst: boolean
}

/** The first version in the list of a webhook that this server implements. */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1')
}

export function makeReview(
  { group, kind }: ReviewProtocol,
  { version, uid }: ReviewExchange,
  request: JsonObject,
): JsonObject {
  return { kind, apiVersion: `${group}/${version}`, request: { uid, ...request } }
}

/**
 * The response in an answered review.
 *
 * @throws {Error} when the answer is not a response to this exchange; the message says why.
 */
export function readReviewResponse(
  protocol: ReviewProtocol,
  { version, uid }: ReviewExchange,
  review: JsonValue,
): JsonObject {
  if (!isJsonObject(review))
    throw new Error(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeName(review)} into Go value of type struct`,
    )
  const isStrict = version === 'v1'
  if (isStrict && protocol.checksTypeFirst) requireType(protocol, review)
  const { response } = review
  if (!isJsonObject(response)) throw new Error(protocol.noResponse)
  if (!isStrict) return response
  const got = textIn(response, 'uid')
  if (got !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got.slice(0, shownMax))}`)
  if (!protocol.checksTypeFirst) requireType(protocol, review)
  return response
}

function requireType({ group, kind }: ReviewProtocol, review: JsonObject): void {
  const expected = `${group}/v1, Kind=${kind}`
  const got = `${textIn(review, 'apiVersion') || '/'}, Kind=${textIn(review, 'kind')}`
  if (got !== expected) throw new Error(`expected webhook response of ${expected}, got ${got.slice(0, shownMax)}`)
}

/** An error repeats at most this many characters of an answer. */
const shownMax = 128

function typeName(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
