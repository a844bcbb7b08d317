/**
 * No more than so many requests in a second, as a wrapper of a transport. Off unless somebody asks for it: servers
 * protect themselves, and a limit that nobody remembers is a mystery of slowness.
 *
 * A token bucket: `burst` requests at once, then `perSecond`. Requests go in the order they came.
 */
import { sleep } from '#base'
import type { Clock } from '#base'
import type { Transport } from '#wire'

export interface RateLimitOptions {
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
  // When the next request may go if all before it went in time; a past that is too long ago does not count.
  let nextMs = -Infinity
  return async (request) => {
    const nowMs = clock.monotonic()
    nextMs = Math.max(nextMs, nowMs - (burst - 1) * intervalMs)
    const waitMs = nextMs - nowMs
    nextMs += intervalMs
    if (waitMs > 0) await sleep(clock, waitMs, { signal: request.signal })
    return transport(request)
  }
}
