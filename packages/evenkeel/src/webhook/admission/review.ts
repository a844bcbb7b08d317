/**
 * The AdmissionReview protocol: what the API server asks, and how it is answered. Both versions are spoken, each is
 * answered in itself.
 *
 * An answer always has the form of a review. The HTTP code says whether it is one: with 200 the handler has decided; with
 * anything else it could not, and the `failurePolicy` of the configuration does.
 */
import { badRequest, isJsonObject, toStatus } from '#api'
import type { JsonObject, JsonPatchOperation, JsonValue, KubeObject } from '#api'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** Who is asking the API server. */
export interface AdmissionUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** What the API server wants to know about. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly uid: string
  readonly operation: AdmissionOperation
  /** `Deployment` of `apps/v1`, in the version that the webhook asked for. */
  readonly apiVersion: string
  readonly kind: string
  /** Absent when the server makes the name. */
  readonly name?: string
  readonly namespace?: string
  readonly subresource?: string
  readonly user: AdmissionUser
  /** Nothing will be stored: nothing else may be changed by asking, either. */
  readonly dryRun: boolean
  /** How it would be; absent when it is to be deleted. */
  readonly object?: T
  /** How it is; absent when it is to be created. */
  readonly oldObject?: T
  readonly options?: JsonObject
}

export type ReviewVersion = 'v1' | 'v1beta1'

/** A question that could be read. */
interface Review {
  readonly version: ReviewVersion
  readonly request: AdmissionRequest
}

/** What was decided. */
export interface AdmissionDecision {
  /** Why not; absent when it is allowed. An `ApiError` as it is, anything else as an internal error. */
  readonly refusal?: unknown
  readonly patch?: readonly JsonPatchOperation[]
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies AdmissionOperation[]

/** @throws {ApiError} `BadRequest`, when it is no review of a version we know. */
export function readReview(value: JsonValue): Review {
  const { apiVersion, kind, request } = isJsonObject(value) ? value : {}
  if (kind !== 'AdmissionReview') throw badRequest(`expected an AdmissionReview, got ${JSON.stringify(kind ?? null)}`)
  const version = String(apiVersion).replace(/^admission\.k8s\.io\//, '')
  if (version !== 'v1' && version !== 'v1beta1')
    throw badRequest(`this webhook speaks admission.k8s.io/v1 and v1beta1, got ${JSON.stringify(apiVersion ?? null)}`)
  if (!isJsonObject(request)) throw badRequest('the AdmissionReview has no request')
  return { version, request: readRequest(request) }
}

function readRequest(request: JsonObject): AdmissionRequest {
  const { uid, operation, kind, name, namespace, subResource, userInfo, dryRun, object, oldObject, options } = request
  if (typeof uid !== 'string' || uid === '') throw badRequest('the request of the AdmissionReview has no uid')
  if (typeof operation !== 'string' || !operations.includes(operation))
    throw badRequest(`the operation of the AdmissionReview is ${JSON.stringify(operation ?? null)}, which is none`)
  const { group = '', version = '', kind: word = '' } = isJsonObject(kind) ? kind : {}
  return {
    uid,
    operation: operation as AdmissionOperation,
    apiVersion: group === '' ? String(version) : `${String(group)}/${String(version)}`,
    kind: String(word),
    ...textField('name', name),
    ...textField('namespace', namespace),
    ...textField('subresource', subResource),
    user: readUser(userInfo),
    dryRun: dryRun === true,
    ...(isJsonObject(object) && { object: object as unknown as KubeObject }),
    ...(isJsonObject(oldObject) && { oldObject: oldObject as unknown as KubeObject }),
    ...(isJsonObject(options) && { options }),
  }
}

function readUser(value: JsonValue | undefined): AdmissionUser {
  const { username, uid, groups, extra } = isJsonObject(value) ? value : {}
  return {
    username: typeof username === 'string' ? username : '',
    ...textField('uid', uid),
    groups: textsOf(groups),
    extra: Object.fromEntries(
      Object.entries(isJsonObject(extra) ? extra : {}).map(([key, values]) => [key, textsOf(values)]),
    ),
  }
}

function textField<N extends string>(name: N, value: JsonValue | undefined): Partial<Record<N, string>> {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as Record<N, string>) : {}
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter((item) => typeof item === 'string') : []
}

/** The answer to a review; to what was none, without uid and in the newest version. */
export function writeReview(
  { refusal, patch = [], warnings = [], auditAnnotations = {} }: AdmissionDecision,
  { version, uid }: { version: ReviewVersion; uid: string },
): JsonObject {
  const response: JsonObject = {
    uid,
    allowed: refusal === undefined,
    ...(refusal !== undefined && { status: toStatus(refusal) as unknown as JsonObject }),
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
    ...(Object.keys(auditAnnotations).length > 0 && { auditAnnotations: { ...auditAnnotations } }),
  }
  return { apiVersion: `admission.k8s.io/${version}`, kind: 'AdmissionReview', response }
}
