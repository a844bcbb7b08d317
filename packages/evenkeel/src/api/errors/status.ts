/**
 * Converts errors to `Status` objects and back: the body of every failed request and of every ERROR watch event.
 *
 * Invariant: `fromStatus(toStatus(error))` has the same reason, code, message, subject, causes and metadata;
 * `retryAfterMs` is rounded up to whole seconds, and the process-local `cause` is not encoded.
 */
import { isJsonObject, quote } from '@evenkeel/cel/primitives'
import { formatGroupName } from '../group-version.ts'
import type { ListMeta } from '../object.ts'
import { ApiError, isApiError, type Subject } from './api-error.ts'
import { internalError } from './constructors.ts'
import type { Reason, StatusCause } from './reasons.ts'

/** `status.details`: the subject of the error. */
type StatusDetails = {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export type Status = {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: ListMeta
  readonly status?: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

/** The Status of anything thrown. Any value but an {@link ApiError} becomes an internal error. */
export function toStatus(error: unknown): Status {
  const known = isApiError(error) ? error : internalError(error)
  const details = detailsOf(known)
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: known.metadata ?? {},
    status: 'Failure',
    ...(known.message && { message: known.message }),
    ...(known.reason !== 'Unknown' && { reason: known.reason }),
    ...((known.subject !== undefined || Object.keys(details).length > 0) && { details }),
    code: known.code,
  }
}

/** The error of a Status. Fields that another server omitted or mistyped are omitted here too. */
export function fromStatus(status: Partial<Status>): ApiError {
  const details: StatusDetails = isJsonObject(status.details) ? status.details : {}
  return new ApiError(status.reason || 'Unknown', status.message ?? '', {
    subject: subjectOf(details),
    causes: Array.isArray(details.causes) ? details.causes.filter(isJsonObject) : [],
    ...(details.retryAfterSeconds && { retryAfterMs: details.retryAfterSeconds * 1000 }),
    ...(isJsonObject(status.metadata) && Object.keys(status.metadata).length > 0 && { metadata: status.metadata }),
    ...(validCode(status.code) && { code: status.code }),
  })
}

/** Whether a JSON value is a Status that reports a failure. */
export function isFailureStatus(value: unknown): value is Status {
  return isJsonObject(value) && value['kind'] === 'Status' && value['status'] !== 'Success'
}

interface UnexpectedResponse {
  readonly code: number
  /** The HTTP method: a conflict on POST means that the name exists already. */
  readonly method: string
  readonly subject?: Subject
  /** The body, if it was text. */
  readonly text?: string
  readonly retryAfterMs?: number
}

/** The error of a response whose body is not a Status: from a proxy, or from a server that is not a Kubernetes API. */
export function fromUnexpectedResponse({
  code,
  method,
  subject,
  text = 'unknown',
  retryAfterMs,
}: UnexpectedResponse): ApiError {
  const { reason, message } = meaningOf(code, method, text)
  const target =
    subject &&
    [method.toLowerCase(), formatGroupName(subject.kind, subject.group ?? ''), subject.name].filter(Boolean).join(' ')
  const causes = [{ reason: 'UnexpectedServerResponse', message: text }]
  return new ApiError(reason, target ? `${message} (${target})` : message, { subject, causes, retryAfterMs, code })
}

const meanings = new Map<number, { readonly reason: Reason; readonly message: string }>([
  [400, { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' }],
  [401, { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' }],
  [404, { reason: 'NotFound', message: 'the server could not find the requested resource' }],
  [405, { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' }],
  [
    406,
    {
      reason: 'NotAcceptable',
      message: 'the server was unable to respond with a content type that the client supports',
    },
  ],
  [409, { reason: 'Conflict', message: 'the server reported a conflict' }],
  [422, { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' }],
  [
    429,
    {
      reason: 'TooManyRequests',
      message: 'the server has received too many requests and has asked us to try again later',
    },
  ],
  [503, { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' }],
  [
    504,
    {
      reason: 'Timeout',
      message:
        'the server was unable to return a response in the time allotted, but may still be processing the request',
    },
  ],
])

function meaningOf(code: number, method: string, text: string): { reason: Reason; message: string } {
  if (code === 409 && method.toUpperCase() === 'POST')
    return { reason: 'AlreadyExists', message: 'the server reported a conflict' }
  if (code === 403) return { reason: 'Forbidden', message: text }
  if (code === 415) return { reason: 'UnsupportedMediaType', message: text }
  if (code === 406 && text !== 'unknown') return { reason: 'NotAcceptable', message: text }
  const known = meanings.get(code)
  if (known) return known
  if (code >= 500)
    return {
      reason: 'InternalError',
      message: `an error on the server (${quote(text)}) has prevented the request from succeeding`,
    }
  return {
    reason: 'Unknown',
    message: `the server responded with the status code ${code} but did not return more information`,
  }
}

function detailsOf({ subject, causes, retryAfterMs = 0 }: ApiError): StatusDetails {
  return {
    ...(subject?.name && { name: subject.name }),
    ...(subject?.group && { group: subject.group }),
    ...(subject?.kind && { kind: subject.kind }),
    ...(subject?.uid && { uid: subject.uid }),
    ...(causes.length > 0 && { causes }),
    ...(retryAfterMs > 0 && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  }
}

function subjectOf({ name, group, kind, uid }: StatusDetails): Subject | undefined {
  if (!name && !group && !kind && !uid) return undefined
  return { kind: kind ?? '', ...(group && { group }), ...(name && { name }), ...(uid && { uid }) }
}

function validCode(code: number | undefined): boolean {
  return typeof code === 'number' && code >= 100 && code <= 999
}
