/**
 * What a controller counts, under the names that controller-runtime gave it where it has one, so that dashboards keep
 * working; what it does not have begins with `evenkeel_controller`.
 */
import type { Counter, Gauge, Histogram, Metrics } from '#base'

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
  /** Runs that were put off because the cache had not yet seen what they would need. */
  readonly staleSkips: Counter
  readonly mapErrors: Counter
  readonly staleOwners: Counter
  /** Runs that were put off because their key keeps causing itself. */
  readonly hotLoops: Counter
}

/** In seconds; upstream's. */
const secondsBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

const results = ['success', 'requeue_after', 'requeue', 'error'] as const

/** Counts under a controller's name. Everything is there from the start, so that a rate has something to begin with. */
export function controllerMeter(metrics: Metrics, controller: string): ControllerMeter {
  const labels = ['controller']
  const counter = (name: string, help: string): Counter => metrics.counter(name, { help, labels }).with({ controller })
  const gauge = (name: string, help: string): Gauge => metrics.gauge(name, { help, labels }).with({ controller })
  const total = metrics.counter('controller_runtime_reconcile_total', {
    help: 'Reconciles, by how they ended.',
    labels: ['controller', 'result'],
  })
  const byResult = new Map<string, Counter>(results.map((result) => [result, total.with({ controller, result })]))
  return {
    reconciles: (result) => byResult.get(result) ?? total.with({ controller, result }),
    errors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed.'),
    terminalErrors: counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciles that failed and are not tried again.',
    ),
    panics: counter('controller_runtime_reconcile_panics_total', 'Reconciles that failed by a mistake in their code.'),
    timeouts: counter('controller_runtime_reconcile_timeouts_total', 'Reconciles that took too long.'),
    seconds: metrics
      .histogram('controller_runtime_reconcile_time_seconds', {
        help: 'How long reconciles took.',
        labels,
        buckets: secondsBuckets,
      })
      .with({ controller }),
    activeWorkers: gauge('controller_runtime_active_workers', 'Reconciles that go on.'),
    workersMax: gauge('controller_runtime_max_concurrent_reconciles', 'How many reconciles may go on at a time.'),
    conflicts: counter(
      'evenkeel_controller_conflicts_total',
      'Reconciles that ended because somebody else was faster.',
    ),
    staleSkips: counter(
      'evenkeel_controller_stale_skips_total',
      'Reconciles that were put off until the cache had caught up.',
    ),
    mapErrors: counter('evenkeel_controller_map_errors_total', 'Events that could not be mapped to keys.'),
    staleOwners: counter(
      'evenkeel_controller_stale_owners_total',
      'Events of objects whose owner was deleted and made again.',
    ),
    hotLoops: counter(
      'evenkeel_controller_hot_loops_total',
      'Reconciles that were put off because they keep causing themselves.',
    ),
  }
}
