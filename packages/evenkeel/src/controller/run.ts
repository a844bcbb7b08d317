/**
 * One reconcile under way: its signal, and what it works on.
 */
import { findCause, isApiError, isConflict, type KubeObject, type ObjectKey } from '#api'
import type { Cancel, Clock, Logger } from '#base'
import type { Outcome, WorkResult } from '#queue'
import type { Reconciled, ReconcileResult } from './declaration.ts'
import { isTerminalError, RunAborted, type AbortReason } from './errors.ts'
import type { HotLoop } from './hot-loops.ts'
import type { Ledger } from './ledger.ts'
import type { ControllerMeter } from './metrics.ts'
import type { Cause, RunEnd, RunRecord } from './run-record.ts'

interface RunOptions {
  readonly fields: ObjectFields
  readonly clock: Clock
  readonly timeoutMs: number | undefined
  readonly onTimeout: () => void
}

export class Run {
  readonly startedMs: number
  readonly #clock: Clock
  readonly #controller = new AbortController()
  readonly #cancelTimeout: Cancel
  /** Its place in the ledger, once it has begun. */
  record: RunRecord | undefined
  /** The object as the run got it; a run by key alone has none. */
  object: KubeObject | undefined
  /** Which object it is, for the log. */
  readonly fields: ObjectFields
  /** A cleanup expects its object to be on its way out. */
  isCleanup = false

  constructor({ fields, clock, timeoutMs, onTimeout }: RunOptions) {
    this.fields = fields
    this.#clock = clock
    this.startedMs = clock.monotonic()
    this.#cancelTimeout =
      timeoutMs === undefined
        ? () => undefined
        : clock.after(timeoutMs, () => {
            if (this.signal.aborted) return
            onTimeout()
            this.abort(new RunAborted('timeout'))
          })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why it was told to end; undefined while it was not. */
  get abortedFor(): AbortReason | undefined {
    return this.signal.aborted ? (this.signal.reason as RunAborted).abortReason : undefined
  }

  get durationMs(): number {
    return this.#clock.monotonic() - this.startedMs
  }

  /** The first reason stays. */
  abort(reason: RunAborted): void {
    this.#cancelTimeout()
    this.#controller.abort(reason)
  }

  done(): void {
    this.#cancelTimeout()
  }
}

/*
 * An object in the log: the same two fields everywhere.
 */

interface ObjectFields {
  readonly kind: string
  /** `namespace/name`, or the name alone. */
  readonly object: string
}

export function objectFields({ kind, namespace, name }: ObjectKey): ObjectFields {
  return { kind, object: namespace === undefined ? name : `${namespace}/${name}` }
}

/*
 * What a reconcile returned, or threw, as an outcome for the queue.
 */

const resultFields: ReadonlySet<string> = new Set<keyof ReconcileResult>(['afterMs', 'priority', 'park'])

/** @throws {RangeError} when it is no result: `requeue: true` from habit, or something else altogether. */
export function outcomeOf(result: Reconciled): Outcome {
  if (result === undefined || result === null) return { kind: 'done' }
  if (typeof result !== 'object')
    throw new RangeError(`a reconcile gives nothing, { afterMs } or { park }, got ${typeof result}`)
  const unknown = Object.keys(result).find((name) => !resultFields.has(name))
  if (unknown !== undefined)
    throw new RangeError(
      `a reconcile gives nothing, { afterMs } or { park }, got ${JSON.stringify(unknown)}: to run again after a failure, throw; to run again later, give afterMs`,
    )
  const { afterMs, priority, park } = result
  if (park !== undefined && afterMs !== undefined)
    throw new RangeError('a reconcile gives afterMs or park, not both: parking waits for a change, however long')
  if (park !== undefined) return { kind: 'park', waitingFor: String(park) }
  return afterMs === undefined ? { kind: 'done' } : { kind: 'after', afterMs, priority }
}

/** What was thrown, whatever it is. */
export function failureOf(error: unknown): Outcome {
  if (isTerminalError(error)) return { kind: 'terminal', error }
  return isLostRace(error)
    ? { kind: 'conflict', error }
    : { kind: 'error', error: toError(error), leastMs: retryAfterMs(error) }
}

/** More than that is a mistake of whoever asks. */
const retryAfterMaxMs = 3_600_000
const causesMax = 5

/** How long a server that is too busy asked us to stay away; what wraps its answer does not hide it. */
function retryAfterMs(error: unknown): number | undefined {
  let each = error
  for (let depth = 0; depth < causesMax && each instanceof Error; depth++, each = each.cause) {
    if (!isApiError(each) || each.retryAfterMs === undefined) continue
    return each.code === 429 || each.code === 503 ? Math.min(each.retryAfterMs, retryAfterMaxMs) : undefined
  }
  return undefined
}

/** Somebody wrote the object in between. A field that another manager owns is no race: trying again does not help. */
export function isLostRace(error: unknown): boolean {
  return isConflict(error) && findCause(error, 'FieldManagerConflict') === undefined
}

/** People throw texts and nothing at all; whoever logs it wants a sentence. */
function toError(error: unknown): Error {
  if (error instanceof Error) return error
  const what =
    error === undefined ? 'nothing' : typeof error === 'string' ? error : (JSON.stringify(error) ?? typeof error)
  return new Error(`the reconcile threw ${what}`, { cause: error })
}

/** Mistakes in the code, which other languages would call a panic. */
function isPanic(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError ||
    (error instanceof Error && error.name === 'AssertionError')
  )
}

/*
 * How a run ended, told to everybody who wants to know: metrics, log, ledger.
 */

interface RunReportParts {
  readonly log: Logger
  readonly ledger: Ledger
  readonly meter: ControllerMeter
}

export class RunReport {
  readonly #parts: RunReportParts

  constructor(parts: RunReportParts) {
    this.#parts = parts
  }

  /** A run has ended and its outcome was acted upon. */
  end(run: Run, worked: WorkResult<Cause>): void {
    const { ledger } = this.#parts
    const cut = run.abortedFor
    const isStopped = cut === 'shutdown' || cut === 'lease-lost'
    if (!isStopped) this.#count(run, worked)
    if (run.record) ledger.finish(run.record, endOf(run, worked))
    const {
      decision: { failure, afterMs, retries },
    } = worked
    const fields = { ...run.fields, reconcileId: run.record?.reconcileId }
    if (failure)
      this.#parts.log.error(
        failure.isTerminal ? 'reconcile failed and is not tried again until something changes' : 'reconcile failed',
        { ...fields, error: failure.error, retries, ...(afterMs !== undefined && { afterMs }) },
      )
    else
      this.#parts.log.debug('reconcile ended', {
        ...fields,
        outcome: worked.outcome.kind,
        ...(afterMs !== undefined && { afterMs }),
      })
  }

  /** A key keeps causing itself and is made to wait. */
  hotLoop(run: Run, { rounds, fields, delayMs }: HotLoop): void {
    this.#parts.meter.hotLoops.add()
    this.#parts.log.warn('a reconcile keeps causing itself: it writes something different each time', {
      ...run.fields,
      rounds,
      fields,
      delayMs,
    })
  }

  #count(run: Run, { outcome, decision: { result, failure } }: WorkResult<Cause>): void {
    const { meter } = this.#parts
    meter.reconciles(result).add()
    meter.seconds.observe(run.durationMs / 1000)
    if (outcome.kind === 'conflict') meter.conflicts.add()
    if (!failure) return
    meter.errors.add()
    if (failure.isTerminal) meter.terminalErrors.add()
    if (isPanic(failure.error)) meter.panics.add()
  }
}

function endOf(run: Run, { outcome, decision: { result, failure, afterMs } }: WorkResult<Cause>): RunEnd {
  const cut = run.abortedFor
  const error = failure ? messageOf(failure.error) : undefined
  return {
    durationMs: run.durationMs,
    result: cut !== undefined && cut !== 'timeout' ? 'aborted' : result,
    ...(error !== undefined && { error }),
    ...(afterMs !== undefined && { afterMs }),
    ...(outcome.kind === 'park' && { waitingFor: outcome.waitingFor }),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
