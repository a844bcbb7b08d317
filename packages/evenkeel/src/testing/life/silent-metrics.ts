/**
 * Counts nothing: in a simulation nobody reads what a process counts, and each of its lives would make it all anew.
 */
import { Metrics } from '#base'

const nothing = {
  add: (): void => undefined,
  set: (): void => undefined,
  observe: (): void => undefined,
  follow: () => (): void => undefined,
}
const family = { with: () => nothing, delete: (): void => undefined }

class SilentMetrics extends Metrics {
  override counter(): ReturnType<Metrics['counter']> {
    return family
  }

  override gauge(): ReturnType<Metrics['gauge']> {
    return family
  }

  override histogram(): ReturnType<Metrics['histogram']> {
    return family
  }

  override labelled(): Metrics {
    return this
  }
}

export const silentMetrics: Metrics = new SilentMetrics()
