/**
 * What the process takes of its machine, under the names that every Prometheus client gives it.
 */
import type { Cancel, Clock, Metrics } from '#base'

/** Until cancelled. */
export function registerProcessMetrics(metrics: Metrics, { clock }: { readonly clock: Clock }): Cancel {
  // The monotonic clock of a process begins with it.
  const startedMs = clock.now() - clock.monotonic()
  const cancels = [
    metrics
      .counter('process_cpu_seconds_total', { help: 'Processor time of all threads, in seconds.' })
      .with()
      .follow(() => cpuSeconds()),
    metrics
      .gauge('process_resident_memory_bytes', { help: 'Memory that is really there.' })
      .with()
      .follow(() => process.memoryUsage.rss()),
    metrics
      .gauge('process_start_time_seconds', { help: 'When the process began, in seconds since 1970.' })
      .with()
      .follow(() => startedMs / 1000),
  ]
  return () => {
    for (const cancel of cancels) cancel()
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}
