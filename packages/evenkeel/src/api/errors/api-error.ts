/**
 * The error of the API: a reason, a message, and the object that it is about; and the predicates for reasons and
 * causes.
 *
 * Server, client and controllers throw and recognise the same class. Recognition uses a registered symbol, not
 * `instanceof`, so errors of another copy of this package (a dependency's, a bundle's) are recognised as well.
 *
 * A known reason decides alone. Without a reason, or with an unknown one, the HTTP code decides: 404 then means
 * NotFound. A reason that shares its code with a more common one (AlreadyExists, Expired, ServerTimeout,
 * StorageReadError) is never derived from the code.
 */
import { quote } from '@evenkeel/cel/primitives'
import { formatGroupName } from '../group-version.ts'
import type { ListMeta } from '../object.ts'
import { isKnownReason, reasons, type CauseType, type Reason, type StatusCause } from './reasons.ts'

/** What an error is about; becomes `status.details`. */
export interface Subject {
  /** The API group, empty or absent for the core group. */
  readonly group?: string
  /** The resource (`deployments`), or the kind (`Deployment`) in validation errors: Kubernetes does the same. */
  readonly kind: string
  /** Absent when the error is about the resource as a whole. */
  readonly name?: string
  readonly uid?: string
}

export interface ApiErrorOptions {
  readonly subject?: Subject | undefined
  readonly causes?: readonly StatusCause[] | undefined
  /** How long a client should wait before it tries again. */
  readonly retryAfterMs?: number | undefined
  /** List metadata of the status; an expired continue token carries its replacement here. */
  readonly metadata?: ListMeta | undefined
  /** What led to this error. Stays in the process; the wire does not carry it. */
  readonly cause?: unknown
  /**
   * The HTTP code.
   *
   * @default the code of the reason
   */
  readonly code?: number | undefined
}

const brand = Symbol.for('evenkeel.ApiError')

/**
 * A refusal by an API server, or by code that acts as one. `reason` says which; `isNotFound`, `isConflict` and their
 * siblings ask for one.
 *
 * @example
 * try {
 *   await client.create(Website, site)
 * } catch (error) {
 *   if (!isAlreadyExists(error)) throw error
 *   console.log(error.reason, error.code, error.message)
 * }
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /**
   * What kind of refusal it is; `isNotFound` and its siblings compare it.
   *
   * @example if (error.reason === 'Conflict') return { afterMs: 1000 }
   */
  readonly reason: Reason | (string & {})
  /**
   * The HTTP status code.
   *
   * @example const isOurs = error.code < 500
   */
  readonly code: number
  /**
   * The object or resource that it is about.
   *
   * @example log.warn('missing', { object: error.subject?.name })
   */
  readonly subject: Subject | undefined
  /**
   * One entry for each invalid field.
   *
   * @example for (const { field, message } of error.causes) console.log(field, message)
   */
  readonly causes: readonly StatusCause[]
  /**
   * How long the server asks a client to wait before it tries again.
   *
   * @example return { afterMs: error.retryAfterMs ?? 1000 }
   */
  readonly retryAfterMs: number | undefined
  /**
   * List metadata: an expired continue token carries its replacement here.
   *
   * @example const next = error.metadata?.continue
   */
  readonly metadata: ListMeta | undefined

  /**
   * An error as a server would send it. The code follows from the reason.
   *
   * @example throw new ApiError('Forbidden', 'only the owner may do this')
   */
  constructor(reason: Reason | (string & {}), message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const {
      subject,
      causes = [],
      retryAfterMs,
      metadata,
      code = isKnownReason(reason) ? reasons[reason] : reasons.Unknown,
    } = options
    if (!(code >= 100 && code <= 999)) throw new RangeError(`code must be an HTTP status code, got ${code}`)
    this.reason = reason
    this.code = code
    this.subject = subject
    this.causes = causes
    this.retryAfterMs = retryAfterMs
    this.metadata = metadata
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is an {@link ApiError}, of this or another copy of the package. */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}

/** `deployments.apps "web"`, or without the name when there is none. */
export function formatSubject({ group = '', kind, name }: Subject): string {
  const groupName = formatGroupName(kind, group)
  return name ? `${groupName} ${quote(name)}` : groupName
}

// Predicates for reasons and causes.

/** Whether an error has a reason, by name or, for other servers, by its HTTP code. */
export function isReason(error: unknown, reason: Reason): error is ApiError {
  if (!isApiError(error)) return false
  if (error.reason === reason) return true
  if (alwaysByCode.has(reason)) return error.code === reasons[reason]
  const meaningless = !isKnownReason(error.reason) || error.reason === 'Unknown'
  return meaningless && !neverByCode.has(reason) && error.code === reasons[reason]
}

export const isUnauthorized = (error: unknown): error is ApiError => isReason(error, 'Unauthorized')
/**
 * Whether something thrown says that the server refused a request that its user is not allowed to make (403).
 *
 * @example
 * await client.list(Secret).catch((error: unknown) => {
 *   if (!isForbidden(error)) throw error
 *   log.warn('cannot list Secrets', { error })
 * })
 */
export const isForbidden = (error: unknown): error is ApiError => isReason(error, 'Forbidden')
/**
 * Whether something thrown says that the server has no such object (404).
 *
 * @example
 * await client.delete(config).catch((error: unknown) => {
 *   if (!isNotFound(error)) throw error
 * })
 */
export const isNotFound = (error: unknown): error is ApiError => isReason(error, 'NotFound')
/**
 * Whether something thrown says that the server has an object of that name already (409).
 *
 * @example
 * await client.create(ConfigMap, config).catch((error: unknown) => {
 *   if (!isAlreadyExists(error)) throw error
 * })
 */
export const isAlreadyExists = (error: unknown): error is ApiError => isReason(error, 'AlreadyExists')
/**
 * Whether something thrown says that the server refused a write because the object changed since it was read, or because
 * another manager owns a field (409).
 *
 * @example
 * try {
 *   await client.update({ ...site, spec: { ...site.spec, replicas: 3 } })
 * } catch (error) {
 *   if (!isConflict(error)) throw error // read again and repeat the change
 * }
 */
export const isConflict = (error: unknown): error is ApiError => isReason(error, 'Conflict')
export const isGone = (error: unknown): error is ApiError => isReason(error, 'Gone')
/**
 * Whether something thrown says that the server refused an object with invalid fields (422); `causes` names each field.
 *
 * @example
 * await client.create(Website, site).catch((error: unknown) => {
 *   if (!isInvalid(error)) throw error
 *   for (const { field, message } of error.causes) console.log(field, message)
 * })
 */
export const isInvalid = (error: unknown): error is ApiError => isReason(error, 'Invalid')
export const isServerTimeout = (error: unknown): error is ApiError => isReason(error, 'ServerTimeout')
export const isStorageReadError = (error: unknown): error is ApiError => isReason(error, 'StorageReadError')
export const isTimeout = (error: unknown): error is ApiError => isReason(error, 'Timeout')
export const isTooManyRequests = (error: unknown): error is ApiError => isReason(error, 'TooManyRequests')
export const isBadRequest = (error: unknown): error is ApiError => isReason(error, 'BadRequest')
export const isMethodNotAllowed = (error: unknown): error is ApiError => isReason(error, 'MethodNotAllowed')
export const isNotAcceptable = (error: unknown): error is ApiError => isReason(error, 'NotAcceptable')
export const isRequestEntityTooLarge = (error: unknown): error is ApiError => isReason(error, 'RequestEntityTooLarge')
export const isUnsupportedMediaType = (error: unknown): error is ApiError => isReason(error, 'UnsupportedMediaType')
export const isInternalError = (error: unknown): error is ApiError => isReason(error, 'InternalError')
export const isExpired = (error: unknown): error is ApiError => isReason(error, 'Expired')
export const isServiceUnavailable = (error: unknown): error is ApiError => isReason(error, 'ServiceUnavailable')

/** The first cause of a type, if the error has one. */
export function findCause(error: unknown, type: CauseType): StatusCause | undefined {
  return isApiError(error) ? error.causes.find((cause) => cause.reason === type) : undefined
}

// Proxies answer 429 and 413 with bodies of their own making, so upstream trusts these two codes over any reason.
const alwaysByCode: ReadonlySet<Reason> = new Set(['TooManyRequests', 'RequestEntityTooLarge'])
const neverByCode: ReadonlySet<Reason> = new Set([
  'AlreadyExists',
  'Expired',
  'ServerTimeout',
  'StorageReadError',
  'Unknown',
])
