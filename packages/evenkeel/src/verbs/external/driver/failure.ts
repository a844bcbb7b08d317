/**
 * What a failure of a call says: that the thing is not there, that nothing was done, that it was too much, or nothing.
 *
 * Drivers throw whatever their libraries throw. Most carry a status somewhere; where there is none, nobody knows whether
 * the call was carried out, and that is what is assumed.
 */

/** An error with a status, for drivers that have nothing better to throw. */
export class ExternalError extends Error {
  override readonly name = 'ExternalError'
  /** As HTTP has it. */
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    { status, retryAfterMs, cause }: { status: number; retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, { cause })
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Why a call was not even made. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
  readonly retryAfterMs: number

  constructor(message: string, { retryAfterMs, cause }: { retryAfterMs: number; cause?: unknown }) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

export function isProviderUnavailable(error: unknown): error is ProviderUnavailable {
  return error instanceof ProviderUnavailable
}

export type Failure = 'absent' | 'refused' | 'throttled' | 'unknown'

/** What is known after a call failed. */
export function failureOf(error: unknown): Failure {
  const status = statusOf(error)
  if (status === undefined) return 'unknown'
  if (status === 404 || status === 410) return 'absent'
  if (status === 429) return 'throttled'
  // 408: it gave up waiting, not necessarily doing.
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unknown'
}

const longestMs = 3_600_000

/** How long the system asked us to stay away. */
export function retryAfterOf(error: unknown): number | undefined {
  const { retryAfterMs } = fieldsOf(error)
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.min(retryAfterMs, longestMs) : undefined
}

/** What to tell people; long answers are cut. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > 300 ? `${text.slice(0, 297)}...` : text
}

function statusOf(error: unknown): number | undefined {
  const { status, statusCode, code } = fieldsOf(error)
  return [status, statusCode, code].find(
    (value): value is number => typeof value === 'number' && value >= 100 && value < 600,
  )
}

function fieldsOf(error: unknown): { readonly [name: string]: unknown } {
  return typeof error === 'object' && error !== null ? (error as { readonly [name: string]: unknown }) : {}
}
