/**
 * Admission handlers, the AdmissionReview protocol around them, and the JSON patch of what a handler changed.
 *
 * A mutating handler returns the changed object, a validating handler refuses by an error. The API server speaks two
 * versions of the protocol; each is answered in its own. A response always has the form of a review: with HTTP code 200
 * the handler has decided; with any other code it could not, and the `failurePolicy` of the configuration decides.
 *
 * Invariants: objects are frozen, a handler returns a new one; deletions are not mutated; an `ApiError` or field errors
 * are the decision of a handler, any other error is a bug in it; applied to `before` the patch gives `after`, whatever the
 * names of fields; equal values give no operation; a field with the value `undefined` counts as absent.
 */
import {
  ApiError,
  badRequest,
  deepEqual,
  deepFreeze,
  formatPointer,
  getOwn,
  invalid,
  isApiError,
  isJsonObject,
  parseApiVersion,
  toStatus,
  type FieldError,
  type JsonArray,
  type JsonObject,
  type JsonPatchOperation,
  type JsonValue,
  type Kind,
  type KubeObject,
  asJson,
  asKubeObject,
  stringifyJson,
} from '#api'
import { silentLogger, type Logger } from '#base'

/** The context of a handler. */
export interface AdmissionContext<T extends KubeObject = KubeObject> {
  readonly request: AdmissionRequest<T>
  /** The stored object; absent for a create. */
  readonly oldObject: T | undefined
  /** Dry run: nothing is stored. */
  readonly dryRun: boolean
  /** Aborts when the API server no longer waits for the response. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Adds a warning for the user; the object is accepted. */
  warn(text: string): void
  /** Adds an annotation to the audit log of the server. */
  annotate(key: string, value: string): void
}

/** Returns the changed object, or nothing when it is fine. */
export type Mutator<T extends KubeObject> = (
  object: T,
  context: AdmissionContext<T>,
) => T | undefined | Promise<T | undefined>

/**
 * Refuses by throwing an `ApiError` ({@link deny}) or by returning field errors. For a deletion the object is the one that
 * is being deleted.
 */
export type Validator<T extends KubeObject> = (
  object: T,
  context: AdmissionContext<T>,
) => readonly FieldError[] | undefined | Promise<readonly FieldError[] | undefined>

/** A response to a request; throws when there is none. */
export type AdmissionHandler = (request: AdmissionRequest, options: HandlerOptions) => Promise<AdmissionDecision>

interface HandlerOptions {
  readonly signal: AbortSignal
  readonly log?: Logger
}

/** Refuses a request, with a sentence for the user: `throw deny('replicas must be odd')`. */
export function deny(why: string): ApiError {
  return new ApiError('Forbidden', why)
}

export function mutatingHandler<T extends KubeObject>(kind: Kind<T>, mutate: Mutator<T>): AdmissionHandler {
  return async (request, options) => {
    const object = request.object
    if (request.operation === 'DELETE' || request.operation === 'CONNECT' || !object) return {}
    return decide(kind, { request, ...options }, async (context) => {
      const changed = await mutate(context.request.object as T, context)
      return {
        patch: changed === undefined ? [] : diffJson(asJson(object), asJson(changed)),
      }
    })
  }
}

export function validatingHandler<T extends KubeObject>(kind: Kind<T>, validate: Validator<T>): AdmissionHandler {
  return async (request, options) => {
    const object = request.operation === 'DELETE' ? request.oldObject : request.object
    if (request.operation === 'CONNECT' || !object) return {}
    return decide(kind, { request, ...options }, async (context) => {
      const errors = (await validate(object as T, context)) ?? []
      if (errors.length === 0) return {}
      const { group } = parseApiVersion(request.apiVersion)
      return {
        refusal: invalid({ group, kind: request.kind, name: request.name ?? object.metadata.name ?? '' }, errors),
      }
    })
  }
}

async function decide<T extends KubeObject>(
  kind: Kind<T>,
  { request, signal, log = silentLogger }: HandlerOptions & { request: AdmissionRequest },
  run: (context: AdmissionContext<T>) => Promise<AdmissionDecision>,
): Promise<AdmissionDecision> {
  const warnings: string[] = []
  const annotations = new Map<string, string>()
  const frozen = deepFreeze(request) as AdmissionRequest<T>
  const context: AdmissionContext<T> = {
    request: frozen,
    oldObject: frozen.oldObject,
    dryRun: frozen.dryRun,
    signal,
    log: log.child({ kind: kind.kind, object: request.name, operation: request.operation }),
    warn: (text) => {
      if (text !== '') warnings.push(text)
    },
    annotate: (key, value) => {
      annotations.set(key, value)
    },
  }
  const extras = (): AdmissionDecision => ({ warnings, auditAnnotations: Object.fromEntries(annotations) })
  try {
    return { ...(await run(context)), ...extras() }
  } catch (error) {
    if (!isApiError(error)) throw error
    return { refusal: error, ...extras() }
  }
}

type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The user of the API server. */
interface AdmissionUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The request to the API server. */
interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly uid: string
  readonly operation: AdmissionOperation
  /** `Deployment` of `apps/v1`, in the version that the webhook asked for. */
  readonly apiVersion: string
  readonly kind: string
  /** Absent with `generateName`. */
  readonly name?: string
  readonly namespace?: string
  readonly subresource?: string
  readonly user: AdmissionUser
  /** Dry run: nothing is stored, and the handler must not have side effects either. */
  readonly dryRun: boolean
  /** The new state; absent for a delete. */
  readonly object?: T
  /** The old state; absent for a create. */
  readonly oldObject?: T
  readonly options?: JsonObject | null
}

export type ReviewVersion = 'v1' | 'v1beta1'

/** A decoded review. */
interface Review {
  readonly version: ReviewVersion
  readonly request: AdmissionRequest
}

/** The decision. */
interface AdmissionDecision {
  /** The refusal; absent when it is allowed. An `ApiError` is sent as it is, any other error as an internal error. */
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
    throw badRequest(`AdmissionReview has an unknown operation: ${JSON.stringify(operation ?? null)}`)
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
    ...(isJsonObject(object) && { object: asKubeObject(object) }),
    ...(isJsonObject(oldObject) && { oldObject: asKubeObject(oldObject) }),
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

/** The response to a review; to anything else, without uid and in the newest version. */
export function writeReview(
  { refusal, patch = [], warnings = [], auditAnnotations = {} }: AdmissionDecision,
  { version, uid }: { version: ReviewVersion; uid: string },
): JsonObject {
  const response: JsonObject = {
    uid,
    allowed: refusal === undefined,
    ...(refusal !== undefined && { status: asJson(toStatus(refusal)) }),
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: Buffer.from(stringifyJson(patch)).toString('base64') }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
    ...(Object.keys(auditAnnotations).length > 0 && { auditAnnotations: { ...auditAnnotations } }),
  }
  return { apiVersion: `admission.k8s.io/${version}`, kind: 'AdmissionReview', response }
}

/** The operations from one value to another, in the order in which they have to be applied. */
export function diffJson(before: JsonValue, after: JsonValue): JsonPatchOperation[] {
  const steps: JsonPatchOperation[] = []
  compare(before, after, { path: [], steps })
  return steps
}

interface DiffState {
  readonly path: readonly string[]
  readonly steps: JsonPatchOperation[]
}

function compare(before: JsonValue, after: JsonValue, place: DiffState): void {
  if (deepEqual(before, after)) return
  if (isJsonObject(before) && isJsonObject(after)) compareObjects(before, after, place)
  else if (Array.isArray(before) && Array.isArray(after)) compareArrays(before as JsonArray, after as JsonArray, place)
  else place.steps.push({ op: 'replace', path: formatPointer(place.path), value: after })
}

function compareObjects(before: JsonObject, after: JsonObject, { path, steps }: DiffState): void {
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && getOwn(after, key) === undefined)
      steps.push({ op: 'remove', path: formatPointer([...path, key]) })
  }
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue
    const old = getOwn(before, key)
    if (old === undefined) steps.push({ op: 'add', path: formatPointer([...path, key]), value })
    else compare(old, value, { path: [...path, key], steps })
  }
}

/** Equal parts at both ends stay; the part between is changed in pairs, then removed or added. */
function compareArrays(before: JsonArray, after: JsonArray, { path, steps }: DiffState): void {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && deepEqual(before[start], after[start])) start++
  let end = 0
  while (end < shorter - start && deepEqual(before[before.length - 1 - end], after[after.length - 1 - end])) end++
  const [beforeEnd, afterEnd] = [before.length - end, after.length - end]
  const paired = Math.min(beforeEnd, afterEnd)
  for (let index = start; index < paired; index++)
    compare(before[index] as JsonValue, after[index] as JsonValue, { path: [...path, String(index)], steps })
  // From the back, so that the positions of further removals stay valid.
  for (let index = beforeEnd - 1; index >= paired; index--)
    steps.push({ op: 'remove', path: formatPointer([...path, String(index)]) })
  for (let index = paired; index < afterEnd; index++)
    steps.push({ op: 'add', path: formatPointer([...path, String(index)]), value: after[index] as JsonValue })
}
