/**
 * Webhook metrics under upstream's names: duration, rejections, failures, and failures that were ignored.
 *
 * Users choose the names of webhooks, so the number of series is bounded.
 */
import { Metrics } from '#base'
import type { AdmissionOperation } from './admission.ts'

/** The labels of one webhook call. */
interface WebhookLabels {
  readonly name: string
  readonly mutates: boolean
  readonly operation: AdmissionOperation
}

/** The outcome of a call. */
interface WebhookOutcome {
  readonly seconds: number
  /** The status code of the response or failure; 0 when the server itself failed. */
  readonly code: number
  /** The reason of the refusal; absent when the write was allowed. */
  readonly refusal?: 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error'
  readonly failedOpen: boolean
}

const bucketSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
const seriesMax = 2000
/** Larger codes are invalid, and could create too many series. */
const codeMax = 600

/** Created for the first call: most servers have no webhooks. */
class WebhookSeries {
  readonly metrics = new Metrics()
  readonly seconds = this.metrics.histogram('apiserver_admission_webhook_admission_duration_seconds', {
    help: 'Time that webhooks took, by name.',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets: bucketSeconds,
    seriesMax,
  })
  readonly requests = this.metrics.counter('apiserver_admission_webhook_request_total', {
    help: 'Questions to webhooks, by name and by what was answered.',
    labels: ['code', 'name', 'operation', 'rejected', 'type'],
    seriesMax,
  })
  readonly refusals = this.metrics.counter('apiserver_admission_webhook_rejection_count', {
    help: 'Writes that were refused by a webhook, or because it failed.',
    labels: ['error_type', 'name', 'operation', 'rejection_code', 'type'],
    seriesMax,
  })
  readonly failedOpen = this.metrics.counter('apiserver_admission_webhook_fail_open_count', {
    help: 'Writes that went on although a webhook failed.',
    labels: ['name', 'type'],
    seriesMax,
  })
}

export class WebhookMetrics {
  #series: WebhookSeries | undefined

  count(
    { name, mutates, operation }: WebhookLabels,
    { seconds, code: given, refusal, failedOpen }: WebhookOutcome,
  ): void {
    const series = (this.#series ??= new WebhookSeries())
    const type = mutates ? 'admit' : 'validating'
    const code = String(Math.min(given, codeMax))
    const rejected = String(refusal !== undefined)
    series.seconds.with({ name, operation, rejected, type }).observe(seconds)
    series.requests.with({ code, name, operation, rejected, type }).add()
    if (refusal !== undefined)
      series.refusals.with({ error_type: refusal, name, operation, rejection_code: code, type }).add()
    if (failedOpen) series.failedOpen.with({ name, type }).add()
  }

  /** Lines for `/metrics`. */
  lines(): string[] {
    return (this.#series ??= new WebhookSeries()).metrics.render().trimEnd().split('\n')
  }
}
