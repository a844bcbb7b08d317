/**
 * One small function per way to refuse, with the sentence kube-apiserver uses: tools and tests match on these texts.
 *
 * `Invalid` is made in `field-error.ts`, from the list of fields that are wrong.
 */
import { quote } from '@evenkeel/cel/primitives'
import { formatGroupName } from '../group-version.ts'
import { ApiError, formatSubject, type Subject } from './api-error.ts'
import type { StatusCause } from './reasons.ts'

/** A subject with a name: an error about one object. */
export type NamedSubject = Subject & { readonly name: string }

export function notFound(subject: NamedSubject): ApiError {
  return new ApiError('NotFound', `${formatNamed(subject)} not found`, { subject })
}

/** The name exists already; `terminating` means that the existing object is being deleted. */
export function alreadyExists(
  subject: NamedSubject,
  { terminating = false }: { terminating?: boolean } = {},
): ApiError {
  const prefix = terminating ? 'object is being deleted: ' : ''
  return new ApiError('AlreadyExists', `${prefix}${formatNamed(subject)} already exists`, { subject })
}

/** Every generated name was taken; trying again gives other names. */
export function generateNameConflict(subject: NamedSubject): ApiError {
  const message = `${formatNamed(subject)} already exists, the server was not able to generate a unique name for the object`
  return new ApiError('AlreadyExists', message, { subject, retryAfterMs: 1000 })
}

export function unauthorized(message = 'Unauthorized'): ApiError {
  return new ApiError('Unauthorized', message)
}

/** Without a subject the error is about a non-resource path. */
export function forbidden(
  subject: Subject | undefined,
  why: string,
  { causes }: { causes?: readonly StatusCause[] } = {},
): ApiError {
  const message = subject ? `${formatSubject(subject)} is forbidden: ${why}` : `forbidden: ${why}`
  return new ApiError('Forbidden', message, { subject, causes })
}

/** Nothing new may be created in a namespace that is being deleted. */
export function namespaceTerminating(subject: Subject, namespace: string): ApiError {
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]
  return forbidden(subject, `unable to create new content in namespace ${namespace} because it is being terminated`, {
    causes,
  })
}

export function conflict(subject: NamedSubject, why: string, { cause }: { cause?: unknown } = {}): ApiError {
  return new ApiError('Conflict', `Operation cannot be fulfilled on ${formatNamed(subject)}: ${why}`, {
    subject,
    cause,
  })
}

/** The commonest conflict: the object changed between the read and the write. */
export function staleVersion(subject: NamedSubject): ApiError {
  return conflict(
    subject,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

/** Other managers own fields that an apply wants to change; one cause per field. */
export function applyConflict(message: string, causes: readonly StatusCause[]): ApiError {
  return new ApiError('Conflict', message, { causes })
}

export function gone(message: string): ApiError {
  return new ApiError('Gone', message)
}

/** The history asked for is no longer kept. `continueToken` lets a list go on from its place, on newer data. */
export function expired(message: string, { continueToken }: { continueToken?: string } = {}): ApiError {
  return new ApiError('Expired', message, {
    ...(continueToken !== undefined && { metadata: { continue: continueToken } }),
  })
}

export function badRequest(message: string, { cause }: { cause?: unknown } = {}): ApiError {
  return new ApiError('BadRequest', message, { cause })
}

export function tooManyRequests(message: string, { retryAfterMs = 1000 }: { retryAfterMs?: number } = {}): ApiError {
  return new ApiError('TooManyRequests', message, { retryAfterMs })
}

export function serviceUnavailable(message: string, { retryAfterMs }: { retryAfterMs?: number } = {}): ApiError {
  return new ApiError('ServiceUnavailable', message, { retryAfterMs })
}

/** The resource exists and does not support the action. */
export function methodNotAllowed(subject: Subject, action: string): ApiError {
  const groupName = quote(formatGroupName(subject.kind, subject.group ?? ''))
  return new ApiError('MethodNotAllowed', `${action} is not supported on resources of kind ${groupName}`, { subject })
}

/** Storage did not answer in time. The name in the details is the operation: upstream's habit, kept. */
export function serverTimeout(
  subject: Subject,
  operation: string,
  { retryAfterMs = 2000 }: { retryAfterMs?: number } = {},
): ApiError {
  const groupName = formatGroupName(subject.kind, subject.group ?? '')
  const message = `The ${operation} operation against ${groupName} could not be completed at this time, please try again.`
  return new ApiError('ServerTimeout', message, { subject: { ...subject, name: operation }, retryAfterMs })
}

/** The request took too long; it may still take effect. */
export function timeout(
  message: string,
  { retryAfterMs, causes }: { retryAfterMs?: number; causes?: readonly StatusCause[] } = {},
): ApiError {
  return new ApiError('Timeout', `Timeout: ${message}`, { retryAfterMs, causes })
}

/** The client asks for a resource version that this server has not reached. */
export function resourceVersionTooLarge(requested: string, current: string): ApiError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  return timeout(`Too large resource version: ${requested}, current: ${current}`, { retryAfterMs: 1000, causes })
}

export function requestEntityTooLarge(message: string): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: ${message}`)
}

export function notAcceptable(accepted: readonly string[]): ApiError {
  return new ApiError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new ApiError('UnsupportedMediaType', message)
}

/** An unexpected error, attached as the cause. */
export function internalError(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error)
  return new ApiError('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }], cause: error })
}

// Unlike formatSubject this never drops an empty name: upstream prints `pods "" not found`.
function formatNamed({ group = '', kind, name }: NamedSubject): string {
  return `${formatGroupName(kind, group)} ${quote(name)}`
}
