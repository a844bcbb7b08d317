/**
 * What is counted about webhook calls, under the names that controller-runtime gives it, because dashboards have them.
 */
import type { Clock, Metrics } from '#base'

export interface WebhookMetrics {
  /** Call it when the answer is there. */
  begin(path: string): (code: number) => void
  /** A handler failed by a mistake of its own. */
  panic(kind: 'admission' | 'conversion'): void
}

/** Bounds of Prometheus' own default. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createWebhookMetrics(metrics: Metrics | undefined, clock: Clock): WebhookMetrics {
  if (!metrics) return { begin: () => () => undefined, panic: () => undefined }
  const requests = metrics.counter('controller_runtime_webhook_requests_total', {
    help: 'Calls of webhooks by HTTP code.',
    labels: ['webhook', 'code'],
  })
  const latency = metrics.histogram('controller_runtime_webhook_latency_seconds', {
    help: 'How long calls of webhooks took.',
    labels: ['webhook'],
    buckets,
  })
  const inFlight = metrics.gauge('controller_runtime_webhook_requests_in_flight', {
    help: 'Calls of webhooks under way.',
    labels: ['webhook'],
  })
  const mistakes = {
    admission: metrics
      .counter('controller_runtime_webhook_panics_total', { help: 'Admission handlers that failed by mistake.' })
      .with(),
    conversion: metrics
      .counter('controller_runtime_conversion_webhook_panics_total', {
        help: 'Conversion handlers that failed by mistake.',
      })
      .with(),
  }
  return {
    begin(webhook) {
      const startMs = clock.monotonic()
      const running = inFlight.with({ webhook })
      running.add(1)
      return (code) => {
        running.add(-1)
        latency.with({ webhook }).observe((clock.monotonic() - startMs) / 1000)
        requests.with({ webhook, code: String(code) }).add()
      }
    },
    panic: (kind) => {
      mistakes[kind].add()
    },
  }
}
