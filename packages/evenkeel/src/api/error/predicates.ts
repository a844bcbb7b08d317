/**
 * Questions about errors: is it this reason, does it have that cause?
 *
 * A reason that is in the table decides alone. Only when a server sent none, or one nobody knows, does the HTTP code
 * speak: 404 then means NotFound. Reasons that share their code with a commoner one (AlreadyExists, Expired,
 * ServerTimeout, StorageReadError) are never guessed from it.
 */
import { isApiError } from './api-error.ts'
import type { ApiError } from './api-error.ts'
import { isKnownReason, reasons } from './reasons.ts'
import type { CauseType, Reason, StatusCause } from './reasons.ts'

/** Whether an error has a reason, by name or, for foreign servers, by its HTTP code. */
export function isReason(error: unknown, reason: Reason): error is ApiError {
  if (!isApiError(error)) return false
  if (error.reason === reason) return true
  if (alwaysByCode.has(reason)) return error.code === reasons[reason]
  const meaningless = !isKnownReason(error.reason) || error.reason === 'Unknown'
  return meaningless && !neverByCode.has(reason) && error.code === reasons[reason]
}

export const isUnauthorized = (error: unknown): error is ApiError => isReason(error, 'Unauthorized')
export const isForbidden = (error: unknown): error is ApiError => isReason(error, 'Forbidden')
export const isNotFound = (error: unknown): error is ApiError => isReason(error, 'NotFound')
export const isAlreadyExists = (error: unknown): error is ApiError => isReason(error, 'AlreadyExists')
export const isConflict = (error: unknown): error is ApiError => isReason(error, 'Conflict')
export const isGone = (error: unknown): error is ApiError => isReason(error, 'Gone')
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
