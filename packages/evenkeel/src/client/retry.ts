/**
 * Retries and a rate limit, each as a wrapper of a transport.
 *
 * | response                                 | reads | creates | other writes |
 * |------------------------------------------|-------|---------|--------------|
 * | 429                                      | yes   | yes     | yes          |
 * | 503 with Retry-After                     | yes   | yes     | yes          |
 * | another 5xx with Retry-After             | yes   | no      | yes          |
 * | cut off before the response (reset)      | yes   | no      | no           |
 *
 * 429 and 503 say that the server has not started; after any other failure a create may have succeeded, and a second one
 * would create a second object. Waits are what the server asks for plus up to a tenth, to spread the load. If the server
 * asks for more than `waitMaxMs` there is no retry, and the error has the wait.
 *
 * The rate limit is a token bucket: `burst` requests at once, then `perSecond`, in the order of their arrival. It is off
 * by default: servers protect themselves, and a forgotten limit is hard to find.
 */
import { acceptLightSignals, ExponentialBackoff, sleep, type Clock, type Random } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { isConnectionError } from './connection-error.ts'
import { retryAfterOf } from './rest-client.ts'

interface RetryOptions {
  readonly clock: Clock
  readonly random: Random
  /** @default 10 */
  readonly retriesMax?: number
  /**
   * The longest wait that a server may ask for.
   *
   * @default 30_000
   */
  readonly waitMaxMs?: number
}

/** The wait after a 429 without Retry-After. */
const defaultWaitMs = 1000

export function withRetry(
  transport: Transport,
  { clock, random, retriesMax = 10, waitMaxMs = 30_000 }: RetryOptions,
): Transport {
  if (!(retriesMax >= 0)) throw new RangeError(`retriesMax must be 0 or more, got ${retriesMax}`)
  const backoff = new ExponentialBackoff({ random, baseMs: 25, maxMs: 1000, jitter: { from: 1, by: 0.1 } })
  const retrying: Transport = async (request) => {
    // A body that comes in chunks cannot be sent again.
    const isRepeatable = request.body === undefined || request.body instanceof Uint8Array
    for (let retries = 0; ; retries++) {
      const isLast = retries >= retriesMax || !isRepeatable
      const response = await attempt(transport, request, isLast)
      const askedMs = response && waitOf(response, request)
      if (response && (askedMs === undefined || isLast || askedMs > waitMaxMs)) return response
      await drop(response)
      // The back-off is the least: a server that asks for no wait at all must not cause a busy loop.
      await sleep(clock, backoff.delayMs(retries, { leastMs: askedMs ?? 0 }), { signal: request.signal })
    }
  }
  return acceptLightSignals(retrying, { like: transport })
}

/** The response; undefined when there was none and the request may be repeated. */
async function attempt(transport: Transport, request: WireRequest, isLast: boolean): Promise<WireResponse | undefined> {
  try {
    return await transport(request)
  } catch (error) {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isLast || !isRead || request.signal.aborted || !isConnectionError(error, 'reset')) throw error
    return undefined
  }
}

/** How long to wait before the request is repeated; undefined when it is not. */
function waitOf({ status, headers }: WireResponse, { method }: WireRequest): number | undefined {
  const askedMs = retryAfterOf(headers)
  if (status === 429) return askedMs ?? defaultWaitMs
  if (status < 500 || askedMs === undefined) return undefined
  return status === 503 || method !== 'POST' ? askedMs : undefined
}

/** Ends a response that is not read, so that its connection can be used again. A stream is closed by leaving its loop. */
async function drop(response: WireResponse | undefined): Promise<void> {
  const { body } = response ?? {}
  if (body === undefined || !(Symbol.asyncIterator in body)) return
  try {
    for await (const _ of body) break
  } catch {
    // Its errors do not matter.
  }
}

interface RateLimitOptions {
  readonly clock: Clock
  readonly perSecond: number
  /** @default the number per second, rounded up */
  readonly burst?: number
}

export function withRateLimit(
  transport: Transport,
  { clock, perSecond, burst = Math.ceil(perSecond) }: RateLimitOptions,
): Transport {
  if (!(perSecond > 0)) throw new RangeError(`perSecond must be above 0, got ${perSecond}`)
  if (!(burst >= 1)) throw new RangeError(`burst must be at least 1, got ${burst}`)
  const intervalMs = 1000 / perSecond
  // When the next request may be sent if all before it are on time; unused time in the past does not add up.
  let nextMs = -Infinity
  return async (request) => {
    const nowMs = clock.monotonic()
    nextMs = Math.max(nextMs, nowMs - (burst - 1) * intervalMs)
    const waitMs = nextMs - nowMs
    nextMs += intervalMs
    if (waitMs > 0) await sleep(clock, waitMs, { signal: request.signal })
    return await transport(request)
  }
}
