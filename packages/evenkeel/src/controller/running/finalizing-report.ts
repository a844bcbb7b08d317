/**
 * What is said about an object on its way out: which cleanup it waits for and why; and, when that took too long and the
 * author gave it up, what may be left behind.
 *
 * Invariants: it never says that such an object is ready; the same trouble is told once, not with every attempt.
 */
import { findCondition, isJsonObject, parseTime } from '#api'
import type { Condition, JsonObject, KubeObject } from '#api'
import type { Clock } from '#base'
import type { StatusWriter } from '../context/status-writer.ts'
import type { CleanupStep, Reconciled } from '../declaration.ts'

/** What an event needs; runs of a manager have it in their context. */
interface EventReporter {
  event?(note: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly note: string }): void
}

interface CleanupReportParts {
  readonly object: KubeObject
  readonly status: StatusWriter<never>
  readonly hasStatus: boolean
  readonly context: object
  readonly clock: Clock
}

export class CleanupReport {
  readonly #parts: CleanupReportParts

  constructor(parts: CleanupReportParts) {
    this.#parts = parts
  }

  /** A step needs more time; when to look again. One that is to be given up some day is looked at then. */
  waits(step: CleanupStep, result: Reconciled): Reconciled {
    this.#setCondition(
      'Waiting',
      `${step.finalizer} ${result?.park === undefined ? 'needs more time' : `waits for ${result.park}`}`,
    )
    const leftMs = this.#leftMs(step)
    return leftMs === undefined ? result : { afterMs: Math.max(1, Math.min(leftMs, result?.afterMs ?? leftMs)) }
  }

  /** A step threw. */
  failed({ finalizer }: CleanupStep, error: unknown): void {
    const message = `${finalizer} failed: ${error instanceof Error ? error.message : String(error)}`
    if (this.#setCondition('Failed', message))
      this.#emitEvent({ type: 'Warning', reason: 'CleanupFailed', note: message })
  }

  /** Whether a step has taken longer than its author wants to wait, and is given up; told once. */
  givesUp(step: CleanupStep): boolean {
    if ((this.#leftMs(step) ?? Infinity) > 0) return false
    const { finalizer, timeoutMs = 0 } = step
    this.#emitEvent({
      type: 'Warning',
      reason: 'CleanupGivenUp',
      note: `${finalizer} did not come to an end in ${Math.round(timeoutMs / 1000)} s and was given up; may be left behind: ${leftBehind(this.#parts.object)}`,
    })
    return true
  }

  /** How long until a step is given up; undefined: never. */
  #leftMs({ timeoutMs, onTimeout = 'keepTrying' }: CleanupStep): number | undefined {
    const { object, clock } = this.#parts
    const sinceMs = parseTime(String(object.metadata.deletionTimestamp ?? ''))
    return timeoutMs === undefined || onTimeout !== 'giveUp' || sinceMs === undefined
      ? undefined
      : sinceMs + timeoutMs - clock.now()
  }

  /** Whether it is news. */
  #setCondition(reason: string, message: string): boolean {
    const { object, status, hasStatus } = this.#parts
    if (!hasStatus) return true
    const conditions = conditionsOf(object)
    status.condition('Finalizing', true, { reason, message })
    if (findCondition(conditions, 'Ready'))
      status.condition('Ready', false, { reason: 'Finalizing', message: 'it is being deleted' })
    return findCondition(conditions, 'Finalizing')?.message !== message
  }

  #emitEvent(note: Parameters<NonNullable<EventReporter['event']>>[0]): void {
    ;(this.#parts.context as EventReporter).event?.(note)
  }
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  const { status } = object as { readonly status?: JsonObject }
  return (isJsonObject(status) && Array.isArray(status['conditions'])
    ? status['conditions'].filter(isJsonObject)
    : []) as unknown as readonly Condition[]
}

/** What the status still names. */
function leftBehind(object: KubeObject): string {
  const { status } = object as { readonly status?: JsonObject }
  const { external, children } = isJsonObject(status) ? status : {}
  const named = [
    ...(isJsonObject(external) && external['id'] !== undefined
      ? [`the thing outside with the id ${String(external['id'])}`]
      : []),
    ...(Array.isArray(children) ? children.filter(isJsonObject) : [])
      .slice(0, 5)
      .map(({ kind, name }) => `${String(kind)} ${String(name)}`),
  ]
  return named.join(', ') || 'whatever it stands for'
}
