/**
 * The reasons and cause types of a Kubernetes API server, with their HTTP codes, and the reference page about them.
 *
 * The names are those of the wire (`status.reason`). Two differ from the Go constants: `StatusReasonStoreReadError` is
 * sent as `StorageReadError`, and `StatusReasonUnknown` is sent as no reason at all.
 *
 * The page is generated from the tables; a test compares it with `docs/reference/errors.md`.
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

/** The reason of an {@link ApiError}, as `status.reason` has it on the wire: `NotFound`, `Conflict`, `Invalid` ... */
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
export type StatusCause = {
  readonly reason?: CauseType | (string & {})
  readonly message?: string
  readonly field?: string
}

// The reference page.

interface ReasonNote {
  readonly meaning: string
  readonly advice: string
}

const notes: Readonly<Record<Reason, ReasonNote>> = {
  Unauthorized: {
    meaning: 'The server does not know who is calling.',
    advice: 'Check the token or the certificate in your kubeconfig.',
  },
  Forbidden: {
    meaning: 'The caller is known and may not do this.',
    advice: 'Ask for a role that allows it; the message names verb and resource.',
  },
  NotFound: {
    meaning: 'No object of that name, or no such resource.',
    advice: 'Often fine: what should be gone is gone. Otherwise check name and namespace.',
  },
  AlreadyExists: { meaning: 'The name is taken.', advice: 'Read the object and change it, or choose another name.' },
  Conflict: {
    meaning: 'The object changed since it was read, or another manager owns a field.',
    advice: 'Read again and try again; never overwrite blindly.',
  },
  Gone: { meaning: 'An older spelling of Expired.', advice: 'As for Expired.' },
  Invalid: {
    meaning: 'The object is understood and not acceptable.',
    advice: 'Every cause names a field and what is wrong with it.',
  },
  ServerTimeout: {
    meaning: 'The server could not finish in time; nothing was decided.',
    advice: 'Try again after the time it asks for.',
  },
  StorageReadError: {
    meaning: 'Stored data cannot be read back.',
    advice: 'An operator has to look at the storage; trying again does not help.',
  },
  Timeout: {
    meaning: 'No answer in time; the request may still take effect.',
    advice: 'Read before you repeat a write.',
  },
  TooManyRequests: { meaning: 'The server protects itself.', advice: 'Wait as long as it asks, then go slower.' },
  BadRequest: {
    meaning: 'The request itself makes no sense.',
    advice: 'Fix the request; sending it again gives the same answer.',
  },
  MethodNotAllowed: { meaning: 'The resource exists and does not do this.', advice: 'Look at the verbs in discovery.' },
  NotAcceptable: { meaning: 'None of the wanted answer formats is available.', advice: 'Ask for `application/json`.' },
  RequestEntityTooLarge: { meaning: 'The body or the patch is too big.', advice: 'Send less at once.' },
  UnsupportedMediaType: {
    meaning: 'The body is in a format this resource does not take.',
    advice: 'The message lists the formats it takes.',
  },
  InternalError: {
    meaning: 'An unexpected error occurred in the server.',
    advice: 'Look at the log of the server; report it if it persists.',
  },
  Expired: {
    meaning: 'The version or page asked for is no longer kept.',
    advice: 'List again; for a page, the answer may carry a token to go on.',
  },
  ServiceUnavailable: { meaning: 'The server, or a part of it, is not there right now.', advice: 'Try again later.' },
  Unknown: { meaning: 'The server gave no reason; on the wire the field is absent.', advice: 'Go by the HTTP code.' },
}

/** The page, in Markdown. */
export function errorReference(): string {
  const reasonRows = Object.entries(reasons).map(([reason, code]) => {
    const { meaning, advice } = notes[reason as Reason]
    return `| \`${reason}\` | ${code} | ${meaning} | ${advice} |`
  })
  const fieldRows = Object.entries(fieldCauses).map(([cause, words]) => `| \`${cause}\` | ${words} |`)
  const otherRows = Object.entries(otherCauses).map(([cause, meaning]) => `| \`${cause}\` | ${meaning} |`)
  return [
    '# Errors',
    '',
    'Every refusal is an `ApiError` with one of these reasons; on the wire it is a `Status` object.',
    'This page is made by `errorReference()` in `packages/evenkeel/src/api/error/reference.ts`, and a test keeps it up to date.',
    '',
    '## Reasons',
    '',
    '| Reason | HTTP | What happened | What to do |',
    '|---|---|---|---|',
    ...reasonRows,
    '',
    '## Causes about a field',
    '',
    '| Cause | The message begins with |',
    '|---|---|',
    ...fieldRows,
    '',
    '## Other causes',
    '',
    '| Cause | Meaning |',
    '|---|---|',
    ...otherRows,
    '',
  ].join('\n')
}
