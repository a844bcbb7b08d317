/**
 * Finalizers: added before the first reconcile, removed when the cleanup is done; and the status of an object that is
 * being deleted: which cleanup step it waits for and why, or what may be left behind after a step was given up.
 *
 * Invariants: no finalizer is added to an object that is being deleted; none is removed before its cleanup has resolved
 * without asking for more time; steps run in the order of the declaration; an object that is being deleted is never
 * reported as ready; the same failure is reported once, not with every attempt.
 */
import {
  addFinalizer,
  findCondition,
  hasFinalizer,
  isJsonObject,
  parseTime,
  type Condition,
  type JsonObject,
  type Kind,
  type KubeObject,
  readConditions,
} from '#api'
import type { Clock } from '#base'
import type { CleanupStep, ControllerDeclaration, Reconciled } from './declaration.ts'
import type { ReconcileClient } from './reconcile-client.ts'
import type { StatusWriter } from './status.ts'

/** The steps of a declaration's cleanup; none when it has no cleanup. */
export function cleanupSteps(declaration: ControllerDeclaration, controller: string): readonly CleanupStep[] {
  const { cleanup, finalizer = finalizerFor(declaration, controller) } = declaration
  if (cleanup === undefined) return []
  // Called on its declaration, as every other function of it.
  return typeof cleanup === 'function'
    ? [{ finalizer, cleanup: (object, context) => cleanup.call(declaration as CleanupStep, object, context) }]
    : cleanup
}

/** The finalizer of a controller without a declared one. */
function finalizerFor({ for: { group } }: Pick<ControllerDeclaration, 'for'>, controller: string): string {
  return `${group || 'evenkeel.dev'}/${controller}`
}

/** The object with all finalizers; an object that has them is not written. @throws {ApiError} `Conflict`, when it changed. */
export async function addFinalizers<T extends KubeObject>(
  object: T,
  steps: readonly CleanupStep[],
  { client, signal }: { client: ReconcileClient; signal: AbortSignal },
): Promise<T> {
  let wanted: T = object
  for (const { finalizer, onDemand = false } of steps)
    if (!onDemand && !hasFinalizer(wanted, finalizer)) wanted = addFinalizer(wanted, finalizer)
  return wanted === object ? object : await client.patchFrom(object, wanted, { signal })
}

interface RunCleanupOptions {
  readonly client: ReconcileClient
  readonly signal: AbortSignal
  readonly policy: 'stop' | 'continue'
  readonly call: (step: CleanupStep, object: KubeObject) => Promise<Reconciled>
}

/** What is left of the object, if anything, and the result of the last step that needs more time. */
interface CleanupResult {
  readonly object: KubeObject | undefined
  readonly result: Reconciled
}

/** Cleans up step by step, as far as our finalizers are on the object. */
export async function runCleanup(
  object: KubeObject,
  steps: readonly CleanupStep[],
  { client, signal, policy, call }: RunCleanupOptions,
): Promise<CleanupResult> {
  const failures: unknown[] = []
  let current: KubeObject | undefined = object
  let waiting: Reconciled
  for (const step of steps) {
    if (!current || !hasFinalizer(current, step.finalizer)) continue
    try {
      const result = await call(step, current)
      if (isWaiting(result)) waiting ??= result
      else current = await client.removeFinalizer(current, step.finalizer, { signal })
      if (isWaiting(result) && policy === 'stop') break
    } catch (error) {
      if (policy === 'stop') throw error
      failures.push(error)
    }
  }
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} steps of the cleanup failed`)
  if (failures.length === 1) throw failures[0]
  return { object: current, result: waiting }
}

/** Whether a step asks for more time. */
export function isWaiting(result: Reconciled): boolean {
  return (result?.afterMs ?? 0) > 0 || result?.park !== undefined
}

/** @throws {RangeError} when two steps share a finalizer, or a name is none. */
export function checkSteps(steps: readonly CleanupStep[], { kind }: Kind): void {
  const names = steps.map(({ finalizer }) => finalizer)
  const double = names.find((name, index) => names.indexOf(name) !== index)
  if (double !== undefined)
    throw new RangeError(`two cleanup steps of ${kind} have the finalizer ${double}: give each its own`)
  const bare = names.find((name) => !name.includes('/'))
  if (bare !== undefined)
    throw new RangeError(
      `the finalizer ${JSON.stringify(bare)} of ${kind} needs a domain: ${JSON.stringify(`demo.example.com/${bare || 'cleanup'}`)}`,
    )
}

/** What is needed for an event; the context has it in runs of a manager. */
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

  /** A step needs more time; returns when to run again. A step with a timeout runs again at the timeout at the latest. */
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

  /** Whether a step has timed out and is given up; reported once. */
  givesUp(step: CleanupStep): boolean {
    if ((this.#leftMs(step) ?? Infinity) > 0) return false
    const { finalizer, timeoutMs = 0 } = step
    this.#emitEvent({
      type: 'Warning',
      reason: 'CleanupGivenUp',
      note: `${finalizer} did not finish within ${Math.round(timeoutMs / 1000)} s and was given up; may be left behind: ${leftBehind(this.#parts.object)}`,
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

  /** Returns whether the message is new. */
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
  return readConditions(isJsonObject(status) ? status['conditions'] : undefined)
}

/** What the status still names. */
function leftBehind(object: KubeObject): string {
  const { status } = object as { readonly status?: JsonObject }
  const { external, children } = isJsonObject(status) ? status : {}
  const named = [
    ...(isJsonObject(external) && external['id'] !== undefined
      ? [`the external resource with the id ${String(external['id'])}`]
      : []),
    ...(Array.isArray(children) ? children.filter(isJsonObject) : [])
      .slice(0, 5)
      .map(({ kind, name }) => `${String(kind)} ${String(name)}`),
  ]
  return named.join(', ') || 'its external resource'
}
