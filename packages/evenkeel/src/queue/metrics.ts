/**
 * The metrics of a queue, under the names of client-go and controller-runtime, so that dashboards keep working.
 *
 * Two things differ on purpose: the duration of unfinished work is computed when the metrics are read, not every half
 * second; and a priority keeps its label once it has one, so that no gauge of depth is ever left above or below the truth.
 */
import type { Cancel, Gauge, Metrics } from '#base'

/** The moments at which a queue counts something; times are in milliseconds. */
export interface QueueMetrics {
  /** A key became ready. */
  ready(priority: number): void
  /** A ready key got a higher priority. */
  raised(from: number, to: number): void
  /** A ready key was handed out after that time. */
  taken(priority: number, waitedMs: number): void
  /** A ready key was dropped because the queue stopped. */
  dropped(priority: number): void
  /** The work on a key ended after that time. */
  worked(workedMs: number): void
  /** A key was added with a delay. */
  delayed(): void
  /** Sets the function that returns how long each unfinished piece of work has taken so far. */
  followWork(unfinishedMs: () => Iterable<number>): Cancel
}

/** Counts nothing. */
export const noQueueMetrics: QueueMetrics = {
  ready: () => undefined,
  raised: () => undefined,
  taken: () => undefined,
  dropped: () => undefined,
  worked: () => undefined,
  delayed: () => undefined,
  followWork: () => () => undefined,
}

const labels = ['name', 'controller']
const priorityLabelsMax = 25
/** From ten nanoseconds up, each ten times the one before; multiplied step by step, as upstream's bounds are. */
const secondsBuckets: readonly number[] = Array.from({ length: 11 }).reduce<number[]>(
  (bounds) => [...bounds, (bounds.at(-1) ?? 0) * 10],
  [10e-9],
)

/** Counts under the queue's name, which is also its controller's. */
export function createQueueMetrics(metrics: Metrics, name: string): QueueMetrics {
  const values = { name, controller: name }
  const depthOf = depthGauges(metrics, values)
  const adds = metrics.counter('workqueue_adds_total', { help: 'Keys that became ready.', labels }).with(values)
  const retries = metrics
    .counter('workqueue_retries_total', {
      help: 'Keys that were added with a delay: to retry them, or because somebody asked for it.',
      labels,
    })
    .with(values)
  const waited = metrics
    .histogram('workqueue_queue_duration_seconds', {
      help: 'How long keys were ready before they were taken.',
      labels,
      buckets: secondsBuckets,
    })
    .with(values)
  const worked = metrics
    .histogram('workqueue_work_duration_seconds', {
      help: 'How long the work on a key took.',
      labels,
      buckets: secondsBuckets,
    })
    .with(values)
  return {
    ready(priority) {
      adds.add()
      depthOf(priority).add(1)
    },
    raised(from, to) {
      depthOf(from).add(-1)
      depthOf(to).add(1)
    },
    taken(priority, waitedMs) {
      depthOf(priority).add(-1)
      waited.observe(waitedMs / 1000)
    },
    dropped: (priority) => {
      depthOf(priority).add(-1)
    },
    worked: (workedMs) => {
      worked.observe(workedMs / 1000)
    },
    delayed: () => {
      retries.add()
    },
    followWork: (unfinishedMs) => followWork(metrics, values, unfinishedMs),
  }
}

/** A gauge per priority. Priorities may be any number, so beyond a limit the rest share one gauge. */
function depthGauges(metrics: Metrics, values: Readonly<Record<string, string>>): (priority: number) => Gauge {
  const depth = metrics.gauge('workqueue_depth', {
    help: 'Keys that are ready, by priority.',
    labels: [...labels, 'priority'],
  })
  const gauges = new Map<number, Gauge>()
  return (priority) => {
    const known = gauges.get(priority)
    if (known) return known
    if (gauges.size >= priorityLabelsMax) return depth.with({ ...values, priority: 'exceeded_cardinality_limit' })
    const gauge = depth.with({ ...values, priority: String(priority) })
    gauges.set(priority, gauge)
    return gauge
  }
}

function followWork(
  metrics: Metrics,
  values: Readonly<Record<string, string>>,
  unfinishedMs: () => Iterable<number>,
): Cancel {
  const unfinished = metrics
    .gauge('workqueue_unfinished_work_seconds', {
      help: 'How long all work that goes on has taken so far, together. It grows by one per second for each worker that is stuck.',
      labels,
    })
    .with(values)
  const longest = metrics
    .gauge('workqueue_longest_running_processor_seconds', {
      help: 'How long the longest work that goes on has taken so far.',
      labels,
    })
    .with(values)
  const cancels = [
    unfinished.follow(() => [...unfinishedMs()].reduce((sum, ms) => sum + ms, 0) / 1000),
    longest.follow(() => [...unfinishedMs()].reduce((most, ms) => Math.max(most, ms), 0) / 1000),
  ]
  return () => {
    for (const cancel of cancels) cancel()
  }
}
