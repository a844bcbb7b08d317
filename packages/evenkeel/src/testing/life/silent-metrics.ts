/**
 * Counts nothing: in a simulation nobody reads what a process counts, and each of its lives would make it all anew.
 */
import { Metrics } from '#base'

const silentMetric = {
  add: (): void => undefined,
  set: (): void => undefined,
  observe: (): void => undefined,
  follow: () => (): void => undefined,
}
const silentMetricFamily = { with: () => silentMetric, delete: (): void => undefined }

class SilentMetrics extends Metrics {
  override counter(): ReturnType<Metrics['counter']> {
    return silentMetricFamily
  }

  override gauge(): ReturnType<Metrics['gauge']> {
    return silentMetricFamily
  }

  override histogram(): ReturnType<Metrics['histogram']> {
    return silentMetricFamily
  }

  override labelled(): Metrics {
    return this
  }
}

export const silentMetrics: Metrics = new SilentMetrics()
