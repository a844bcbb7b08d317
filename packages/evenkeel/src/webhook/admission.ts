/**
 * What people write: a function that completes objects, a function that judges them; and what a review means to it.
 *
 * Invariants: objects are frozen, a handler gives back a new one; nothing that is deleted is completed; what a handler
 * says by `ApiError` or by field errors is its decision, anything else it throws is a mistake of its own.
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
} from '#api'
import { silentLogger, type Logger } from '#base'

/** What a handler is given beside the object. */
export interface AdmissionContext<T extends KubeObject = KubeObject> {
  readonly request: AdmissionRequest<T>
  /** The object as it is stored; absent when it is new. */
  readonly oldObject: T | undefined
  /** Nothing will be stored. */
  readonly dryRun: boolean
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Tells the caller something; the object is taken all the same. */
  warn(text: string): void
  /** Puts something into the audit log of the server. */
  annotate(key: string, value: string): void
}

/** Gives the object as it should be, or nothing when it is fine. */
export type Mutator<T extends KubeObject> = (
  object: T,
  context: AdmissionContext<T>,
) => T | undefined | Promise<T | undefined>

/**
 * Refuses by throwing an `ApiError` ({@link deny}) or by giving back what is wrong with which field. For a deletion the
 * object is the one that is to go.
 */
export type Validator<T extends KubeObject> = (
  object: T,
  context: AdmissionContext<T>,
) => readonly FieldError[] | undefined | Promise<readonly FieldError[] | undefined>

/** An answer to a request, or a throw when there is none. */
export type AdmissionHandler = (request: AdmissionRequest, options: HandlerOptions) => Promise<AdmissionDecision>

interface HandlerOptions {
  readonly signal: AbortSignal
  readonly log?: Logger
}

/** Refuses what was asked for, with a sentence for whoever asked: `throw deny('replicas must be odd')`. */
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
        patch: changed === undefined ? [] : diffJson(object as unknown as JsonValue, changed as unknown as JsonValue),
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

/*
 * The AdmissionReview protocol: what the API server asks, and how it is answered. Both versions are spoken, each is
 * answered in itself.
 *
 * An answer always has the form of a review. The HTTP code says whether it is one: with 200 the handler has decided; with
 * anything else it could not, and the `failurePolicy` of the configuration does.
 */

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
interface AdmissionDecision {
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

/*
 * What a handler changed, as a JSON patch: the API server wants steps, and people write objects.
 *
 * Invariants: applied to `before` the patch gives `after`, whatever the keys are called; equal values give no steps; a
 * key whose value is `undefined` counts as absent.
 */

/** The steps from one value to another, in the order in which they have to be taken. */
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

/** What is the same at both ends stays; what lies between is changed in pairs, then removed or added. */
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
  // From the back, so that what is still to be removed keeps its place.
  for (let index = beforeEnd - 1; index >= paired; index--)
    steps.push({ op: 'remove', path: formatPointer([...path, String(index)]) })
  for (let index = paired; index < afterEnd; index++)
    steps.push({ op: 'add', path: formatPointer([...path, String(index)]), value: after[index] as JsonValue })
}
