/**
 * The one error of the API: a reason, a sentence, and what it is about.
 *
 * Server, client and controllers throw and recognise the same class. Recognition goes by a registered symbol, not by
 * `instanceof`, so errors of another copy of this package (a dependency's, a bundle's) are understood as well.
 */
import type { ListMeta } from '../object.ts'
import { quote } from '../text.ts'
import { formatGroupName } from '../kind/group-version.ts'
import { isKnownReason, reasons } from './reasons.ts'
import type { Reason, StatusCause } from './reasons.ts'

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

/** A refusal by an API server, or by code that acts as one. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly reason: Reason | (string & {})
  readonly code: number
  readonly subject: Subject | undefined
  readonly causes: readonly StatusCause[]
  readonly retryAfterMs: number | undefined
  readonly metadata: ListMeta | undefined

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
