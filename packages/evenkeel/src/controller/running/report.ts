/**
 * How a run ended, told to everybody who wants to know: metrics, log, ledger.
 */
import type { Logger } from '#base'
import type { WorkResult } from '#queue'
import type { Cause } from '../ledger/cause.ts'
import type { HotLoop } from '../ledger/hot-loops.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { RunEnd } from '../ledger/run-record.ts'
import type { ControllerMeter } from '../telemetry/controller-metrics.ts'
import type { Run } from './run.ts'
import { isPanic } from './to-outcome.ts'

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
