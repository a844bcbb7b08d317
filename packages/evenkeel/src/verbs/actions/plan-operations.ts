/**
 * Which of an object's operations go on now, which are over before they began, and which are taken away.
 *
 *   Queue    one after the other, the oldest first
 *   Forbid   the oldest goes on; the others are refused
 *   Replace  the newest goes on; the others are cancelled
 *
 * A pure function of what is there, so it comes to the same end whenever it is asked.
 */
import { isOperationOver, parseTime } from '#api'
import type { OperationObject, OperationPolicy } from '#api'

interface PlanOptions {
  readonly policy: OperationPolicy
  readonly ttlSeconds: number
  readonly historyMax: number
  readonly nowMs: number
}

interface OperationPlan {
  readonly cancelled: readonly OperationObject[]
  readonly refused: readonly OperationObject[]
  readonly expired: readonly OperationObject[]
  /** In the order in which they are done. */
  readonly next: readonly OperationObject[]
  /** In how long one more has to be taken away; Infinity when none is left over. */
  readonly expiresInMs: number
}

/** `operations` come oldest first. */
export function planOperations(
  operations: readonly OperationObject[],
  { policy, ttlSeconds, historyMax, nowMs }: PlanOptions,
): OperationPlan {
  const over = operations.filter(isOperationOver)
  const open = operations.filter((operation) => !isOperationOver(operation))
  // One that goes on hears of it where it goes on.
  const cancelled = open.filter(({ spec, status }) => spec.cancel === true && status?.phase !== 'Running')
  const alive = open.filter((operation) => !cancelled.includes(operation))
  const leftMs = (operation: OperationObject): number =>
    (parseTime(operation.status?.completionTime ?? '') ?? Infinity) +
    (operation.spec.ttlSeconds ?? ttlSeconds) * 1000 -
    nowMs
  const tooMany = new Set(over.slice(0, Math.max(0, over.length - historyMax)))
  const expired = over.filter((operation) => tooMany.has(operation) || leftMs(operation) <= 0)
  const expiresInMs = Math.min(Infinity, ...over.filter((operation) => !expired.includes(operation)).map(leftMs))
  const running = alive.filter(({ status }) => status?.phase === 'Running')
  const first = running[0] ?? alive[0]
  if (policy === 'Queue' || first === undefined)
    return {
      cancelled,
      refused: [],
      expired,
      next: first ? [first, ...alive.filter((operation) => operation !== first)] : [],
      expiresInMs,
    }
  if (policy === 'Forbid')
    return { cancelled, refused: alive.filter((operation) => operation !== first), expired, next: [first], expiresInMs }
  const last = alive.at(-1) ?? first
  return {
    cancelled: [...cancelled, ...alive.filter((operation) => operation !== last)],
    refused: [],
    expired,
    next: [last],
    expiresInMs,
  }
}
