/**
 * Answers that no server gave: refusals, and connections that break.
 */
import type { JsonObject } from '#api'
import type { WireResponse } from '#wire'

/** What is said instead of doing it. */
export interface ErrorResponse {
  readonly status: number
  readonly reason: string
  readonly retryAfterSeconds?: number
  readonly message?: string
  /** Why, for programs: `NamespaceTerminating`. */
  readonly cause?: string
}

export function errorResponse({
  status,
  reason,
  retryAfterSeconds,
  message = `simulated: ${reason}`,
  cause,
}: ErrorResponse): WireResponse {
  const details: JsonObject = {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { causes: [{ reason: cause, message }] }),
  }
  const document: JsonObject = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code: status,
    ...(Object.keys(details).length > 0 && { details }),
  }
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
    body: Buffer.from(JSON.stringify(document)),
  }
}

/** A watch is told that its version is too old. */
export function expiredWatchResponse(): WireResponse {
  const object = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'too old resource version',
    reason: 'Expired',
    code: 410,
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`),
  }
}

/** As Node has it when the other side hangs up. */
export function connectionReset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}
