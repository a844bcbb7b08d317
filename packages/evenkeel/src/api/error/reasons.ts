/**
 * Why a request can fail: every reason a Kubernetes API server gives, with its HTTP code, and every cause type.
 *
 * The names are those of the wire (`status.reason`). Two differ from the Go constants: `StatusReasonStoreReadError`
 * is sent as `StorageReadError`, and `StatusReasonUnknown` is sent as no reason at all.
 */

/** Reason to HTTP code. A status may carry another code (a webhook chooses its own); the reason decides. */
export const reasons = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Invalid: 422,
  ServerTimeout: 500,
  StorageReadError: 500,
  Timeout: 504,
  TooManyRequests: 429,
  BadRequest: 400,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  InternalError: 500,
  Expired: 410,
  ServiceUnavailable: 503,
  Unknown: 500,
} as const

export type Reason = keyof typeof reasons

/** Whether a text is a reason of the table, so that its meaning is known. */
export function isKnownReason(text: string): text is Reason {
  return Object.hasOwn(reasons, text)
}

/** Cause types of field errors, each with the words its message starts with. */
export const fieldCauses = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooShort: 'Too short',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
} as const

export type FieldCauseType = keyof typeof fieldCauses

/** Cause types that are not about a field of the object. */
export const otherCauses = {
  UnexpectedServerResponse: 'the answer did not come from an API server, or not from a healthy one',
  FieldManagerConflict: 'another manager owns a field that an apply wants to change',
  ResourceVersionTooLarge: 'the version asked for has not happened yet',
  NamespaceTerminating: 'the namespace is being deleted and takes nothing new',
} as const

export type CauseType = FieldCauseType | keyof typeof otherCauses

/** One entry of `status.details.causes`. The wire calls the type `reason`. */
export interface StatusCause {
  readonly reason?: CauseType | (string & {})
  readonly message?: string
  readonly field?: string
}
