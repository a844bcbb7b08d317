/**
 * The metrics of a controller: controller-runtime's names and label values where it has them, so that dashboards keep
 * working; the others begin with `evenkeel_controller`.
 */
import type { Counter, Gauge, Histogram, Metrics } from '#base'
import type { Outcome, RequeueDecision } from '#queue'

export interface ControllerMeter {
  /** By result: `success`, `requeue_after`, `requeue`, `error`. */
  reconciles(result: string): Counter
  readonly errors: Counter
  readonly terminalErrors: Counter
  readonly panics: Counter
  readonly timeouts: Counter
  readonly seconds: Histogram
  readonly activeWorkers: Gauge
  readonly workersMax: Gauge
  readonly conflicts: Counter
  /** Runs that were deferred after a conflict because the cache had not caught up. */
  readonly staleSkips: Counter
  readonly mapErrors: Counter
  readonly staleOwners: Counter
  /** Runs that were deferred because their key keeps causing itself. */
  readonly hotLoops: Counter
}

/** In seconds, as in controller-runtime. */
const secondsBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

const results = ['success', 'requeue_after', 'requeue', 'error'] as const

/** Every series exists from the start with 0, so that a rate can be computed from the first event on. */
export function controllerMeter(metrics: Metrics, controller: string): ControllerMeter {
  const labels = ['controller']
  const counter = (name: string, help: string): Counter => metrics.counter(name, { help, labels }).with({ controller })
  const gauge = (name: string, help: string): Gauge => metrics.gauge(name, { help, labels }).with({ controller })
  const total = metrics.counter('controller_runtime_reconcile_total', {
    help: 'Reconciles by result.',
    labels: ['controller', 'result'],
  })
  const byResult = new Map<string, Counter>(results.map((result) => [result, total.with({ controller, result })]))
  return {
    reconciles: (result) => byResult.get(result) ?? total.with({ controller, result }),
    errors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed.'),
    terminalErrors: counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciles that failed and are not retried.',
    ),
    panics: counter(
      'controller_runtime_reconcile_panics_total',
      'Reconciles that failed because of a bug: TypeError, ReferenceError, SyntaxError or AssertionError.',
    ),
    timeouts: counter('controller_runtime_reconcile_timeouts_total', 'Reconciles that exceeded their timeout.'),
    seconds: metrics
      .histogram('controller_runtime_reconcile_time_seconds', {
        help: 'Duration of reconciles.',
        labels,
        buckets: secondsBuckets,
      })
      .with({ controller }),
    activeWorkers: gauge('controller_runtime_active_workers', 'Reconciles that are running.'),
    workersMax: gauge('controller_runtime_max_concurrent_reconciles', 'Maximum number of concurrent reconciles.'),
    conflicts: counter('evenkeel_controller_conflicts_total', 'Reconciles that ended with a conflict.'),
    staleSkips: counter(
      'evenkeel_controller_stale_skips_total',
      'Reconciles deferred after a conflict until the cache caught up.',
    ),
    mapErrors: counter('evenkeel_controller_map_errors_total', 'Events that could not be mapped to keys.'),
    staleOwners: counter(
      'evenkeel_controller_stale_owners_total',
      'Events of objects whose owner was deleted and created again.',
    ),
    hotLoops: counter(
      'evenkeel_controller_hot_loops_total',
      'Reconciles deferred because they keep causing themselves.',
    ),
  }
}

interface CountedRun {
  readonly durationMs: number
  readonly outcome: Outcome
  readonly decision: RequeueDecision
}

/** Counts one run. A deferred key did not run: it is counted by the gate that deferred it, if at all. */
export function countRun(
  meter: ControllerMeter,
  { durationMs, outcome, decision: { result, failure } }: CountedRun,
): void {
  if (result === undefined) return
  meter.reconciles(result).add()
  meter.seconds.observe(durationMs / 1000)
  if (outcome.kind === 'conflict') meter.conflicts.add()
  if (!failure) return
  meter.errors.add()
  if (failure.isTerminal) meter.terminalErrors.add()
  if (isPanic(failure.error)) meter.panics.add()
}

/** Mistakes in the code, which Go would call a panic. */
function isPanic(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError ||
    (error instanceof Error && error.name === 'AssertionError')
  )
}
