/**
 * The error of an answer that refuses: its Status if it has one, what can be made of it otherwise.
 */
import { ApiError, fromStatus, fromUnexpectedResponse, isFailureStatus } from '#api'
import type { Subject } from '#api'
import type { WireHeaders } from '#wire'

interface ErrorResponse {
  readonly status: number
  readonly method: string
  readonly headers: WireHeaders
  readonly text: string
  readonly subject?: Subject | undefined
}

/** At most so much of a text that is no Status gets into a message: proxies answer with whole pages. */
const textMax = 500

export function toApiError({ status, method, headers, text, subject }: ErrorResponse): ApiError {
  const retryAfterMs = retryAfterOf(headers)
  const parsed = parseStatus(text)
  if (parsed === undefined) {
    return fromUnexpectedResponse({
      code: status,
      method,
      ...(subject && { subject }),
      ...(text !== '' && { text: shorten(text) }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
  const error = fromStatus({ code: status, ...parsed })
  if (error.retryAfterMs !== undefined || retryAfterMs === undefined) return error
  const { reason, message, causes, metadata, code } = error
  return new ApiError(reason, message, { subject: error.subject, causes, metadata, code, retryAfterMs })
}

/** What `Retry-After` asks for, in milliseconds; dates are not read, as in other clients. */
export function retryAfterOf(headers: WireHeaders): number | undefined {
  const text = headers['retry-after']
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined
}

function parseStatus(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isFailureStatus(value) ? value : undefined
  } catch {
    return undefined
  }
}

function shorten(text: string): string {
  const trimmed = text.trim()
  return trimmed.length > textMax ? `${trimmed.slice(0, textMax)}...` : trimmed
}
