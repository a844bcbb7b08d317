/**
 * When a failed attempt is repeated, and after how long.
 *
 * Attempt n + 1 follows attempt n after `backoffMs` · 2^(n-1), at most `maxBackoffMs`, and not before the time that the
 * error asks for (`retryAfterMs`). Everything here is a pure function, so a restarted process comes to the same result.
 *
 *   attempts: 4, backoffMs: 1000, maxBackoffMs: 3000 ──▶ waits 1 s, 2 s, 3 s, then fails for good
 */
import { isConnectionError } from '#client'

/** How often a failed operation is attempted again. */
export interface RetryOptions {
  /** How many attempts there are in all. */
  readonly attempts: number
  /** The wait after the first attempt; it doubles with each. @default 1000 */
  readonly backoffMs?: number
  /** @default 300_000 (five minutes) */
  readonly maxBackoffMs?: number
  /**
   * Whether an error is worth another attempt. @default transient ones: status 429 or 5xx, a broken connection, a timeout
   */
  readonly retryOn?: (error: unknown) => boolean
}

/** @throws {RangeError} for invalid options. */
export function checkRetry(who: string, { attempts, backoffMs = 1000, maxBackoffMs = 300_000 }: RetryOptions): void {
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= 1000))
    throw new RangeError(`${who}: retry.attempts must be a whole number from 1 to 1000, got ${attempts}`)
  if (!(backoffMs > 0 && maxBackoffMs >= backoffMs && maxBackoffMs < Infinity))
    throw new RangeError(
      `${who}: retry.backoffMs must be above 0 and at most maxBackoffMs, got ${backoffMs} and ${maxBackoffMs}`,
    )
}

/** How long to wait after this attempt (the first is 1) failed; undefined: it was the last one. */
export function retryDelayMs(
  { attempts, backoffMs = 1000, maxBackoffMs = 300_000, retryOn = isTransient }: RetryOptions,
  attempt: number,
  error: unknown,
): number | undefined {
  if (attempt >= attempts || !retryOn(error)) return undefined
  const doubledMs = backoffMs * 2 ** Math.min(attempt - 1, 40)
  return Math.max(Math.min(doubledMs, maxBackoffMs), askedMs(error))
}

/** Longer waits than this are not believed. */
const askedMaxMs = 3_600_000

function askedMs(error: unknown): number {
  const { retryAfterMs } = fieldsOf(error)
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? Math.min(retryAfterMs, askedMaxMs) : 0
}

const transientCodes: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
])
const causesMax = 5

/** Whether an error may pass by itself, by its status or code, or by those of its causes. */
function isTransient(error: unknown): boolean {
  let current = error
  for (let depth = 0; depth < causesMax; depth++) {
    const { status, statusCode, code, name, cause } = fieldsOf(current)
    const http = [status, statusCode, code].find((value) => typeof value === 'number' && value >= 100 && value < 600)
    if (http !== undefined) return http === 429 || Number(http) >= 500
    if (isConnectionError(current) || name === 'TimeoutError' || transientCodes.has(code)) return true
    if (typeof code === 'string' && code.startsWith('UND_ERR_')) return true
    if (cause === undefined) return false
    current = cause
  }
  return false
}

function fieldsOf(error: unknown): { readonly [name: string]: unknown } {
  return typeof error === 'object' && error !== null ? (error as { readonly [name: string]: unknown }) : {}
}
