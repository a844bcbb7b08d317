/**
 * The AdmissionReview protocol: the question to a webhook and what its answer means.
 *
 * Two versions of the protocol differ in what is checked: `v1beta1` trusts the answer to be an answer to this question,
 * `v1` wants its type, the uid of the question, and a patch only together with its type.
 */
import { fromStatus, isJsonObject, type ApiError, type JsonObject, type JsonValue, type Status } from '#api'

const admissionReviewGroup = 'admission.k8s.io'

type AdmissionReviewVersion = 'v1' | 'v1beta1'

/** The first version in a webhook's list that we speak. */
export function admissionReviewVersion(versions: readonly string[]): AdmissionReviewVersion | undefined {
  return versions.find((version): version is AdmissionReviewVersion => version === 'v1' || version === 'v1beta1')
}

interface AdmissionReviewRequest {
  readonly version: AdmissionReviewVersion
  readonly uid: string
  /** Whether the webhook may change the object. */
  readonly mutates: boolean
}

export interface AdmissionReviewObjects {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** @param fields what the request says beside its uid and objects */
export function makeAdmissionReview(
  fields: JsonObject,
  {
    object = null,
    oldObject = null,
  }: { readonly [name in keyof AdmissionReviewObjects]: JsonObject | null | undefined },
  { version, uid }: AdmissionReviewRequest,
): JsonObject {
  return {
    kind: 'AdmissionReview',
    apiVersion: `${admissionReviewGroup}/${version}`,
    request: { uid, ...fields, object, oldObject },
  }
}

/** What a webhook said. */
export interface AdmissionReviewResponse {
  readonly allowed: boolean
  /** Why not, as a Status. */
  readonly result: JsonObject
  /** A JSON patch in base64; undefined when nothing is to be changed. */
  readonly patch: string | undefined
  readonly patchType: string
  readonly warnings: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * Reads an answer.
 *
 * @throws {Error} when it is none, saying why.
 */
export function readAdmissionResponse(review: JsonValue, question: AdmissionReviewRequest): AdmissionReviewResponse {
  if (!isJsonObject(review)) throw new Error("couldn't get version/kind; json parse error: the response is no object")
  const { response } = review
  if (!isJsonObject(response)) throw new Error('webhook response was absent')
  if (question.version === 'v1') checkIdentity(review, response, question)
  const [patch, patchType] = [textIn(response, 'patch'), response['patchType'] ?? undefined]
  if (question.version === 'v1') checkPatch(patch, patchType, question)
  return {
    allowed: response['allowed'] === true,
    result: isJsonObject(response['status']) ? response['status'] : {},
    patch: question.mutates && patch !== '' ? patch : undefined,
    patchType: question.version === 'v1' ? String(patchType ?? '') : 'JSONPatch',
    warnings: textsIn(response['warnings']),
    annotations: textMap(response['auditAnnotations']),
  }
}

function checkIdentity(review: JsonObject, response: JsonObject, { uid }: AdmissionReviewRequest): void {
  if (textIn(response, 'uid') !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${shortened(textIn(response, 'uid'))}`)
  const expected = `${admissionReviewGroup}/v1, Kind=AdmissionReview`
  const got = `${textIn(review, 'apiVersion') || '/'}, Kind=${textIn(review, 'kind')}`
  if (got !== expected) throw new Error(`expected webhook response of ${expected}, got ${got.slice(0, shownMax)}`)
}

function checkPatch(patch: string, patchType: JsonValue | undefined, { mutates }: AdmissionReviewRequest): void {
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

/** What the client is told of a webhook that said no. A code that is no refusal becomes 400. */
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

/** Of what stands in an answer only as much as names it. */
const shownMax = 128

function shortened(text: string): string {
  return JSON.stringify(text.slice(0, shownMax))
}

function textIn(object: JsonObject, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function textMap(value: JsonValue | undefined): Record<string, string> {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/*
 * The ConversionReview protocol: the question to a webhook and what its answer means.
 *
 * Two versions of the protocol differ in what is checked: `v1beta1` trusts the answer to be an answer, `v1` wants its
 * type and the uid of the question.
 */

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
