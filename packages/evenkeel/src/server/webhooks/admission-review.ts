/**
 * AdmissionReview: a write, and whether the webhook allows or changes it.
 *
 * In `v1` a patch must come with its type, and a validating webhook must not send one.
 */
import {
  fromStatus,
  isJsonObject,
  textIn,
  textMapIn,
  type ApiError,
  type JsonObject,
  type JsonValue,
  type Status,
} from '#api'
import { makeReview, readReviewResponse, type ReviewExchange, type ReviewProtocol } from './review.ts'

const protocol: ReviewProtocol = {
  group: 'admission.k8s.io',
  kind: 'AdmissionReview',
  noResponse: 'webhook response was absent',
  checksTypeFirst: false,
}

interface AdmissionExchange extends ReviewExchange {
  /** Whether the webhook may change the object. */
  readonly mutates: boolean
}

export interface AdmissionReviewObjects {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** @param fields the request beside its uid and objects */
export function makeAdmissionReview(
  fields: JsonObject,
  { object, oldObject }: AdmissionReviewObjects,
  exchange: AdmissionExchange,
): JsonObject {
  return makeReview(protocol, exchange, { ...fields, object: object ?? null, oldObject: oldObject ?? null })
}

/** The response of a webhook. */
export interface AdmissionReviewResponse {
  readonly allowed: boolean
  /** The reason of a denial, as a Status. */
  readonly result: JsonObject
  /** A JSON patch in base64; undefined without changes. */
  readonly patch: string | undefined
  readonly patchType: string
  readonly warnings: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * Reads the answer of a webhook.
 *
 * @throws {Error} for an invalid answer; the message says why.
 */
export function readAdmissionResponse(review: JsonValue, exchange: AdmissionExchange): AdmissionReviewResponse {
  const response = readReviewResponse(protocol, exchange, review)
  const [patch, patchType] = [textIn(response, 'patch'), response['patchType'] ?? undefined]
  if (exchange.version === 'v1') checkPatch(patch, patchType, exchange)
  return {
    allowed: response['allowed'] === true,
    result: isJsonObject(response['status']) ? response['status'] : {},
    patch: exchange.mutates && patch !== '' ? patch : undefined,
    patchType: exchange.version === 'v1' ? String(patchType ?? '') : 'JSONPatch',
    warnings: textsOf(response['warnings']),
    annotations: textMapIn(response, 'auditAnnotations'),
  }
}

function checkPatch(patch: string, patchType: JsonValue | undefined, { mutates }: AdmissionExchange): void {
  if (!mutates) {
    if (patch !== '') throw new Error('validating webhook may not return response.patch')
    if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType')
    return
  }
  if (patch !== '' && patchType === undefined)
    throw new Error('webhook returned response.patch but not response.patchType')
  if (patch === '' && patchType !== undefined)
    throw new Error('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""')
}

/** The error of a write that a webhook denied. A code that is not a failure becomes 400. */
export function webhookDenial(name: string, result: JsonObject): ApiError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const [message, reason, code] = [textIn(result, 'message'), textIn(result, 'reason'), result['code']]
  const why = message || reason
  const given = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599 ? code : 400
  const details = isJsonObject(result['details']) ? (result['details'] as NonNullable<Status['details']>) : undefined
  return fromStatus({
    status: 'Failure',
    reason,
    message: why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    code: given,
    ...(details && { details }),
  })
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
