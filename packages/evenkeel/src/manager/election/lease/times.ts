/**
 * How long a lease lasts, and when its holder renews it or gives up. The numbers are those of client-go.
 *
 *   sent ──────────── retry, retry, ... ────────────▶ holdMs ──────▶ leaseMs
 *   the renewal goes out                    the holder has stopped   others may take over
 *
 * Invariant: a holder stops before anybody else may begin, also when it has slept through every timer: both count from
 * moments that are in this order for everybody (it sent, the server stored, the others saw).
 */

export interface LeaseTimes {
  /**
   * How long others wait for a silent holder. Whole seconds count.
   *
   * @default 15_000
   */
  readonly leaseMs?: number
  /**
   * How long a holder that cannot renew goes on trying.
   *
   * @default 10_000
   */
  readonly renewMs?: number
  /**
   * Between two attempts.
   *
   * @default 2000
   */
  readonly retryMs?: number
}

export interface CheckedTimes extends Required<LeaseTimes> {
  /** From sending a renewal until it is no longer good for a write. */
  readonly holdMs: number
  /** The most that one request may take, so that another fits in. */
  readonly requestMs: number
}

/** Attempts to become the holder are this much further apart, at random, so that candidates do not march in step. */
export const retryJitter = 1.2

/** @throws {RangeError} when a holder could not stop in time, or would not get to renew. */
export function checkTimes({ leaseMs = 15_000, renewMs = 10_000, retryMs = 2000 }: LeaseTimes = {}): CheckedTimes {
  const wholeMs = Math.floor(leaseMs / 1000) * 1000
  if (!(wholeMs >= 1000 && wholeMs < Infinity))
    throw new RangeError(`leaseMs must be at least 1000, because leases are written in whole seconds, got ${leaseMs}`)
  if (!(renewMs > 0 && renewMs < wholeMs))
    throw new RangeError(`renewMs must be above 0 and below the whole seconds of leaseMs (${wholeMs}), got ${renewMs}`)
  if (!(retryMs > 0 && retryMs * retryJitter < renewMs))
    throw new RangeError(
      `retryMs must be above 0 and below renewMs / ${retryJitter} (${Math.floor(renewMs / retryJitter)}), got ${retryMs}`,
    )
  return {
    leaseMs: wholeMs,
    renewMs,
    retryMs,
    holdMs: Math.min(renewMs + retryMs, (renewMs + wholeMs) / 2),
    requestMs: Math.max(1000, renewMs / 2),
  }
}
